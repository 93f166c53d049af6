"""An agent that knows its store, an application as a lifespan, and a stream as server events."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    MemoryStore,
    ModelError,
    RunContext,
    SqliteStore,
    Verdict,
    answer,
    batch,
    fork,
    list_runs,
    pending_approvals,
    read,
    replay,
    result_of,
    resume,
    rule,
    run,
    serving,
    start,
    stream,
    submit,
    tool,
)
from clew.agent_files import load_agent
from clew.guards import Provenance
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.testing import ScriptedModel, act, finish
from clew.tools import external, later
from clew.workers import WorkerConfig, work
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops


@tool(approve="ask first")
def send(text: str) -> str:
    """Send a letter."""
    return f"sent {text}"


@tool(external=True)
def sign(text: str) -> str:
    """Have it signed."""
    raise AssertionError


def clerk(*moves: Any, **fields: Any) -> Agent[str]:
    return Agent(
        ScriptedModel([*moves, finish("done")]), tools=[send, sign], guards=[Provenance("off")],
        **fields,
    )  # fmt: skip


async def test_an_agent_with_a_store_works_in_it_unless_another_is_named(tmp_path: Path) -> None:
    where = tmp_path / "own.sqlite"
    agent = clerk(finish("first"), store=where)
    first = await run(agent, "?", run_id="first")
    await result_of(agent, "first")
    await replay(agent, "first")
    await resume(agent, "first", say="And?")
    await fork(agent, first.run_id, at=1, new_id="forked")
    await batch(agent, ["one"])
    async with stream(agent, "?", run_id="streamed") as events:
        _ = [each async for each in events]
    await submit(agent, "?", run_id="submitted")
    names = {each.run_id for each in await list_runs(store=where)}
    assert names > {"first", "forked", "streamed", "submitted"}
    assert len(names) == 5
    await run(agent, "?", run_id="elsewhere", store=(other := MemoryStore()))
    assert [each.run_id for each in await list_runs(store=other)] == ["elsewhere"]
    assert str(where) not in repr(agent)


async def test_what_waits_there_is_ruled_on_and_answered(tmp_path: Path) -> None:
    agent = clerk(act("send", text="a"), act("sign", text="b"), store=tmp_path / "own.sqlite")
    held = await run(agent, "?")
    (waiting,) = await pending_approvals(store=agent.store)
    assert (await rule(waiting.id, allow=True, agent=agent)).status == "held"
    done = await answer(f"{held.run_id}:2.1", "Ada", agent=agent)
    assert done.status == "answered"


async def test_an_application_is_the_lifespan_of_a_web_framework(tmp_path: Path) -> None:
    agent = clerk(act("send", text="a"), store=tmp_path / "own.sqlite")
    held = await run(agent, "?")
    (waiting,) = await pending_approvals(store=agent.store)
    await rule(waiting.id, allow=True, store=agent.store)
    lifespan = serving(agent)
    for _ in range(2):  # an application may be started again
        async with lifespan("the application") as state:
            assert state is None
        async with lifespan as app:
            await app.wait()
    assert (await result_of(agent, held.run_id)).status == "answered"


@pytest.mark.parametrize("waits", ["for a result", "for a time"])
async def test_a_run_whose_time_has_come_goes_on_while_the_application_lives(waits: str) -> None:
    async def closed(call: Call, _: RunContext) -> Verdict | None:
        return None if call.woken or call.action.name != "post" else later(0.1)

    @tool
    def post() -> str:
        """Post a letter."""
        return "posted"

    scan = external("scan", "Scan.", timeout=0.1, fallback="none")
    move = act("scan") if waits == "for a result" else act("post")
    guard: Any = closed
    agent = Agent(
        ScriptedModel([move, finish("done")]), [scan, post], guards=[guard, Provenance("off")],
        store=MemoryStore(),
    )  # fmt: skip
    async with serving(agent):
        held = await run(agent, "?")
        with anyio.fail_after(PATIENCE):
            while not await went_on(agent, held.run_id, "1.1"):
                await anyio.sleep(0.05)
    result = await result_of(agent, held.run_id)
    assert (result.status, result.answer) == ("answered", "done")
    await replay(agent, held.run_id)


@pytest.mark.parametrize("named", ["SQLite", "memory"])
async def test_a_run_that_is_ruled_on_from_elsewhere_goes_on_while_the_application_lives(
    named: str, tmp_path: Path
) -> None:
    """Each time, and one that it had not begun itself."""
    where: Any = tmp_path / "own.sqlite" if named == "SQLite" else MemoryStore()
    agent = clerk(act("send", text="one"), act("send", text="two"), store=where)
    before = await run(agent, "Write.")
    async with serving(agent):
        within = await run(agent, "Write again.")
        for run_id in (before.run_id, within.run_id) * 2:
            (waiting,) = (await result_of(agent, run_id)).pending_approvals
            await rule(waiting.id, store=where, allow=True)
            with anyio.fail_after(PATIENCE):
                while not await went_on(agent, run_id, waiting.call):
                    await anyio.sleep(0.05)
        for run_id in (before.run_id, within.run_id):
            assert (await result_of(agent, run_id)).status == "answered"
            await replay(agent, run_id)


async def went_on(agent: Agent[str], run_id: str, key: str) -> bool:
    """Whether a run has stopped with this call made."""
    record = await read(run_id, store=agent.store)
    return record.stop is not None and record.call(key).observation is not None


async def test_agents_of_different_stores_are_not_served_as_one(tmp_path: Path) -> None:
    one, other = clerk(store=tmp_path / "one.sqlite"), clerk(store=tmp_path / "other.sqlite")
    with pytest.raises(ConfigError, match="different stores: serve each, or give store="):
        serving(one, other)
    async with serving(one, other, store=tmp_path / "one.sqlite"):
        pass


async def test_a_store_is_closed_where_its_block_ends(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store:
        await run(clerk(), "?", store=store)
    with pytest.raises(Exception, match="closed"):
        await run(clerk(), "?", store=store)
    async with MemoryStore() as memory:
        await run(clerk(), "?", store=memory)
    assert len(await list_runs(store=memory)) == 1


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, kind and data of each event."""
    matches = re.findall(r"(?:id: (.*)\n)?event: (.*)\ndata: (.*)\n\n", text)
    return [(number, kind, json.loads(data)) for number, kind, data in matches]


async def test_a_stream_is_told_as_server_sent_events(tmp_path: Path) -> None:
    agent = clerk(store=tmp_path / "own.sqlite")
    async with serving(agent):
        events = await start(agent, "?\n\nevent: forged", run_id="told")
        told = events_of("".join([each async for each in events.sse("all")]))
    entries = [data for _, kind, data in told if kind == "Entry"]
    assert [each["event"] for each in entries] == ["started", "thought", "observation", "stop"]
    assert told[-1][0] == str(events.position)
    assert len(await read("told", store=agent.store)) == 4


async def test_what_ends_the_work_is_told_last_without_an_id(tmp_path: Path) -> None:
    def broken(_: Any) -> Any:
        raise ModelError("the provider is away")

    agent = clerk(broken, store=tmp_path / "own.sqlite")
    async with serving(agent):
        events = await start(agent, "?")
        told = events_of("".join([each async for each in events.sse()]))
    assert told[-1] == ("", "Error", {"error": "the provider is away"})
    assert (await list_runs(store=agent.store))[0].status == "open"


def test_an_agent_of_a_file_has_its_store(tmp_path: Path) -> None:
    (file := tmp_path / "agent.toml").write_text('model = "offline"\nstore = "runs.sqlite"\n')
    agent, where = load_agent(file)
    assert agent.store == where
    assert load_agent(file, store="other.sqlite").agent.store == "other.sqlite"


@pytest.mark.parametrize("late", [False, True], ids=["at once", "later"])
async def test_a_run_taken_up_whose_provider_fails_is_logged_as_left_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, late: bool
) -> None:
    asked: list[str] = []

    class Down:
        info = ModelInfo("down:x")

        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            asked.append(prompt.purpose)
            if late and len(asked) > 1:
                await served.wait()
            raise ModelError("no such key")

    served = anyio.Event()
    agent = Agent(Down(), store=tmp_path / "own.sqlite")
    with pytest.raises(ModelError):
        await run(agent, "?", run_id="left")
    async with serving(agent) as app:
        served.set()
        await app.wait()
    assert len(asked) == 2
    (told,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert told.getMessage().startswith("run left stays open: resume it")
    assert "no such key" in caplog.text


@tool(effect="unsafe")
def pay(amount: int, ctx: RunContext[str]) -> str:
    """Pay an amount."""
    return f"paid {amount} at {ctx.deps}"


def banker(bank: str, **fields: Any) -> Agent[str, str]:
    script = ScriptedModel([act("pay", amount=1), finish("done")])
    guards = [Provenance("off")]
    return Agent(script, tools=[pay], deps=lambda _: bank, guards=guards, **fields)


async def test_agents_that_differ_by_their_deps_alone_are_not_at_work_together() -> None:
    store = MemoryStore()
    live, trial = banker("live"), banker("trial")
    with pytest.raises(ConfigError, match="a record cannot tell whose run it is"):
        serving(live, trial, store=store)
    with pytest.raises(ConfigError, match="a record cannot tell whose run it is"):
        await work(WorkerConfig(store=store, agents=[live, trial], until_idle=True))

    named = banker("trial", prompt="You are on trial.")
    run_id = await submit(named, "Pay.", store=store)
    await work(WorkerConfig(store=store, agents=[live, named], until_idle=True))
    (call, _) = (await read(run_id, store=store)).calls
    assert call.observation
    assert call.observation.text == "paid 1 at trial"
