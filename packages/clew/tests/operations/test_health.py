"""What is answered of a worker: whether it lives, whether it takes up runs, and its figures."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from clew import Agent, ConfigError, SqliteStore, Verdict, submit
from clew.core.steps import Call
from clew.core.trajectory import Trajectory
from clew.guards import Provenance
from clew.operations import Operations, operate
from clew.operations.health import parse_address
from clew.stores.locks import claim
from clew.testing.models import ScriptedModel, act, say
from clew.tools import tool
from clew.workers import WorkerConfig, WorkerEvent
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a letter."""
    return f"sent {text}"


async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
    return Verdict("hold", "letters need a person") if call.action.name == "send" else None


def writer() -> Agent:
    model = ScriptedModel([act("send", text="Dear Ada"), say("done")], tools=[send])
    return Agent(model, tools=[send], guards=[hold, Provenance("off")])


class Worker:
    """A worker that is at work, asked as an orchestrator asks it."""

    def __init__(self, leaving: anyio.Event) -> None:
        self.leaving = leaving
        self.port = 0
        self.listens = anyio.Event()
        self.told = list[WorkerEvent]()
        self._more = anyio.Event()

    def on_health(self, port: int) -> None:
        self.port = port
        self.listens.set()

    def on_event(self, event: WorkerEvent) -> None:
        self.told.append(event)
        self._more.set()
        self._more = anyio.Event()

    async def until(self, what: str) -> None:
        while not any(event.what == what for event in self.told):
            await self._more.wait()

    async def connect(self) -> SocketStream:
        return await anyio.connect_tcp("127.0.0.1", self.port)

    async def ask(self, path: str, method: str = "GET") -> tuple[int, str]:
        return await self.send(f"{method} {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())

    async def send(self, request: bytes) -> tuple[int, str]:
        answer = b""
        async with await self.connect() as stream:
            await stream.send(request)
            try:
                while True:
                    answer += await stream.receive()
            except anyio.EndOfStream:
                pass
        head, _, body = answer.decode().partition("\r\n\r\n")
        return int(head.split(" ")[1]), body


@asynccontextmanager
async def working(store: SqliteStore, **how: int) -> AsyncGenerator[Worker]:
    worker = Worker(anyio.Event())
    config = WorkerConfig(store=store, agents=[writer()], day_tokens=how.get("day_tokens"))

    async def serve() -> None:
        await operate(
            config, Operations(health="0"), on_event=worker.on_event, leaving=worker.leaving,
            on_health=worker.on_health,
        )  # fmt: skip

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            await worker.listens.wait()
            await worker.until("serving")
            yield worker
            worker.leaving.set()


async def test_a_worker_tells_that_it_serves_and_how_much_there_is_to_do(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store, working(store) as worker:
        assert await worker.ask("/healthz") == (200, "ok\n")
        assert await worker.ask("/readyz?verbose") == (200, "ok\n")
        assert await worker.ask("/healthz", "HEAD") == (200, "")
        assert (await worker.ask("/healthz", "POST"))[0] == 405
        assert (await worker.ask("/secret"))[0] == 404
        await submit(writer(), "Write to Ada.", store=store)
        await submit(writer(), "Write to Ada.", store=store, queue='odd "one"\n')
        await worker.until("ended")
        status, body = await worker.ask("/metrics")
        assert status == 200
        figures = dict(line.rsplit(" ", 1) for line in body.splitlines() if line[0] != "#")
        runs = {name: value for name, value in figures.items() if "clew_queue_runs" in name}
        assert runs == {
            'clew_queue_runs{queue="default",standing="held"}': "1",
            'clew_queue_runs{queue="odd \\"one\\"\\n",standing="waiting"}': "1",
        }
        assert float(figures['clew_queue_oldest_seconds{queue="default",standing="held"}']) >= 0
        assert figures["clew_steps_total"] == "1"
        assert int(figures['clew_tokens_total{type="output"}']) > 0
        assert figures['clew_stops_total{status="held"}'] == "1"
        assert figures["clew_runs_in_hand"] == "0"
        assert figures["clew_leases_lost_total"] == "0"


async def test_a_worker_that_leaves_is_not_ready_and_lives(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store, working(store) as worker:
        asked = await worker.connect()
        async with asked:
            await asked.send(b"GET /readyz HTTP/1.1\r\n")
            worker.leaving.set()
            await asked.send(b"\r\n")
            assert b" 503 " in await asked.receive()


async def test_a_spent_queue_is_told_of(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store:
        async with working(store, day_tokens=1) as worker:
            await submit(writer(), "Write to Ada.", store=store)
            await worker.until("ended")
            await submit(writer(), "Write again.", store=store)
            await worker.until("spent")
            status, text = await worker.ask("/readyz")
            assert (status, "has spent what it may today" in text) == (200, True)
            assert 'standing="spent"} 1' in (await worker.ask("/metrics"))[1]


async def test_clients_that_send_nothing_or_too_much_keep_nobody_waiting(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store, working(store) as worker:
        silent = [await worker.connect() for _ in range(8)]
        assert await worker.ask("/healthz") == (200, "ok\n")
        assert (await worker.send(b"x" * 8_300))[0] == 400
        assert (await worker.send(b"\xff\xfe \r\n\r\n"))[0] == 400
        for each in silent:
            await each.aclose()
        assert await worker.ask("/healthz") == (200, "ok\n")


async def test_an_address_that_is_taken_is_told_in_a_line(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store, working(store) as worker:
        config = WorkerConfig(store=store, agents=[writer()], name="second", until_idle=True)
        with pytest.raises(ConfigError, match="cannot listen at") as no:
            await operate(config, Operations(health=str(worker.port)))
        assert "\n" not in str(no.value)
        assert await claim(store, "worker:second"), "it never served"


@pytest.mark.parametrize("text", ["", "x", "70000", ":80", "host:", "1.5", "-1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="give PORT or HOST:PORT"):
        parse_address(text)


def test_addresses() -> None:
    assert parse_address("9000") == ("127.0.0.1", 9000)
    assert parse_address("[::1]:9000") == ("::1", 9000)
    assert parse_address("worker.example:1") == ("worker.example", 1)
