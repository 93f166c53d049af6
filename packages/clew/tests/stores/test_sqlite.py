"""The default store: how it commits, what it weighs, and which files it takes."""

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread
import pytest
from msgspec.structs import replace

from clew import Agent, SqliteStore
from clew.agent import api
from clew.core.stores import Append, Base, Line
from clew.stores.sqlite.file import VERSION
from clew.support.errors import FencedError, StoreError
from clew.testing.models import ScriptedModel, say
from clew_testing.store_contract import append, blob, numbers

HEADER, FRAME = 32, 24  # bytes, https://www.sqlite.org/fileformat2.html#the_write_ahead_log


def commits(place: Path) -> int:
    """How many transactions the write-ahead log holds: frames that give a size after a commit."""
    log = place.with_name(place.name + "-wal").read_bytes()
    (page,) = struct.unpack_from(">I", log, 8)
    sizes = [
        struct.unpack_from(">I", log, at + 4)[0]
        for at in range(HEADER, len(log) - FRAME, FRAME + page)
    ]
    return sum(size > 0 for size in sizes)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


async def test_barriers_that_are_ready_together_share_a_commit(place: Path) -> None:
    store = SqliteStore(place)
    ids = [f"r{number}" for number in range(20)]
    for run_id in ids:
        await store.create(run_id)
    before = commits(place)
    async with anyio.create_task_group() as group:
        for run_id in ids:
            group.start_soon(store.append, append(run_id, 1, 1, 2, barrier=True))
    assert commits(place) - before == 1
    for run_id in ids:
        await store.append(append(run_id, 1, 3, barrier=True))
    assert commits(place) - before == 1 + len(ids)
    assert [run.entries for run in await store.runs()] == [3] * len(ids)
    await store.close()


async def test_only_a_run_that_has_the_store_to_itself_does_not_wait_for_company(
    place: Path,
) -> None:
    store = SqliteStore(place)
    for run_id in "ab":
        await store.create(run_id)
        await store.append(append(run_id, 1, 1, barrier=True))

    def waits(run_id: str, seq: int, *, alone: bool = True) -> bool:
        """Whether the append gives way to other tasks; it is carried out all the same."""
        work = store.append(replace(append(run_id, 1, seq, barrier=True), alone=alone))
        try:
            work.send(None)
        except StopIteration:
            return False
        work.close()
        return True

    assert not waits("b", 2)
    assert waits("b", 3, alone=False)
    assert waits("a", 2)
    assert waits("b", 4)
    assert not waits("b", 5)
    await store.create("c")
    await store.append(append("c", 1, 1))
    assert not waits("c", 2)
    assert await store.open("b") == 2
    await store.append(append("c", 1, 3))
    assert waits("b", 6)
    await store.close()


class Outcomes:
    """Lets appends go together and keeps what became of each."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.errors: dict[str, Exception | None] = {}

    async def one(self, wanted: Append) -> None:
        try:
            await self.store.append(wanted)
        except (StoreError, AttributeError) as error:
            self.errors[wanted.run_id] = error
        else:
            self.errors[wanted.run_id] = None

    async def together(self, *wanted: Append) -> None:
        async with anyio.create_task_group() as group:
            for each in wanted:
                group.start_soon(self.one, each)


async def test_one_refused_append_fails_alone_in_its_group(place: Path) -> None:
    store = SqliteStore(place)
    for run_id in ("a", "b", "c"):
        await store.create(run_id)
    before = commits(place)
    outcomes = Outcomes(store)
    await outcomes.together(
        append("a", 1, 1, barrier=True),
        append("b", 0, 1, barrier=True),
        append("nobody", 1, 1, barrier=True),
        append("c", 1, 1, barrier=True),
    )
    assert outcomes.errors["a"] is outcomes.errors["c"] is None
    assert isinstance(outcomes.errors["b"], FencedError)
    assert isinstance(outcomes.errors["nobody"], StoreError)
    assert commits(place) - before == 1
    await store.close()


BAD = {
    "a number too large": (Line(1, 2**70, 1, b"{}", b""), StoreError),
    "no body": (Line(1, 1, 1, cast("bytes", None), b""), StoreError),
    "a body of no type SQLite knows": (Line(1, 1, 1, cast("bytes", ["x"]), b""), StoreError),
    "no line": (cast("Line", "x"), AttributeError),
}


@pytest.mark.parametrize(("line", "kind"), BAD.values(), ids=BAD.keys())
async def test_one_bad_append_fails_alone_in_its_group(
    line: Line, kind: type[Exception], place: Path
) -> None:
    store = SqliteStore(place)
    for run_id in ("a", "b", "c"):
        await store.create(run_id)
    outcomes = Outcomes(store)
    await outcomes.together(
        append("a", 1, 1, barrier=True),
        Append("b", 1, (line,), barrier=True),
        append("c", 1, 1, barrier=True),
    )
    assert isinstance(outcomes.errors["b"], kind)
    assert outcomes.errors["a"] is outcomes.errors["c"] is None
    assert [await numbers(store, run_id) for run_id in "abc"] == [[1], [], [1]]
    await store.append(append("b", 1, 1))
    await store.close()


@pytest.mark.parametrize("cancelled", ["a", "b", "c", "abc"])
async def test_an_append_that_has_begun_is_carried_out(cancelled: str, place: Path) -> None:
    store = SqliteStore(place)
    for run_id in "abc":
        await store.create(run_id)

    async def one(run_id: str) -> None:
        with anyio.CancelScope() as scope:
            if run_id in cancelled:
                scope.cancel()
            await store.append(append(run_id, 1, 1))

    async with anyio.create_task_group() as group:
        for run_id in "abc":
            group.start_soon(one, run_id)
    assert [await numbers(store, run_id) for run_id in "abc"] == [[1], [1], [1]]
    await store.append(append("a", 1, 2))
    await store.close()


async def test_event_loops_of_several_threads_share_a_store(place: Path) -> None:
    store = SqliteStore(place)

    async def work(run_id: str) -> None:
        epoch = await store.create(run_id)
        for seq in range(1, 51):
            await store.append(append(run_id, epoch, seq))

    async def elsewhere(run_id: str) -> None:
        await anyio.to_thread.run_sync(anyio.run, work, run_id)

    async with anyio.create_task_group() as group:
        for run_id in ("a", "b", "c"):
            group.start_soon(elsewhere, run_id)
    for run_id in ("a", "b", "c"):
        assert await numbers(store, run_id) == list(range(1, 51))
    await store.close()


async def bytes_per_step(place: Path, steps: int, runs: int = 1) -> float:
    """What a step of a 500 byte thought and a 1,150 byte observation weighs when all is closed."""
    store = SqliteStore(place)
    await store.close()
    empty = place.stat().st_size
    store = SqliteStore(place)
    for run in range(runs):
        await store.create(f"run {run}")
    for step in range(steps):
        for run in range(runs):
            for seq, size in ((2 * step + 1, 500), (2 * step + 2, 1150)):
                line = Line(seq, 1_790_000_000_000, 1, b"x" * size, bytes(32))
                await store.append(Append(f"run {run}", 1, (line,)))
    await store.close()
    assert {path.name for path in place.parent.iterdir()} == {place.name, f"{place.name}.heads"}
    return (place.stat().st_size - empty) / (steps * runs)


async def test_a_step_weighs_the_same_in_short_and_long_runs(tmp_path: Path) -> None:
    short = await bytes_per_step(tmp_path / "short" / "runs.sqlite", 25)
    long = await bytes_per_step(tmp_path / "long" / "runs.sqlite", 2_000)
    many = await bytes_per_step(tmp_path / "many" / "runs.sqlite", 40, runs=50)
    assert max(short, long) <= 2_000
    assert many <= 2_100, "each of the 50 runs ends with a page that is not full"
    assert max(short, long, many) / min(short, long, many) < 1.15


async def test_a_torn_log_opens_again_wherever_it_is_cut(place: Path, tmp_path: Path) -> None:
    store = SqliteStore(place)
    epoch = await store.create("r")
    for seq in (1, 3, 5):
        await store.append(append("r", epoch, seq, seq + 1))
    log = place.with_name("runs.sqlite-wal")
    data = log.read_bytes()
    known: set[int] = set()
    for cut in range(0, len(data) + 1, 331):
        torn = tmp_path / f"{cut}.sqlite"
        shutil.copy(place, torn)
        torn.with_name(torn.name + "-wal").write_bytes(data[:cut])
        shutil.copy(f"{place}.heads", f"{torn}.heads")
        again = SqliteStore(torn)
        try:
            epoch = await again.open("r")
        except StoreError:  # cut before the run was created
            epoch = await again.create("r")
        seqs = await numbers(again, "r")
        assert seqs == list(range(1, len(seqs) + 1))
        await again.append(append("r", epoch, len(seqs) + 1))
        known.add(len(seqs))
        await again.close()
    assert known == {0, 2, 4}, "appends are there whole or not at all"
    await store.close()


async def test_a_writer_that_hangs_is_told(place: Path) -> None:
    store = SqliteStore(place, patience=0.05)
    epoch = await store.create("r")
    hanging = sqlite3.connect(place, isolation_level=None)
    hanging.execute("BEGIN IMMEDIATE")
    outcomes = Outcomes(store)
    await outcomes.together(append("r", epoch, 1), append("s", epoch, 1))
    for error in outcomes.errors.values():
        assert "locked by another process" in str(error)
    for work in (store.open("r"), store.create("s"), store.post("r", b"1")):
        with pytest.raises(StoreError, match="locked by another process"):
            await work
    assert await store.read("r") == [], "reading waits for nobody"
    hanging.execute("ROLLBACK")
    hanging.close()
    await store.append(append("r", epoch, 1))
    await store.close()


@pytest.mark.parametrize("lock", ["BEGIN EXCLUSIVE", "BEGIN; SELECT * FROM sqlite_schema"])
async def test_a_new_file_under_anothers_lock_is_told(lock: str, place: Path) -> None:
    hanging = sqlite3.connect(place, isolation_level=None)
    for statement in lock.split(";"):
        hanging.execute(statement)
    with pytest.raises(StoreError, match="locked by another process"):
        SqliteStore(place, patience=0.05)
    hanging.close()


async def test_a_closed_store_says_so(place: Path) -> None:
    store = SqliteStore(place)
    epoch = await store.create("r")
    await store.close()
    await store.close()
    for work in (store.append(append("r", epoch, 1)), store.read("r"), store.open("r")):
        with pytest.raises(StoreError, match=r"closed database.*open it anew"):
            await work


def make(place: Path, *statements: str) -> None:
    connection = sqlite3.connect(place)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


async def test_a_file_from_a_newer_clew_says_so(place: Path) -> None:
    await SqliteStore(place).close()
    make(place, f"PRAGMA user_version = {VERSION + 1}")
    before = place.read_bytes()
    with pytest.raises(StoreError, match=r"another version of clew .* open it with that version"):
        SqliteStore(place)
    assert place.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, 7])
async def test_another_programs_database_is_left_alone(version: int, place: Path) -> None:
    make(place, "CREATE TABLE theirs (x)", f"PRAGMA user_version = {version}")
    before = place.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SqliteStore(place)
    assert place.read_bytes() == before


async def test_a_file_that_is_no_database_is_left_alone(place: Path) -> None:
    place.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(StoreError, match="some other file"):
        SqliteStore(place)
    assert place.read_bytes() == b"Dear diary, " * 1000


async def test_a_damaged_file_says_so(place: Path) -> None:
    store = SqliteStore(place)
    epoch = await store.create("r")
    await store.append(append("r", epoch, *range(1, 2000)))
    await store.close()
    with place.open("r+b") as file:
        file.seek(3 * 16384)
        file.write(b"\xff" * (place.stat().st_size - 3 * 16384))
    store = SqliteStore(place)
    with pytest.raises(StoreError, match="damaged: restore a copy"):
        await store.read("r")
    await store.close()


@pytest.mark.parametrize(
    "edit", ["body = CAST(body AS TEXT)", "at = 'yesterday'", "hash = hex(hash)", "epoch = 'one'"]
)
async def test_an_entry_that_was_edited_by_hand_says_so(edit: str, place: Path) -> None:
    agent = Agent(model=ScriptedModel([say("ok")]))
    await api.run(agent, "Well?", store=place, run_id="r")
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute(f"UPDATE entries SET {edit} WHERE key & 4294967295 = 2")
    changed = "run r: entry 2 was changed after it was written"
    with pytest.raises(StoreError, match=changed):
        await api.read("r", store=place)
    with pytest.raises(StoreError, match=changed):
        await api.resume(agent, "r", store=place)


def test_making_a_store_leaves_no_half_made_one(place: Path) -> None:
    """The tables appear in one transaction: a file killed before that is just empty."""
    make(place, "PRAGMA journal_mode = WAL")
    anyio.run(SqliteStore(place).close)
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


async def test_what_is_forgotten_is_forgotten_whole(place: Path) -> None:
    store = SqliteStore(place)
    body, digest = blob("x" * 100_000)
    for run_id in "ab":
        await store.create(run_id)
        await store.append(append(run_id, 1, *range(1, 300), blobs={digest: body}))
        await store.post(run_id, b"1")
    await store.create("fork", Base("a", 7))
    await store.append(append("fork", 1, 8))
    before = commits(place)
    for run_id in ("fork", "a", "b"):
        await store.forget(run_id)
    assert commits(place) - before == 3, "a transaction for each"
    await store.close()
    with closing(sqlite3.connect(place)) as connection:
        for table in (
            "runs", "entries", "blobs", "uses", "inbox", "forks", "open_runs", "stopped_runs",
        ):  # fmt: skip
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
