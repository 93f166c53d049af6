"""The DBOS driver: real workers on a real PostgreSQL, killed, frozen, drained and replaced."""

import base64
import os
import pickle
import signal
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from clew import Agent, Verdict, tool
from clew.agent.approvals import rule
from clew.agent.runner import start
from clew.core.contents import Reply
from clew.core.events import Changed
from clew.core.journal import load
from clew.core.models import OnText
from clew.core.prompts import Prompt
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import ConfigError, ModelError, StoreError
from clew.testing.models import ScriptedModel, act, finish, say
from clew.workers import WorkerConfig, WorkerEvent, status, work
from clew_cluster.dbos import version_of
from clew_cluster.dbos.dbos_queue import Tickets, dbos_database_of
from clew_cluster.postgres.store import PostgresStore
from clew_mcp import mcp_tools
from tests.cluster.worker_processes import working as working_with
from tests.cluster.worker_program import agent_of
from tests.core.scenarios import Ledger
from tests.mcp.servers import plain_server
from tests.patience import PATIENCE
from tests.postgres import Server

pytestmark = pytest.mark.slow


@tool(effect="read")
def look() -> str:
    """Look around."""
    return "nothing"


ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], scope="module")


@pytest.fixture(scope="module")
def set_up(postgres_server: Server) -> str:
    """A database in which both clew and DBOS have their tables, to be copied."""
    address = postgres_server.database()

    async def setting_up() -> None:
        opened = PostgresStore(address)
        agent = Agent(model=ScriptedModel([say("hello")]))
        [run_id] = await begun(opened, agent)
        assert await status(run_id, store=opened) == "waiting"
        assert [news.text for news in await idle(opened, agent)] == ["answered"]
        await opened.close()

    anyio.run(setting_up)
    return address.rpartition("/")[2]


@pytest.fixture
async def store(postgres_server: Server, set_up: str) -> AsyncGenerator[PostgresStore]:
    """A store of its own, where workers were before."""
    opened = PostgresStore(postgres_server.database(set_up))
    yield opened
    await opened.close()


working = partial(working_with, "dbos")


async def begun(store: PostgresStore, agent: Agent, times: int = 1) -> list[str]:
    journals = [await start(agent, "Do it", store, queue="default") for _ in range(times)]
    return [journal.trajectory.run_id for journal in journals]


def config(store: PostgresStore, *agents: Agent, **more: Any) -> WorkerConfig:
    return WorkerConfig(store=store, agents=agents, only=True, driver="dbos", **more)


def effects(folder: Path) -> Counter[str]:
    """How often each effect of each call happened outside."""
    return Counter(Ledger(folder / "effects").lines())


@ASYNCIO
async def test_the_runs_of_a_killed_worker_go_on_elsewhere_and_nothing_is_done_twice(
    postgres_server: Server, store: PostgresStore, tmp_path: Path
) -> None:
    address = store.address
    async with working(address, tmp_path, name="one", hold=True) as one:
        await one.hear("serving")
        runs = await begun(store, agent_of(tmp_path), 4)
        assert set(await one.hear(*["waits"] * 4)) == set(runs)
        assert await status(runs[0], store=store) == "working"
        async with working(address, tmp_path, name="two") as two:
            await two.hear("serving")
            async with working(address, tmp_path, name="two") as third:
                news = await third.news.receive()
                assert (news.what, "choose another name" in news.text) == ("failed", True)
                assert third.process.wait(PATIENCE) == 0
            one.process.kill()
            assert set(await two.hear(*["answered"] * 4)) == set(runs)
            two.tell("leave")
            assert await anyio.to_thread.run_sync(two.process.wait, PATIENCE) == 0
    for run_id in runs:
        record = await load(store, run_id)
        assert {call.observation and call.observation.outcome for call in record.calls} == {"done"}
        assert await status(run_id, store=store) == "answered"
    done = effects(tmp_path)
    assert (len(done), set(done.values())) == (4 * 6, {1})
    assert pickles(postgres_server, address) == []


def pickles(server: Server, address: str) -> list[str]:
    """What in the tables of DBOS Python's pickle could read; all of DBOS's values are read."""
    rows = server.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'clew_dbos' AND data_type IN ('text', 'character varying', 'bytea')",
        address,
    )
    assert ("workflow_input", "inputs") in rows
    found: list[str] = []
    seen = 0
    for table, column in rows:
        values = server.execute(f'SELECT "{column}" FROM clew_dbos."{table}"', address)
        for (value,) in values:
            seen += value is not None
            try:
                pickle.loads(base64.b64decode(value or ""))
            except Exception:  # noqa: BLE001 - whatever pickle raises of what is none
                continue
            found.append(f"{table}.{column}: {value}")
    assert seen > 20
    return found


@ASYNCIO
async def test_a_worker_completes_the_tables_that_an_older_dbos_or_half_a_start_has_left(
    postgres_server: Server, store: PostgresStore
) -> None:
    for command in (
        "ALTER TABLE clew_dbos.queues DROP COLUMN application_name",
        "UPDATE clew_dbos.dbos_migrations SET version = 100",  # the one after it adds the column
    ):
        postgres_server.execute(command, store.address)
    agent = Agent(model=ScriptedModel([say("hello")]))
    [run_id] = await begun(store, agent)
    assert [news.text for news in await idle(store, agent)] == ["answered"]
    assert await status(run_id, store=store) == "answered"


@ASYNCIO
async def test_a_drained_worker_hands_over_and_a_frozen_one_that_was_replaced_adds_nothing(
    store: PostgresStore, tmp_path: Path
) -> None:
    address = store.address
    runs = set(await begun(store, agent_of(tmp_path), 2))  # and whoever did died before its tickets
    async with working(address, tmp_path, name="drained", hold=True) as drained:
        assert set(await drained.hear("waits", "waits")) == runs
        async with working(address, tmp_path, name="frozen", hold=True, at_once=1) as frozen:
            await frozen.hear("serving")
            drained.tell("leave")
            drained.tell("go")
            assert set(await drained.hear("left", "left")) == runs
            assert set(await frozen.hear("waits")) < runs  # as many as it may have at once
            assert await anyio.to_thread.run_sync(drained.process.wait, PATIENCE) == 0
            os.kill(frozen.process.pid, signal.SIGSTOP)
            async with working(address, tmp_path, name="last", take_over=True) as last:
                assert set(await last.hear("answered", "answered")) == runs
                before = [await store.read(run_id) for run_id in runs]
                os.kill(frozen.process.pid, signal.SIGCONT)
                frozen.tell("leave")
                frozen.tell("go")
                assert set(await frozen.hear("lost")) < runs
                assert await anyio.to_thread.run_sync(frozen.process.wait, PATIENCE) == 0
                assert [await store.read(run_id) for run_id in runs] == before
    done = effects(tmp_path)
    assert (len(done), set(done.values())) == (2 * 6, {1})


class Flaky(ScriptedModel):
    """A model whose provider is away until a file is there."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if not Path(self.name).exists():
            raise ModelError("the provider is away")
        return await super().complete(prompt, on_text)


async def idle(store: PostgresStore, *agents: Agent) -> list[WorkerEvent]:
    """Serve here until nothing is left to do; what was told."""
    told: list[WorkerEvent] = []
    with anyio.fail_after(PATIENCE):
        await work(config(store, *agents, until_idle=True), on_event=told.append)
    return [news for news in told if news.what not in {"serving", "taken"}]


@ASYNCIO
async def test_all_runs_of_a_worker_share_a_connection_which_ends_with_the_worker(
    store: PostgresStore, tmp_path: Path
) -> None:
    server = plain_server(tmp_path / "plain").server(only=("pid",))
    [pid] = await mcp_tools(server, pins=tmp_path / "pins.json")
    agent = Agent(model=ScriptedModel([act("plain_pid"), finish("told")]), tools=[pid])
    run_ids = await begun(store, agent, 3)
    assert [news.text for news in await idle(store, agent)] == ["answered"] * 3
    records = [await load(store, run_id) for run_id in run_ids]
    seen = [record.steps[0].calls[0].observation for record in records]
    pids = {one.text for one in seen if one is not None}
    assert (len(seen), len(pids)) == (3, 1)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids.pop()), 0)


@ASYNCIO
async def test_what_failed_is_tried_again_and_what_is_not_here_is_left_to_who_has_it(
    store: PostgresStore, tmp_path: Path
) -> None:
    flaky = Agent(model=Flaky([say("here again")], name=str(tmp_path / "up")))
    other = Agent(model=ScriptedModel([say("other")]), prompt="Another one.")
    [run_id] = await begun(store, flaky)
    [refused] = await idle(store, other)  # which thereby is the latest version
    assert (refused.what, refused.run_id) == ("refused", run_id)
    assert "is not here" in refused.text
    async with Tickets(dbos_database_of(store.address), "default") as tickets:
        await tickets.write(run_id, 1)  # for the workers of the latest version
    assert [news.what for news in await idle(store, other)] == ["refused"]
    failed, *_ = await idle(store, flaky)
    assert (failed.what, failed.text) == (
        "failed",
        "the provider is away (it is tried again in 1 s)",
    )
    assert await status(run_id, store=store) == "waiting"
    (tmp_path / "up").touch()
    told: list[WorkerEvent] = []
    leaving = anyio.Event()

    def tell(news: WorkerEvent) -> None:
        told.append(news)
        if news.what == "ended":
            leaving.set()

    with anyio.fail_after(PATIENCE):
        await work(config(store, flaky), on_event=tell, leaving=leaving)
    assert (told[-1].text, await status(run_id, store=store)) == ("answered", "answered")


@ASYNCIO
async def test_a_run_goes_on_with_its_agent_as_it_is_now_where_that_is_accepted(
    store: PostgresStore,
) -> None:
    def clerk(prompt: str) -> Agent[Any]:
        return Agent(ScriptedModel([act("look"), finish("done")]), [look], prompt=prompt)

    [run_id] = await begun(store, clerk("Be quick."))
    new, told = clerk("Be brief."), list[WorkerEvent]()
    assert [news.what for news in await idle(store, new)] == ["refused"]
    with anyio.fail_after(PATIENCE):
        accepting = config(store, new, until_idle=True, accept_change=True)
        await work(accepting, on_event=told.append)
    assert [news.text for news in told if news.what == "ended"] == ["answered"]
    events = [entry.event for entry in (await load(store, run_id)).entries]
    [changed] = [event for event in events if isinstance(event, Changed)]
    assert changed.what == ("prompt",)


@ASYNCIO
async def test_a_record_that_cannot_be_read_is_told_and_keeps_nobody_from_the_others(
    store: PostgresStore, postgres_server: Server
) -> None:
    agent = Agent(model=ScriptedModel([say("hello")]))
    damaged, good = "run", "run/1"  # with the beginning of its tickets, "run/"
    for run_id in (damaged, good):
        await start(agent, "Do it", store, run_id=run_id, queue="default")
    statement = "UPDATE clew.entries SET at = at + 1 FROM clew.runs"
    postgres_server.execute(
        f"{statement} WHERE runs.number = entries.number AND run_id = '{damaged}'", store.address
    )
    told = await idle(store, agent)
    assert {(news.what, news.run_id) for news in told} == {("failed", damaged), ("ended", good)}
    assert "entry 1 was changed after it was written" in told[0].text
    async with Tickets(dbos_database_of(store.address), "default") as tickets:
        assert [ticket.run_id for ticket in await tickets.of(good)] == [good]
        assert await tickets.of(damaged) == []


@ASYNCIO
async def test_a_held_run_waits_without_a_worker_and_goes_on_after_the_ruling_however_it_is_told(
    store: PostgresStore,
) -> None:
    @tool(effect="unsafe")
    def send() -> str:
        """Send it."""
        return "sent"

    async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", "ask") if call.action.name == "send" else None

    agent = Agent(model=ScriptedModel([act("send"), finish("done")]), tools=[send], guards=[hold])
    first, second = await begun(store, agent, 2)
    assert [news.text for news in await idle(store, agent)] == ["held", "held"]
    assert await status(first, store=store) == "held"
    async with Tickets(dbos_database_of(store.address), "default") as tickets:
        assert await tickets.open() == []
        for run_id in (first, second):
            await rule(f"{run_id}:1.1", allow=True, store=store)
        for _ in range(2):
            await tickets.write(first, len(await load(store, first)))
        assert [ticket.run_id for ticket in await tickets.open()] == [first]
        assert await status(first, store=store) == "waiting"
        assert sorted((news.run_id, news.text) for news in await idle(store, agent)) == [
            (run_id, "answered") for run_id in sorted((first, second))
        ]
        assert {ticket.status for ticket in await tickets.of(first)} == {"SUCCESS"}
        await tickets.forget((datetime.now(UTC) - timedelta(hours=1)).isoformat())
        assert len(await tickets.of(first)) == 2
        await tickets.forget((datetime.now(UTC) + timedelta(hours=1)).isoformat())
        assert await tickets.of(first) == []


def test_an_address_that_dbos_cannot_read_is_told_and_no_password_is_shown() -> None:
    with pytest.raises(StoreError) as told:
        dbos_database_of("postgresql://ada:s3cret@one:5432,two:5433/runs")
    assert str(told.value) == (
        "DBOS takes one host, and postgresql://ada@one:5432,two:5433/runs names several: "
        "name one of them"
    )
    address = "postgresql://ada:s3cret@one/runs"
    for held in (WorkerConfig(store=address), dbos_database_of(address), PostgresStore(address)):
        assert "s3cret" not in repr(held)


def test_workers_with_the_same_agents_have_the_same_version() -> None:
    one = Agent(model=ScriptedModel([say("one")]))
    two = Agent(model=ScriptedModel([say("two")]), prompt="Another one.")
    same = Agent(model=ScriptedModel([say("said otherwise")]))
    assert version_of([one, two]) == version_of([two, same])
    assert len({version_of([]), version_of([one]), version_of([one, two])}) == 3
    assert version_of([one], recorded=True) == version_of([one]) + "+any"


@ASYNCIO
async def test_serve_leaves_when_cancelled_and_one_process_has_one_dbos(
    store: PostgresStore, tmp_path: Path
) -> None:
    agent = agent_of(tmp_path)
    ended = anyio.Event()

    def tell(news: WorkerEvent) -> None:
        if news.what == "ended":
            ended.set()

    one = config(store, agent, name="one")
    [run_id] = await begun(store, agent)
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as together:
            together.start_soon(partial(work, one, on_event=tell))
            await ended.wait()
            with pytest.raises(ConfigError, match="in this process already"):
                await work(config(store, agent, name="two"))
            together.cancel_scope.cancel()
    assert await status(run_id, store=store) == "answered"
