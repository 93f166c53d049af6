"""PostgreSQL and what goes away: clients killed and frozen, connections cut, servers restarted."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest

from clew.support.errors import StoreError
from clew_cluster.postgres.store import PostgresStore
from clew_testing.store_contract import append, blob, numbers, text_of
from tests.patience import PATIENCE
from tests.postgres import Server
from tests.stores.test_processes import hear, started, tell

pytestmark = pytest.mark.slow

_SCHEMAS = count(1)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Psycopg runs on no other."""
    return "asyncio"


@pytest.fixture
def address(postgres_server: Server) -> str:
    return f"{postgres_server.address()}?schema=lost_{next(_SCHEMAS)}"


@dataclass
class Wire:
    """A way to the server that can be cut: the next answer to what holds `word` never comes back.

    `dead` cuts before the server hears it, too.
    """

    port: int
    word: bytes = b""
    dead: bool = False
    cuts: int = 0
    ends: list[asyncio.StreamWriter] = field(default_factory=list[asyncio.StreamWriter])

    async def join(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        reader, there = await asyncio.open_connection("127.0.0.1", self.port)
        self.ends += (back, there)
        cut = asyncio.Event()

        async def forth() -> None:
            while data := await client.read(1 << 20):
                if self.word and self.word in data:
                    self.word = b""
                    cut.set()
                    if self.dead:
                        break
                there.write(data)
            if not cut.is_set() or self.dead:
                there.close()

        async def home() -> None:
            while data := await reader.read(1 << 20):
                if cut.is_set():
                    break
                back.write(data)
            if cut.is_set():
                self.cuts += 1
            back.close()
            there.close()

        try:
            await asyncio.gather(forth(), home())
        except OSError:
            back.close()
            there.close()


@asynccontextmanager
async def wire(address: str) -> AsyncIterator[tuple[Wire, str]]:
    """The address with a wire in it."""
    parts = urlsplit(address)
    made = Wire(parts.port or 0)
    server = await asyncio.start_server(made.join, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    user = parts.netloc.rpartition("@")[0]
    async with server:
        try:
            yield made, parts._replace(netloc=f"{user}@127.0.0.1:{port}").geturl()
        finally:
            for end in made.ends:
                end.close()


@pytest.mark.parametrize("dead", [False, True])
async def test_a_commit_whose_end_nobody_heard_is_neither_lost_nor_made_twice(
    address: str, *, dead: bool
) -> None:
    body, digest = blob("brought")
    async with wire(address) as (cut, place):
        store = PostgresStore(place)
        await store.create("r")
        await store.create("s")
        await store.append(append("r", 1, 1))
        await store.post("r", b'"word"')
        ((message, _),) = await store.inbox("r")
        cut.word, cut.dead = b"line 2 of r", dead
        await asyncio.gather(
            store.append(append("r", 1, 2, 3, blobs={digest: body}, taken=(message,))),
            store.append(append("s", 1, 1)),
        )
        assert cut.cuts == 1
        assert await numbers(store, "r") == [1, 2, 3]
        assert await numbers(store, "s") == [1]
        assert await store.blob(digest) == body
        assert await store.inbox("r") == []
        await store.append(append("r", 1, 4))
        await store.close()


@pytest.mark.parametrize("dead", [False, True])
async def test_a_run_begun_or_taken_up_while_the_connection_breaks(
    address: str, *, dead: bool
) -> None:
    async with wire(address) as (cut, place):
        store = PostgresStore(place)
        await store.create("before")
        cut.word, cut.dead = b"begun", dead
        epoch = await store.create("begun")
        await store.append(append("begun", epoch, 1))
        cut.word = b"begun"
        assert await store.open("begun") > epoch
        cut.word = b"before"
        assert await store.read("before") == []
        assert cut.cuts == 3
        cut.word = b"begun"
        with pytest.raises(StoreError, match="may or may not have been made"):
            await store.post("begun", b"{}")
        assert len(await store.inbox("begun")) == (0 if dead else 1)
        await store.append(append("taken", await store.create("taken"), 1))
        cut.word = b"taken"
        with pytest.raises(StoreError, match="there is a run 'taken' already"):
            await store.create("taken")
        assert cut.cuts == 5
        await store.close()


async def test_whoever_waits_may_be_cancelled_and_the_append_is_made(address: str) -> None:
    store = PostgresStore(address)
    await store.create("r")
    cancelled = 0
    for turn in range(1, 6):
        task = asyncio.create_task(store.append(append("r", 1, turn)))
        for _ in range(turn):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task  # it may be done by now: the server does not wait for a turn of ours
        except asyncio.CancelledError:
            cancelled += 1
    assert cancelled
    await store.append(append("r", 1, 6))
    assert await numbers(store, "r") == [1, 2, 3, 4, 5, 6]
    task = asyncio.create_task(store.append(append("r", 1, 7)))
    await asyncio.sleep(0)
    await store.close()
    await task
    assert await numbers(store, "r") == [1, 2, 3, 4, 5, 6, 7]
    await store.close()


async def at_once(*works: Awaitable[object]) -> None:
    async with anyio.create_task_group() as group:
        for work in works:

            async def wait(work: Awaitable[object] = work) -> None:
                await work

            group.start_soon(wait)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_the_server_is_restarted_in_the_middle(
    how: signal.Signals, address: str, postgres_server: Server
) -> None:
    store, other = PostgresStore(address), PostgresStore(address)
    ids = [f"r{number}" for number in range(8)]
    heads = dict.fromkeys(ids, 0)
    back = anyio.Event()

    async def work(run_id: str) -> None:
        epoch = await store.create(run_id)
        after = 0
        while after < 3:
            seq = heads[run_id] + 1
            await store.append(append(run_id, epoch, seq, barrier=True))
            heads[run_id] = seq
            after += back.is_set()

    async def look() -> None:
        while not back.is_set():
            for run_id in [run.run_id for run in await other.runs()]:
                seen = await numbers(other, run_id)
                assert seen == list(range(1, len(seen) + 1))

    async def restart() -> None:
        while min(heads.values()) < 3:
            await anyio.sleep(0.001)
        await anyio.to_thread.run_sync(postgres_server.restart, how)
        back.set()

    with anyio.fail_after(PATIENCE):
        await at_once(*(work(run_id) for run_id in ids), look(), restart())
    for run_id in ids:
        lines = await store.read(run_id)
        assert [line.body for line in lines] == [
            text_of(run_id, seq) for seq in range(1, heads[run_id] + 1)
        ]
    await store.close()
    await other.close()


async def test_a_server_that_stays_away_is_told_in_one_line(
    address: str, postgres_server: Server
) -> None:
    store = PostgresStore(f"{address}&patience=2")
    epoch = await store.create("r")
    await store.append(append("r", epoch, 1))
    assert await store.claim("r")
    await anyio.to_thread.run_sync(postgres_server.stop)
    try:
        steps: list[Callable[[], Awaitable[object]]] = [
            lambda: store.append(append("r", epoch, 2)),
            lambda: store.read("r"),
            lambda: store.claim("s"),
            lambda: PostgresStore(address).runs(),
        ]
        for step in steps:
            with pytest.raises(StoreError, match=r"cannot be reached|may or may not") as caught:
                await step()
            assert "\n" not in str(caught.value)
    finally:
        await anyio.to_thread.run_sync(postgres_server.start)
    await store.append(append("r", epoch, 2))
    assert await numbers(store, "r") == [1, 2]
    assert await store.claim("s")
    await store.close()


@pytest.mark.parametrize("words", [(), ("barrier",)])
async def test_a_killed_worker_loses_nothing_that_was_acknowledged(
    words: tuple[str, ...], address: str
) -> None:
    store = PostgresStore(address)
    known = 0
    for life in range(1, 3):
        with started(address, "r", "free", *words) as process:
            tell(process)
            assert hear(process) == f"opened {life + 1}"
            for _ in range(25 * life):
                known = int(hear(process))
            process.kill()
            assert process.stdout is not None
            known = max(known, *map(int, process.stdout.read().split()), 0)
        lines = await store.read("r")
        assert [line.body for line in lines] == [
            text_of("r", seq) for seq in range(1, len(lines) + 1)
        ]
        assert known <= len(lines) <= known + 3, "at most the append under way"
        known = len(lines)
    await store.close()


async def test_a_frozen_worker_can_be_fenced_off(address: str) -> None:
    store = PostgresStore(address)
    with ExitStack() as stack:
        process = stack.enter_context(started(address, "r", "free"))
        tell(process)
        assert hear(process) == "opened 2"
        for _ in range(20):
            hear(process)
        process.send_signal(signal.SIGSTOP)  # wherever it is, a commit perhaps
        with anyio.fail_after(PATIENCE):
            assert await store.open("r") == 3
        head = len(await store.read("r"))
        await store.append(append("r", 3, head + 1, barrier=True))
        process.send_signal(signal.SIGCONT)
        assert process.stdout is not None
        said = process.stdout.read().split()
        assert said[-1] == "FencedError"
        assert process.wait() == 0
    assert [line.epoch for line in await store.read("r")] == [2] * head + [3]
    await store.close()


async def test_workers_at_once_share_the_store(address: str) -> None:
    ids = ["a", "b"]
    with ExitStack() as stack:
        processes = [stack.enter_context(started(address, each, "stepwise")) for each in ids]
        for process in processes:
            tell(process)
        assert [hear(process) for process in processes] == ["opened 2"] * len(ids)
        for last in ("1", "3", "6"):
            for process in processes:
                tell(process)
            assert [hear(process) for process in processes] == [last] * len(ids)


OWNER = """
import os, signal
from tests.postgres import postgres
with postgres() as server:
    print(server.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


async def test_the_server_of_a_killed_test_ends_too() -> None:
    command = [sys.executable, "-c", OWNER]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert killed.returncode == -signal.SIGKILL
    folder = Path("/proc") / killed.stdout.strip()
    with anyio.fail_after(PATIENCE):
        while folder.exists():
            await anyio.sleep(0.01)
