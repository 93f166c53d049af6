"""Deps reach every part that asks, in whichever process a run goes on; none is recorded."""

import logging
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    Instructions,
    MemoryStore,
    ReplayError,
    RunContext,
    SqliteStore,
    Verdict,
    answer,
    batch,
    delegate,
    fork,
    list_runs,
    pending_approvals,
    read,
    replay,
    resume,
    rewind,
    rule,
    run,
    start,
    stream,
    submit,
    sync,
    tool,
)
from clew.agent_files import load_agent
from clew.agent_files.read import read_agent_file
from clew.agent_files.spec import origin
from clew.deps import RunIdentity
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish
from clew.tools.fallback import with_fallback
from clew.tools.process import process_tool
from clew.workers import WorkerConfig, work
from tests.deps.shop import (
    REFUND,
    SECRET,
    SHOPS,
    Shop,
    clerk,
    held,
    look,
    open_shop,
    open_shop_later,
    refund,
)

USER = {"user": "u17"}


async def test_a_tool_gets_them_with_the_key_of_its_call() -> None:
    shop = Shop("Ann")
    result = await run(clerk(act("look", order="A7"), REFUND), "?", store=MemoryStore(), deps=shop)
    assert result.status == "answered"
    assert shop.seen == ["look A7 for Ann", f"refund A7 for Ann by {result.run_id}:2.1"]
    assert "ctx" not in refund.parameters["properties"]


async def test_the_context_says_where_it_is(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    @tool(effect="read")
    async def where(ctx: RunContext) -> str:
        """Say where."""
        told.append((ctx.run_id, ctx.step, ctx.call, dict(ctx.labels), ctx.owner, ctx.left.steps))
        told.append((ctx.deps, ctx.record.goal, repr(ctx)))
        ctx.log("in %s", "Oslo")
        ctx.progress("half way")
        return "here"

    class Watching:
        def token(self, text: str) -> None: ...
        def entry(self, entry: Any) -> None: ...
        def progress(self, call: str, text: str) -> None:
            told.append((call, text))

    agent: Agent[str] = Agent(ScriptedModel([act("where"), finish("ok")]), tools=[where])
    with caplog.at_level(logging.INFO, "clew.run"):
        result = await run(
            agent, "Where?", store=MemoryStore(), labels=USER, owner="Eve", listener=Watching()
        )
    name = result.run_id
    assert told == [
        (name, 1, "1.1", USER, "Eve", 14),
        (None, "Where?", f"<RunContext {name}:1.1>"),
        ("1.1", "half way"),
    ]
    (line,) = [one for one in caplog.records if one.name == "clew.run"]
    assert (line.getMessage(), line.run, line.call) == ("in Oslo", name, "1.1")  # type: ignore[attr-defined] # extra fields
    assert line.funcName == "where"


async def test_guards_checks_rules_and_tails_get_them_in_the_place_of_the_record() -> None:
    shop = Shop("Ann")

    def guard(call: Call, ctx: RunContext[Shop]) -> Verdict | None:
        shop.seen.append(f"guard {ctx.key == f'{ctx.run_id}:{call.key}'} {ctx.deps.user}")
        assert ctx.left.tool_calls
        return None

    async def check(value: str, ctx: RunContext[Shop]) -> str | None:
        shop.seen.append(f"check {ctx.step} {ctx.deps.user} {len(ctx.record.steps)}")
        return None if value == "done" else "no"

    def rule_of(args: dict[str, Any], ctx: RunContext[Shop]) -> bool:
        shop.seen.append(f"rule {args['order']} {ctx.deps.user} {ctx.call}")
        return False

    def tail(ctx: RunContext[Shop]) -> str:
        shop.seen.append(f"tail {ctx.step} {ctx.left.steps}")
        return f"The person is {ctx.deps.user}."

    def looking(prompt: Any) -> Any:
        shop.seen.append(prompt.tail[-1].text.splitlines()[-1])
        return REFUND

    agent = clerk(
        looking, guards=[guard], checks=[check], tools=[replace(refund, approve=rule_of)],
        prompt=Instructions(tail=tail),
    )  # fmt: skip
    result = await run(agent, "?", store=MemoryStore(), deps=shop)
    assert result.status == "answered"
    assert shop.seen == [
        "tail 0 15", "NOTE: The person is Ann.", "guard True Ann", "rule A7 Ann 1.1",
        f"refund A7 for Ann by {result.run_id}:1.1",
        "tail 1 14", "guard True Ann", "check 2 Ann 2",
    ]  # fmt: skip
    parts = agent.spec.parts
    assert [each for each in parts["checks"] if each.endswith(".check")]
    assert [each for each in parts["guards"] if each.endswith(".guard")]


def guarded(call: Call, ctx: RunContext[Shop]) -> Verdict | None:
    """A guard that wants deps."""
    return None


def checked(value: str, ctx: RunContext[Shop]) -> str | None:
    """A check that wants deps."""
    return None


def ruled(args: dict[str, Any], ctx: RunContext[Shop]) -> bool:
    """A rule that wants deps."""
    return False


def told(ctx: RunContext[Shop]) -> str:
    """A tail that wants deps."""
    return ""


@tool(effect="read")
def plain() -> str:
    """Do it."""
    return "done"


@tool(effect="read")
def look_elsewhere(order: str) -> str:
    """Look an order up."""
    return order


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"tools": [refund]}, "the tool refund"),
        ({"tools": [], "guards": [guarded]}, "the guard guarded"),
        ({"tools": [], "checks": [checked]}, "the check checked"),
        ({"tools": [replace(plain, approve=ruled)]}, "the approval rule ruled"),
        ({"tools": [replace(plain, guard=guarded)]}, "the guard guarded"),
        ({"tools": [], "prompt": Instructions(tail=told)}, "the tail told"),
        ({"tools": [with_fallback(look_elsewhere, replace(look, name="other"))]}, "the tool other"),
        (
            {"tools": [delegate(clerk(), name="ask", description="Ask.", effect="unsafe")]},
            "the tool refund",
        ),
    ],
    ids=["tool", "guard", "check", "rule", "guard of a tool", "tail", "fallback", "sub-agent"],
)  # fmt: skip
async def test_a_run_whose_parts_want_them_does_not_begin_without(
    fields: dict[str, Any], part: str
) -> None:
    agent, store = Agent[str, Any](ScriptedModel([finish("x")]), **fields), MemoryStore()
    with pytest.raises(ConfigError, match=rf"{part} takes RunContext\[Shop\]\): give deps="):
        await run(agent, "?", store=store)
    assert await list_runs(store=store) == []
    with pytest.raises(ConfigError, match=rf"{part} takes RunContext\[Shop\], and .* 3 \(int\)"):
        await run(agent, "?", store=store, deps=3)
    assert await list_runs(store=store) == []


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[SqliteStore]:
    """A store, closed in the end."""
    store = SqliteStore(folder / "runs.sqlite")
    yield store
    await store.close()


async def _held(store: SqliteStore) -> str:
    """A run that waits for a ruling."""
    given = await run(clerk(guards=[held]), "?", store=store, labels=USER, deps=Shop("Ann"))
    assert given.status == "held"
    return given.run_id


Ways = Callable[[Agent[str, Shop], SqliteStore, str], Awaitable[Any]]


async def _streamed(agent: Agent[str, Shop], store: SqliteStore, run_id: str) -> None:
    async with stream(agent, "?", store=store) as events:
        async for _ in events:
            pass


WAYS: dict[str, Ways] = {
    "run": lambda agent, store, _: run(agent, "?", store=store),
    "start": lambda agent, store, _: start(agent, "?", store=store),
    "stream": _streamed,
    "batch": lambda agent, store, _: batch(agent, ["?"], store=store),
    "submit": lambda agent, store, _: submit(agent, "?", store=store),
    "resume": lambda agent, store, run_id: resume(agent, run_id, store=store),
    "go on": lambda agent, store, run_id: start(agent, run_id=run_id, store=store),
    "fork": lambda agent, store, run_id: fork(agent, run_id, at=0, store=store),
}


@pytest.mark.parametrize("way", WAYS)
async def test_without_them_one_line_says_so_and_nothing_is_lost(way: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        run_id = await _held(store)
        before = await read(run_id, store=store)
        with pytest.raises(ConfigError, match=r"the tool refund takes RunContext\[Shop\]") as error:
            await WAYS[way](clerk(guards=[held]), store, run_id)
        assert "\n" not in str(error.value)
        assert [each.run_id for each in await list_runs(store=store)] == [run_id]
        assert len(await read(run_id, store=store)) == len(before)
        (waiting,) = await pending_approvals(store=store)
        shop = Shop("Bob")
        agent = clerk(guards=[held])
        result = await rule(waiting.id, allow=True, store=store, agent=agent, deps=shop)
        assert (result.status, shop.seen) == ("answered", [f"refund A7 for Bob by {run_id}:1.1"])


async def test_a_ruling_waits_until_somebody_has_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        run_id = await _held(store)
        (waiting,) = await pending_approvals(store=store)
        with pytest.raises(ConfigError, match="needs deps"):
            await rule(waiting.id, allow=True, store=store, agent=clerk(guards=[held]))
        shop = Shop("Bob")
        await resume(clerk(guards=[held]), run_id, store=store, deps=shop)
        assert shop.seen == [f"refund A7 for Bob by {run_id}:1.1"]


@pytest.mark.parametrize("make", [open_shop, open_shop_later])
async def test_a_factory_makes_them_of_the_recorded_labels(make: Any, tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        begun = await run(
            clerk(guards=[held], deps=make), "?", store=store, labels=USER, owner="Eve"
        )
        (waiting,) = await pending_approvals(store=store)
        await rule(waiting.id, allow=True, store=store)
        SHOPS.clear()
        await resume(clerk(guards=[held], deps=make), begun.run_id, store=store)
        (shop,) = SHOPS.values()
        assert shop.seen == [f"refund A7 for u17 of Eve by {begun.run_id}:1.1"]
        other = await fork(clerk(guards=[held], deps=make), begun.run_id, at=1, store=store)
        assert SHOPS[other.run_id].user == "u17 of Eve"
        body = b"".join(one.read_bytes() for one in tmp_path.iterdir() if one.is_file())
        assert SECRET.encode() not in body
        assert b"Shop" not in body


async def test_a_worker_makes_them_of_the_recorded_labels(tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    agent = clerk(deps=open_shop)
    run_id = await submit(agent, "?", store=where, labels=USER)
    SHOPS.clear()
    await work(WorkerConfig(store=where, agents=[agent], only=True, until_idle=True))
    assert SHOPS[run_id].seen == [f"refund A7 for u17 of nobody by {run_id}:1.1"]
    assert (await read(run_id, store=where)).stop


async def test_a_worker_whose_factory_fails_leaves_the_run_to_others(tmp_path: Path) -> None:
    where, told = tmp_path / "runs.sqlite", list[str]()

    def broken(run: RunIdentity) -> Shop:
        raise OSError("the database is away")

    run_id = await submit(clerk(deps=open_shop), "?", store=where, labels=USER)
    before = len(await read(run_id, store=where))
    leaving = anyio.Event()

    def hear(event: Any) -> None:
        if event.what == "refused":
            told.append(event.text)
            leaving.set()

    agent = clerk(deps=broken)
    await work(WorkerConfig(store=where, agents=[agent]), on_event=hear, leaving=leaving)
    assert told[0].endswith("failed, and nothing was begun: OSError: the database is away")
    assert run_id in told[0]
    assert len(await read(run_id, store=where)) == before
    await work(WorkerConfig(store=where, agents=[clerk(deps=open_shop)], until_idle=True))
    assert SHOPS[run_id].seen


async def test_many_runs_at_once_have_each_their_own() -> None:
    @tool(effect="read")
    async def mine(ctx: RunContext[Shop]) -> str:
        """Say whose it is."""
        await anyio.lowlevel.checkpoint()
        return ctx.deps.user

    agent = Agent[str, Shop](
        ScriptedModel([act("mine"), finish("ok")]), tools=[mine], deps=lambda run: Shop(run.run_id)
    )
    store = MemoryStore()
    results = await batch(agent, [f"q{number}" for number in range(30)], store=store, at_once=10)
    for each in results:
        record = await read(each.run_id, store=store)
        (call,) = record.steps[0].calls
        assert call.observation
        assert call.observation.text == each.run_id


async def test_a_run_below_has_those_of_the_run_it_serves_or_its_own() -> None:
    below = clerk()
    ask = delegate(below, name="ask", description="Ask a clerk.")
    shop = Shop("Ann")
    outer = clerk(act("ask", task="Refund A7"), tools=[ask])
    result = await run(outer, "?", store=MemoryStore(), deps=shop)
    assert shop.seen == [f"refund A7 for Ann by {result.run_id}-1.1:1.1"]

    own = delegate(clerk(deps=lambda run: Shop("own")), name="ask", description="Ask a clerk.")
    assert clerk(tools=[own]).deps_wanted == ()
    result = await run(clerk(act("ask", task="Refund A7"), tools=[own]), "?", store=MemoryStore())
    assert result.status == "answered"


async def test_one_factory_makes_them_once_for_a_run_and_those_below() -> None:
    made: list[str] = []

    def make(run: RunIdentity) -> Shop:
        made.append(run.run_id)
        return Shop("Ann")

    ask = delegate(clerk(deps=make), name="ask", description="Ask a clerk.")
    outer = clerk(act("ask", task="Refund A7"), tools=[ask], deps=make)
    result = await run(outer, "?", store=MemoryStore())
    assert made == [result.run_id]
    given = Shop("Bob")
    outer = clerk(act("ask", task="Refund A7"), tools=[ask], deps=make)
    await run(outer, "?", store=MemoryStore(), deps=given)
    assert len(given.seen) == 1


async def test_a_replay_needs_none_but_for_a_tail() -> None:
    store = MemoryStore()
    agent = clerk(guards=[guarded], checks=[checked])
    result = await run(agent, "?", store=store, deps=(shop := Shop("Ann")))
    await replay(agent, result.run_id, store=store)
    assert len(shop.seen) == 1


def reminder(ctx: RunContext[Shop]) -> str:
    """Whose order it is, said anew in every prompt."""
    return f"The customer is {ctx.deps.user} (run {ctx.run_id}, {ctx.labels})."


@pytest.mark.parametrize("ends", [True, False])
async def test_a_replay_calls_the_tail_with_them(*, ends: bool, tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        prompt = Instructions(tail=reminder)
        guards = () if ends else (held,)
        agent = clerk(guards=guards, prompt=prompt, deps=open_shop)
        run_id = (await run(agent, "?", store=store, labels=USER, owner="Eve")).run_id
        SHOPS.clear()
        length = len(await read(run_id, store=store))
        replayed = await replay(agent, run_id, store=store)
        assert len(replayed.trajectory) == length
        assert (SHOPS[run_id].user, SHOPS[run_id].seen) == ("u17 of Eve", [])
        bare = clerk(guards=guards, prompt=prompt)
        await replay(bare, run_id, store=store, deps=Shop("u17 of Eve"))
        with pytest.raises(ReplayError, match=r"prints\.tail"):
            await replay(bare, run_id, store=store, deps=Shop("Bob"))
        for wrong in (None, 3):
            with pytest.raises(
                ConfigError, match=r"tail reminder takes RunContext\[Shop\]"
            ) as error:
                await replay(bare, run_id, store=store, deps=wrong)  # type: ignore[misc] # it is wrong
            assert "\n" not in str(error.value)


async def test_a_rewound_run_goes_on_with_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        shop = Shop("Ann")
        agent = clerk(act("look", order="A7"), act("look", order="A8"), deps=open_shop)
        result = await run(agent, "?", store=store, labels=USER, deps=shop)
        await rewind(result.run_id, to=1, lesson="Look elsewhere.", store=store)
        again = clerk(*[act("look", order=f"A9{number}") for number in range(4)], deps=open_shop)
        await resume(again, result.run_id, say="Go on.", store=store)
        assert {each[:7] for each in SHOPS[result.run_id].seen} == {"look A9"}


async def test_an_answer_of_somebody_else_goes_on_with_them() -> None:
    @tool(external=True)
    def sign(text: str) -> str:
        """Have it signed."""
        raise AssertionError

    store, shop = MemoryStore(), Shop("Ann")
    agent = clerk(act("sign", text="x"), REFUND, tools=[sign, refund])
    waiting = await run(agent, "?", store=store, deps=shop)
    assert waiting.status == "held"
    done = await answer(f"{waiting.run_id}:1.1", "Eve", store=store, agent=agent, deps=shop)
    assert done.status == "answered"
    assert shop.seen == [f"refund A7 for Ann by {waiting.run_id}:2.1"]


def test_without_an_event_loop_they_are_given_likewise() -> None:
    shop = Shop("Ann")
    result = sync.run(clerk(), "?", store=MemoryStore(), deps=shop)
    assert shop.seen == [f"refund A7 for Ann by {result.run_id}:1.1"]


async def test_what_is_no_factory_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(ConfigError, match=r"deps is .*Shop.*: give a function of the run"):
        clerk(deps=Shop("Ann"))


def test_a_function_is_called_in_a_test_with_a_context_of_ones_own() -> None:
    shop = Shop("Ann")
    ctx = RunContext(shop, run_id="r", call="3.2", labels=USER, owner="Eve")
    assert refund("A7", 30, ctx) == "refunded 30"
    assert shop.seen == ["refund A7 for Ann by r:3.2"]
    assert (ctx.step, ctx.labels, ctx.owner) == (3, USER, "Eve")
    ctx.progress("nobody hears")
    with pytest.raises(ConfigError, match=r"left=Left"):
        _ = ctx.left
    with pytest.raises(ConfigError, match="none is made here"):
        _ = RunContext(None).key


def where_is(text: str, ctx: RunContext) -> str:
    """Say where it is."""
    return f"{ctx.key} {dict(ctx.labels)} {ctx.owner} {ctx.deps}"


async def test_a_process_of_its_own_is_told_the_key_and_the_labels() -> None:
    agent: Agent[str] = Agent(
        ScriptedModel([act("where_is", text="x"), finish("ok")]),
        tools=[process_tool(where_is, effect="read")],
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    result = await run(agent, "?", store=store, labels=USER, owner="Eve")
    (call,) = (await read(result.run_id, store=store)).calls[:1]
    assert call.observation
    assert call.observation.text == f"{result.run_id}:1.1 {USER} Eve None"


def refund_there(order: str, ctx: RunContext[Shop]) -> str:
    """Refund it."""
    return order


def test_deps_do_not_reach_a_process_of_its_own() -> None:
    with pytest.raises(ConfigError, match="process of its own, where no deps are"):
        process_tool(refund_there)


def test_two_contexts_are_refused() -> None:
    def twice(one: RunContext, other: RunContext) -> str:
        """Do it."""
        return ""

    with pytest.raises(ConfigError, match="one and other are both a RunContext: keep one"):
        tool(twice)


async def test_a_file_names_the_factory_and_a_worker_makes_the_agent_of_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_of_a_file.py").write_text(SHOP_OF_A_FILE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shop_of_a_file", raising=False)
    (file := tmp_path / "agent.toml").write_text(
        'model = "offline"\ntools = ["calc"]\nchecks = ["shop_of_a_file:check"]\n'
        'deps = "shop_of_a_file:deps"\nstore = "runs.sqlite"\n',
        "utf-8",
    )
    agent, where = load_agent(file)
    result = await run(agent, "What is 6 * 7?", labels=USER)
    assert (tmp_path / "seen.txt").read_text("utf-8") == f"u17 {result.run_id}\n"
    spec = read_agent_file(file)
    run_id = await submit(agent, "What is 6 * 7?", labels={"user": "u18"}, origin=origin(spec))
    await work(WorkerConfig(store=where, until_idle=True))
    assert f"u18 {run_id}" in (tmp_path / "seen.txt").read_text("utf-8")
    file.write_text('model = "offline"\ndeps = "shop_of_a_file:missing"\n', "utf-8")
    with pytest.raises(ConfigError, match=r"line 2: the factory of deps .* no 'missing'"):
        load_agent(file)


SHOP_OF_A_FILE = """
from pathlib import Path
from clew import RunContext

def deps(run):
    return run.labels["user"]

def check(answer: str, ctx: RunContext[str]) -> str | None:
    with (Path(__file__).parent / "seen.txt").open("a") as seen:
        seen.write(f"{ctx.deps} {ctx.run_id}\\n")
    return None
"""
