"""The Temporal driver: real workers on a real server, which are killed, frozen and replaced."""

import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from clew import Agent, SqliteStore, Verdict, tool
from clew.agent.approvals import cancel, rule
from clew.agent.runner import start
from clew.core.contents import Reply
from clew.core.journal import load
from clew.core.models import OnText
from clew.core.prompts import Prompt
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import ConfigError, ModelError
from clew.testing.models import ScriptedModel, act, finish, say
from clew.tools import External
from clew.workers import WorkerConfig, WorkerEvent, status, work
from clew_cluster.temporal import TemporalDriver
from tests.cli.shell import clew
from tests.cluster.temporal_server import TemporalServer, needs_temporal, temporal
from tests.cluster.worker_processes import working as working_with
from tests.cluster.worker_program import agent_of
from tests.core.scenarios import Ledger
from tests.patience import PATIENCE

pytestmark = [pytest.mark.slow, needs_temporal]

ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], scope="module")
working = partial(working_with, "temporal")


@pytest.fixture(scope="module")
def server() -> Iterator[TemporalServer]:
    """The server of these tests; each has a queue of its own."""
    with temporal() as started:
        names = ("ClewAgent=Keyword", "ClewStatus=Keyword", "ClewLabels=KeywordList")
        for name, kind in (each.split("=") for each in names):
            started.ask("operator", "search-attribute", "create", "--name", name, "--type", kind)
        yield started


@pytest.fixture(autouse=True)
def named(server: TemporalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find it as Temporal's own programs do."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    opened = SqliteStore(tmp_path / "runs.sqlite")
    yield opened
    await opened.close()


def address_of(folder: Path) -> str:
    return str(folder / "runs.sqlite")


async def begun(
    store: SqliteStore, agent: Agent[Any], queue: str, times: int = 1, **more: Any
) -> list[str]:
    journals = [await start(agent, "Do it", store, queue=queue, **more) for _ in range(times)]
    return [journal.run_id for journal in journals]


def config(store: SqliteStore, queue: str, *agents: Agent[Any], **more: Any) -> WorkerConfig:
    more = {"driver": "temporal"} | more
    return WorkerConfig(store=store, agents=agents, only=True, queue=queue, **more)


async def idle(
    store: SqliteStore, queue: str, *agents: Agent[Any], **more: Any
) -> list[WorkerEvent]:
    """Serve here until nothing is left to do; what was told."""
    told: list[WorkerEvent] = []
    with anyio.fail_after(PATIENCE):
        await work(config(store, queue, *agents, until_idle=True, **more), on_event=told.append)
    return [news for news in told if news.what not in {"serving", "taken"}]


async def until(
    store: SqliteStore, queue: str, *agents: Agent[Any], ends: int
) -> list[WorkerEvent]:
    """Serve here until so many runs have stopped, or one so often; these events."""
    told: list[WorkerEvent] = []
    leaving = anyio.Event()

    def tell(news: WorkerEvent) -> None:
        if news.what == "ended":
            told.append(news)
        if len(told) == ends:
            leaving.set()

    with anyio.fail_after(PATIENCE):
        await work(config(store, queue, *agents), on_event=tell, leaving=leaving)
    return told


def effects(folder: Path) -> Counter[str]:
    """How often each effect of each call happened outside."""
    return Counter(Ledger(folder / "effects").lines())


def shown(server: TemporalServer, run_id: str) -> dict[str, Any]:
    """What Temporal tells of the workflow of a run."""
    told = json.loads(server.ask("workflow", "describe", "-w", run_id, "-o", "json"))
    info: dict[str, Any] = told["workflowExecutionInfo"]
    return info


@tool(effect="unsafe")
def send() -> str:
    """Send it."""
    return "sent"


async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Whatever has an effect is for a person to allow."""
    return Verdict("hold", "ask") if call.action.name == "send" else None


def careful() -> Agent[Any]:
    """An agent whose one call is held."""
    return Agent(ScriptedModel([act("send"), finish("done")]), [send], guards=[hold])


@ASYNCIO
async def test_the_runs_of_a_killed_worker_go_on_elsewhere_and_nothing_is_done_twice(
    store: SqliteStore, tmp_path: Path
) -> None:
    orders = {"queue": "killed"}
    async with working(address_of(tmp_path), tmp_path, name="one", hold=True, **orders) as one:
        await one.hear("serving")
        runs = await begun(store, agent_of(tmp_path), "killed", 4)
        assert set(await one.hear(*["waits"] * 4)) == set(runs)
        assert await status(runs[0], store=store) == "working"
        async with working(address_of(tmp_path), tmp_path, name="two", **orders) as two:
            await two.hear("serving")
            one.process.kill()
            assert set(await two.hear(*["answered"] * 4)) == set(runs)
            two.tell("leave")
            assert await anyio.to_thread.run_sync(two.process.wait, PATIENCE) == 0
    done = effects(tmp_path)
    assert (len(done), set(done.values())) == (4 * 6, {1})


@ASYNCIO
async def test_a_drained_worker_hands_over_and_a_frozen_one_that_was_replaced_adds_nothing(
    store: SqliteStore, tmp_path: Path
) -> None:
    where, orders = address_of(tmp_path), {"queue": "drained"}
    runs = set(await begun(store, agent_of(tmp_path), "drained", 2))
    async with working(where, tmp_path, name="drained", hold=True, **orders) as drained:
        assert set(await drained.hear("waits", "waits")) == runs
        async with working(where, tmp_path, name="frozen", hold=True, at_once=1, **orders) as slow:
            await slow.hear("serving")
            drained.tell("leave")
            drained.tell("go")
            assert set(await drained.hear("left", "left")) == runs
            assert set(await slow.hear("waits")) < runs  # as many as it may have at once
            assert await anyio.to_thread.run_sync(drained.process.wait, PATIENCE) == 0
            os.kill(slow.process.pid, signal.SIGSTOP)
            async with working(where, tmp_path, name="last", take_over=True, **orders) as last:
                assert set(await last.hear("answered", "answered")) == runs
                before = [await store.read(run_id) for run_id in runs]
                os.kill(slow.process.pid, signal.SIGCONT)
                slow.tell("leave")
                slow.tell("go")
                assert set(await slow.hear("lost")) < runs
                assert await anyio.to_thread.run_sync(slow.process.wait, PATIENCE) == 0
                assert [await store.read(run_id) for run_id in runs] == before
    done = effects(tmp_path)
    assert (len(done), set(done.values())) == (2 * 6, {1})


@ASYNCIO
async def test_a_held_run_waits_as_a_workflow_and_goes_on_after_a_ruling_of_another_process(
    store: SqliteStore, server: TemporalServer, tmp_path: Path
) -> None:
    agent = careful()
    driver = TemporalDriver(labels=("team",))
    [run_id] = await begun(
        store, agent, "held", labels={"team": "blue", "customer": "nobody-s"}
    )  # whose number is nothing for Temporal
    [held] = await idle(store, "held", agent, driver=driver)
    assert (held.what, held.text) == ("ended", "held")
    info = shown(server, run_id)
    assert info["status"] == "WORKFLOW_EXECUTION_STATUS_RUNNING"
    assert info["memo"]["fields"]["status"] == "held"
    assert info["memo"]["fields"]["labels"] == {"team": "blue"}
    [listed] = json.loads(
        server.ask("workflow", "list", "--query", "ClewStatus = 'held'", "-o", "json")
    )
    assert listed["execution"]["workflowId"] == run_id
    assert "nobody-s" not in server.ask("workflow", "show", "-w", run_id, "-o", "json")
    ruled = clew("approve", f"{run_id}:1.1", "--yes", "--store", address_of(tmp_path))
    assert ruled.code == 0, ruled.err
    assert [news.text for news in await idle(store, "held", agent)] == ["answered"]
    assert shown(server, run_id)["status"] == "WORKFLOW_EXECUTION_STATUS_COMPLETED"


@ASYNCIO
async def test_a_held_run_goes_on_by_itself_when_its_time_has_come(store: SqliteStore) -> None:
    @tool(external=External(timeout=1, fallback="nobody scanned"))
    def scan() -> str:
        """Scan a page."""
        raise NotImplementedError

    agent = Agent(ScriptedModel([act("scan"), finish("done")]), [scan])
    [run_id] = await begun(store, agent, "times")
    assert [news.text for news in await until(store, "times", agent, ends=2)] == [
        "held", "answered",
    ]  # fmt: skip
    [step, *_] = (await load(store, run_id)).steps
    assert step.calls[0].observation is not None
    assert "nobody scanned" in step.calls[0].observation.text


@ASYNCIO
async def test_cancelling_the_run_or_its_workflow_is_the_same(
    store: SqliteStore, server: TemporalServer
) -> None:
    agent = careful()
    by_clew, by_temporal = await begun(store, agent, "cancelled", 2)
    assert [news.text for news in await idle(store, "cancelled", agent)] == ["held", "held"]
    await cancel(by_clew, why="enough", store=store)
    server.ask("workflow", "cancel", "-w", by_temporal)
    told = await until(store, "cancelled", agent, ends=2)
    assert {(news.run_id, news.text) for news in told} == {
        (by_clew, "interrupted"), (by_temporal, "interrupted"),
    }  # fmt: skip
    assert shown(server, by_clew)["status"] == "WORKFLOW_EXECUTION_STATUS_COMPLETED"
    assert shown(server, by_temporal)["status"] == "WORKFLOW_EXECUTION_STATUS_CANCELED"


@ASYNCIO
async def test_a_run_whose_workflow_was_terminated_has_another_and_new_words_begin_one_too(
    store: SqliteStore, server: TemporalServer
) -> None:
    agent = careful()
    [run_id] = await begun(store, agent, "terminated")
    assert [news.text for news in await idle(store, "terminated", agent)] == ["held"]
    server.ask("workflow", "terminate", "-w", run_id)
    await rule(f"{run_id}:1.1", allow=True, store=store)
    assert [news.text for news in await idle(store, "terminated", agent)] == ["answered"]


class Flaky(ScriptedModel):
    """A model whose provider is away until a file is there."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if not Path(self.name).exists():
            raise ModelError("the provider is away")
        return await super().complete(prompt, on_text)


@ASYNCIO
async def test_what_failed_is_tried_again_and_what_is_not_here_is_left_to_who_has_it(
    store: SqliteStore, tmp_path: Path
) -> None:
    flaky = Agent(model=Flaky([say("here again")], name=str(tmp_path / "up")))
    other = Agent(model=ScriptedModel([say("other")]), prompt="Another one.")
    [run_id] = await begun(store, flaky, "flaky")
    [refused] = await idle(store, "flaky", other)
    assert (refused.what, refused.run_id) == ("refused", run_id)
    assert "is not here" in refused.text
    failed, *_ = await idle(store, "flaky", flaky)
    assert (failed.what, failed.text) == (
        "failed",
        "the provider is away (Temporal has it tried again)",
    )
    assert await status(run_id, store=store) == "waiting"
    (tmp_path / "up").touch()
    assert [news.text for news in await idle(store, "flaky", flaky)] == ["answered"]


@ASYNCIO
async def test_runs_of_workers_that_are_gone_come_to_those_of_another_version(
    store: SqliteStore,
) -> None:
    one, two = careful(), Agent(ScriptedModel([say("two")]), prompt="Another one.")
    [run_id] = await begun(store, one, "versions")
    assert [news.text for news in await idle(store, "versions", one)] == ["held"]
    await rule(f"{run_id}:1.1", allow=True, store=store)
    assert [news.text for news in await idle(store, "versions", two, one)] == ["answered"]


@ASYNCIO
async def test_a_record_that_cannot_be_read_is_told_and_keeps_nobody_from_the_others(
    store: SqliteStore, tmp_path: Path
) -> None:
    agent = Agent(model=ScriptedModel([say("hello")]))
    for run_id in ("damaged", "damaged/1"):
        await start(agent, "Do it", store, run_id=run_id, queue="damaged")
    with sqlite3.connect(address_of(tmp_path)) as tables:
        tables.execute("UPDATE entries SET at = at + 1 WHERE key = (SELECT min(key) FROM entries)")
    told = await idle(store, "damaged", agent)
    assert {(news.what, news.run_id) for news in told} == {
        ("failed", "damaged"), ("ended", "damaged/1"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("driver", "wrong"),
    [
        (TemporalDriver(address="127.0.0.1:1"), "there is no Temporal at 127.0.0.1:1"),
        (TemporalDriver(namespace="nowhere"), "refuses the namespace 'nowhere'"),
    ],
)
@ASYNCIO
async def test_a_server_or_namespace_that_is_not_there_is_told_in_a_line(
    store: SqliteStore, driver: TemporalDriver, wrong: str
) -> None:
    with pytest.raises(ConfigError, match=wrong) as told:
        await idle(store, "nowhere", careful(), driver=driver)
    assert "\n" not in str(told.value)


@ASYNCIO
async def test_workers_outlive_their_server(store: SqliteStore, tmp_path: Path) -> None:
    with temporal() as mine, mine.named():
        async with working(address_of(tmp_path), tmp_path, hold=True, queue="restarted") as one:
            await one.hear("serving")
            runs = await begun(store, agent_of(tmp_path), "restarted", 2)
            await one.hear("waits", "waits")
            await anyio.to_thread.run_sync(mine.restart)
            runs += await begun(store, agent_of(tmp_path), "restarted", 2)
            one.tell("go")
            assert set(await one.hear(*["answered"] * 4)) == set(runs)
            one.tell("leave")
            assert await anyio.to_thread.run_sync(one.process.wait, PATIENCE) == 0
    done = effects(tmp_path)
    assert (len(done), set(done.values())) == (4 * 6, {1})
