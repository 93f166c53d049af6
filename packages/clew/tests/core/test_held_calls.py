"""Calls that hold themselves for a person, calls that go on as a task, and guards of a tool."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    MemoryStore,
    Observation,
    Tool,
    Trajectory,
    Verdict,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.interfaces import CALL, Append, Attempt, CallContext, Effect, Judged, Left, Ruling
from clew.testing import ScriptedModel, act, say
from clew.tools.fallback import with_fallback

FORM = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@dataclass
class Server:
    """A service that asks for a size before it makes a box, and remembers what it made."""

    made: list[Any] = field(default_factory=list)
    effect: Effect = "unsafe"

    async def call(self, args: dict[str, Any], key: str) -> Any:
        context = CALL.get()
        assert context is not None
        if context.answer is None:
            return Verdict("hold", "which size?", asks=FORM)
        self.made.append(context.answer)
        return f"made {context.answer['size']}"

    @property
    def tool(self) -> Tool:
        return Tool("box", "Make a box.", {"type": "object"}, self.call, effect=self.effect)


def agent_with(*tools: Tool, lines: int = 1) -> Agent:
    calls = [act(tools[0].name) for _ in range(lines)]
    return Agent(ScriptedModel([*calls, say("done")]), tools)


def box() -> Any:
    """Make a box, once somebody has given the size."""
    context = CALL.get()
    assert context is not None
    return Verdict("hold", "which size?", asks=FORM) if context.answer is None else context.answer


@pytest.mark.parametrize("pair", [False, True])
async def test_a_function_asks_a_person_as_well_and_in_a_pair(*, pair: bool) -> None:
    made, store = tool(box), MemoryStore()
    agent = agent_with(with_fallback(made, tool(name="bag")(box)) if pair else made)
    held = await run(agent, "A box!", store=store)
    await rule(f"{held.run_id}:1.1", allow=True, answer={"size": 3}, store=store)
    assert (await resume(agent, held.run_id, store=store)).answer == "done"
    seen = (await read(held.run_id, store=store)).call("1.1").observation
    assert seen is not None
    assert seen.content == {"size": 3}


@pytest.mark.parametrize("effect", ["read", "idempotent", "unsafe"])
async def test_a_call_asks_a_person_and_goes_on_with_the_answer(effect: Effect) -> None:
    server, store = Server(effect=effect), MemoryStore()
    agent = agent_with(server.tool)
    held = await run(agent, "A box!", store=store)
    assert (held.status, server.made) == ("held", [])
    [waiting] = await pending_approvals(store=store)
    assert (waiting.why, waiting.asks) == ("which size?", FORM)
    with pytest.raises(ConfigError, match="it asks for an answer"):
        await rule(f"{held.run_id}:1.1", allow=True, store=store)
    with pytest.raises(ConfigError, match="size"):
        await rule(f"{held.run_id}:1.1", allow=True, answer={"size": "big"}, store=store)
    await rule(f"{held.run_id}:1.1", allow=True, answer={"size": 3}, store=store)
    done = await resume(agent, held.run_id, store=store)
    assert (done.status, server.made) == ("answered", [{"size": 3}])
    record = await read(held.run_id, store=store)
    assert record.call("1.1").observation == Observation(
        "1.1", "made 3", effect=effect, trust="untrusted"
    )
    attempts = [e.event for e in record.entries if isinstance(e.event, Attempt)]
    afters = [] if effect == "read" else ["", "a person answered"]
    assert [one.after for one in attempts] == afters
    again = await replay(agent, held.run_id, store=store)
    assert len(again.trajectory) == len(record)
    assert server.made == [{"size": 3}]


async def test_a_call_that_asked_and_is_refused_is_not_made() -> None:
    server, store = Server(), MemoryStore()
    agent = agent_with(server.tool)
    held = await run(agent, "A box!", store=store)
    await rule(f"{held.run_id}:1.1", allow=False, why="no boxes", store=store)
    done = await resume(agent, held.run_id, store=store)
    assert (done.status, server.made) == ("answered", [])
    seen = (await read(held.run_id, store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.code, seen.outcome) == ("denied", "unknown")
    assert "no boxes" in seen.text
    assert (await replay(agent, held.run_id, store=store)).trajectory


async def test_what_asks_nothing_takes_no_answer() -> None:
    async def guard(call: Call, trajectory: Trajectory) -> Verdict:
        return Verdict("hold", "may it?")

    store = MemoryStore()
    agent = agent_with(Server().tool).replace(guards=[guard])
    held = await run(agent, "A box!", store=store)
    with pytest.raises(ConfigError, match="it asks nothing"):
        await rule(f"{held.run_id}:1.1", allow=True, answer={"size": 1}, store=store)


@dataclass
class Works:
    """A service whose work goes on as a task when nobody waits for it."""

    begun: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def call(self, args: dict[str, Any], key: str) -> str:
        context = CALL.get()
        assert isinstance(context, CallContext)
        task = context.task
        if not task:
            task = f"task-{len(self.begun) + 1}"
            self.begun.append(task)
            await context.begun(task)
        self.asked.append(task)
        return f"{task} is done"


@pytest.mark.parametrize("effect", ["read", "unsafe"])
async def test_a_task_is_asked_for_after_a_crash_and_not_begun_again(effect: Effect) -> None:
    works, store = Works(), MemoryStore()
    tool = Tool("work", "Work.", {"type": "object"}, works.call, effect=effect)
    agent = agent_with(tool)
    whole = await run(agent, "Work!", store=store)
    entries = (await read(whole.run_id, store=store)).entries
    at = next(i for i, e in enumerate(entries) if isinstance(e.event, Attempt) and e.event.task)
    lines = await store.read(whole.run_id)
    cut = MemoryStore()  # with what a process leaves that died then
    epoch = await cut.create(whole.run_id)
    await cut.append(Append(whole.run_id, epoch, tuple(lines[: at + 1])))
    done = await resume(agent_with(tool), whole.run_id, store=cut)
    assert done.status == "answered"
    assert works.begun == ["task-1"]
    assert works.asked == ["task-1", "task-1"]
    record = await read(whole.run_id, store=cut)
    attempts = [e.event for e in record.entries if isinstance(e.event, Attempt)]
    assert [(one.number, one.task) for one in attempts][-1] == (2, "task-1")
    assert len(record.call("1.1").attempts) == 2
    for where in (store, cut):
        again = await replay(agent_with(tool), whole.run_id, store=where)
        assert len(again.trajectory) == len(await where.read(whole.run_id))


async def test_a_guard_of_a_tool_judges_its_calls_only() -> None:
    judged: list[str] = []

    async def guard(call: Call, trajectory: Trajectory) -> Verdict | None:
        judged.append(call.action.name)
        return Verdict("deny", "not this one") if call.action.name == "a" else None

    async def call(args: dict[str, Any], key: str) -> str:
        return key

    tools = [
        Tool(name, name, {"type": "object"}, call, guard=guard if name in "ab" else None)
        for name in "abc"
    ]
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("a"), act("b"), act("c"), say("done")]), tools)
    done = await run(agent, "Go!", store=store)
    assert judged == ["a", "b"]
    record = await read(done.run_id, store=store)
    assert [(it.observation or Observation()).ok for it in record.calls] == [False, True, True]
    assert [e.event.by for e in record.entries if isinstance(e.event, Judged)]
    assert (await replay(agent, done.run_id, store=store)).trajectory
    assert judged == ["a", "b"]


async def test_a_call_knows_its_run_and_tells_how_far_it_is() -> None:
    seen: list[tuple[int, Left]] = []

    class Watching:
        def __init__(self) -> None:
            self.news: list[tuple[str, str]] = []

        def token(self, text: str) -> None: ...
        def entry(self, entry: object) -> None: ...
        def progress(self, call: str, text: str) -> None:
            self.news.append((call, text))

    async def call(args: dict[str, Any], key: str) -> str:
        context = CALL.get()
        assert context is not None
        seen.append((len(context.record.steps), context.left()))
        context.progress("half way")
        return "ok"

    listener = Watching()
    agent = agent_with(Tool("look", "Look.", {"type": "object"}, call, effect="read"), lines=2)
    await run(agent, "Look!", store=MemoryStore(), listener=listener)
    assert [steps for steps, _ in seen] == [1, 2]
    assert seen[0][1].steps - seen[1][1].steps == 1
    assert listener.news == [("1.1", "half way"), ("2.1", "half way")]
    assert Ruling("1.1", allow=True).answer is None
