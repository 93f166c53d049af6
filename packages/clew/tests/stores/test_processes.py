"""Stores and real processes: killed, frozen, racing, and out of room."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.core.stores import Store
from clew.stores import open_store
from clew.support.errors import StoreError
from clew_testing.store_contract import append, blob, numbers, refused, text_of

WORKER = Path(__file__).with_name("worker.py")

# Where other processes do the work, one event loop for those that look at it is enough.
on_one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@contextmanager
def started(place: Path | str, run_id: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, str(WORKER), str(place), run_id, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file may be written past this many bytes: a full disk, as far as a writer can tell."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
@on_one_loop
@pytest.mark.parametrize("words", [(), ("barrier",)])
async def test_a_killed_worker_loses_nothing_that_was_acknowledged(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    place = tmp_path / "runs.sqlite"
    known = 0
    for life in range(1, 4):
        with started(place, "r", "free", *words) as process:
            tell(process)
            assert hear(process) == f"opened {life + 1}"
            for _ in range(25 * life):
                known = int(hear(process))
            process.kill()
            assert process.stdout is not None
            known = max(known, *map(int, process.stdout.read().split()), 0)
        store = open_store(place)
        lines = await store.read("r")
        await store.close()
        assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
        assert [line.body for line in lines] == [text_of("r", line.seq) for line in lines]
        assert known <= len(lines) <= known + 3, "at most the append under way was not acknowledged"
        known = len(lines)


@on_one_loop
async def test_a_frozen_worker_can_be_fenced_off(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    with started(place, "r", "stepwise") as process:
        tell(process)
        assert hear(process) == "opened 2"
        tell(process)
        assert hear(process) == "1"
        process.send_signal(signal.SIGSTOP)
        store = open_store(place)
        assert await store.open("r") == 3
        await store.append(append("r", 3, 2, barrier=True))
        process.send_signal(signal.SIGCONT)
        tell(process)
        assert hear(process) == "FencedError"
        assert process.wait() == 0
    assert [line.epoch for line in await store.read("r")] == [2, 3]
    await store.close()


@pytest.mark.slow
@on_one_loop
async def test_processes_that_make_one_store_at_once_share_it(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    ids = ["a", "b", "c", "d"]
    with ExitStack() as stack:
        processes = [stack.enter_context(started(place, each, "stepwise")) for each in ids]
        for process in processes:
            tell(process)
        assert [hear(process) for process in processes] == ["opened 2"] * len(ids)
        for last in ("1", "3", "6", "7", "9"):
            for process in processes:
                tell(process)
            assert [hear(process) for process in processes] == [last] * len(ids)
    store = open_store(place)
    for run_id in ids:
        assert await numbers(store, run_id) == list(range(1, 10))
    await store.close()


@on_one_loop
async def test_a_person_posts_while_a_worker_appends(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    with started(place, "r", "free") as process:
        tell(process)
        assert hear(process) == "opened 2"
        person = open_store(place)
        for number in range(20):
            await person.post("r", b"%d" % number)
            assert hear(process).isdigit()
        bodies = [body for _, body in await person.inbox("r")]
        process.kill()
    assert bodies == [b"%d" % number for number in range(20)]
    seqs = await numbers(person, "r")
    assert seqs == list(range(1, len(seqs) + 1))
    await person.close()


def sqlite(place: Path) -> Store:
    return SqliteStore(place / "runs.sqlite")


@pytest.mark.parametrize("barrier", [False, True])
async def test_a_full_disk_refuses_an_append_and_loses_nothing(
    barrier: bool, tmp_path: Path
) -> None:
    store = sqlite(tmp_path)
    epoch = await store.create("r")

    async def fill() -> None:
        for first in range(1, 100_000, 20):
            await store.append(append("r", epoch, *range(first, first + 20), barrier=barrier))

    with room(350_000):
        with pytest.raises(StoreError, match="make room"):
            await fill()
        head = len(await store.read("r"))
        assert head > 0
        assert head % 20 == 0
        assert await numbers(store, "r") == list(range(1, head + 1))
    await store.append(append("r", epoch, head + 1))
    await store.close()
    again = sqlite(tmp_path)
    assert await numbers(again, "r") == list(range(1, head + 2))
    await again.close()


async def test_a_blob_without_room_leaves_nothing(tmp_path: Path) -> None:
    store = sqlite(tmp_path)
    epoch = await store.create("r")
    body, digest = blob("x" * 500_000)
    with room(400_000):
        await refused(store.append(append("r", epoch, 1, blobs={digest: body})), "a blob too large")
    await refused(store.blob(digest), "reading the blob that had no room")
    assert await store.read("r") == []
    await store.append(append("r", epoch, 1, blobs={digest: body}))
    assert await store.blob(digest) == body
    await store.close()
    left = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert left < 750_000, "the half-written blob is gone"


async def test_no_room_at_all_is_told_at_once(tmp_path: Path) -> None:
    with room(0), pytest.raises(StoreError, match="make room"):
        await sqlite(tmp_path).create("r")
