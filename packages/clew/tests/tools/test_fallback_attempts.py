"""What the record says of a call that is handed on: an attempt before each effect, at every cut."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, Tool, ToolError, read, replay, resume, run
from clew.core.values import encode
from clew.interfaces import CALL, Append, Attempt, Effect
from clew.testing import ScriptedModel, act, say
from clew.tools import Attempts
from clew.tools.fallback import with_fallback

NOTHING = {"type": "object", "properties": {}}


class World:
    """What really happened, and what was on record then."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.tried: list[list[str]] = []

    def tool(self, name: str, effect: Effect, *, fails: bool = False, task: str = "") -> Tool:
        """A tool that has its effect, or certainly does nothing; or works in a task."""

        async def call(args: dict[str, Any], key: str) -> str:
            made = CALL.get()
            assert made is not None
            if fails:
                raise ToolError(f"{name} is down")
            self.tried.append(attempts(made.record.entries))
            if task and not made.task:
                await made.begun(task)
            self.done.append(f"{name} {made.task}".strip())
            return f"{name} did it"

        return Tool(name, f"Does it by {name}.", NOTHING, call, effect=effect, attempts=Attempts(5))


def attempts(entries: Any) -> list[str]:
    return [entry.event.tool for entry in entries if isinstance(entry.event, Attempt)]


def agent(tool: Tool, *, thought: bool = False) -> Agent[str]:
    """An agent whose model calls the tool, unless it has thought so before."""
    return Agent(
        ScriptedModel([*([] if thought else [act(tool.name)]), say("Done."), say("Done.")]),
        tools=[tool],
    )


@pytest.mark.parametrize(
    ("first", "second", "tried"),
    [
        ("unsafe", "unsafe", ["web", "wiki"]),
        ("idempotent", "unsafe", ["web", "wiki"]),
        ("read", "idempotent", ["web", "wiki"]),
        ("unsafe", "read", ["web"]),
        ("read", "pure", []),
    ],
)
async def test_an_effect_of_the_other_has_an_attempt_before_it(
    first: Effect, second: Effect, tried: list[str]
) -> None:
    world, store = World(), MemoryStore()
    pair = with_fallback(world.tool("web", first, fails=True), world.tool("wiki", second))
    result = await run(agent(pair), "go", store=store)
    assert world.tried == [tried]
    record = await read(result.run_id, store=store)
    again = await replay(Agent(ScriptedModel([]), tools=[pair]), result.run_id, store=store)
    events = [[encode(one.event) for one in each.entries] for each in (again.trajectory, record)]
    assert events[0] == events[1]
    assert len(world.done) == 1


@pytest.mark.parametrize("effect", ["unsafe", "idempotent"])
async def test_wherever_it_is_cut_no_effect_happens_twice(effect: Effect) -> None:
    """An entry is the last one; what came after it may have happened, or not."""
    world, store = World(), MemoryStore()
    pair = with_fallback(world.tool("web", "unsafe", fails=True), world.tool("wiki", effect))
    whole = (await run(agent(pair), "go", store=store)).run_id
    lines = await store.read(whole)
    events = [entry.event for entry in (await read(whole, store=store)).entries]
    for last in range(1, len(lines)):
        cut = MemoryStore()
        await cut.append(Append(whole, await cut.create(whole), tuple(lines[:last])))
        before = attempts((await read(whole, store=cut)).entries)
        world.done.clear()
        await resume(agent(pair, thought=last > 1), whole, store=cut)
        record = await read(whole, store=cut)
        seen = record.call("1.1").observation
        assert seen is not None
        if before and isinstance(events[last - 1], Attempt):
            assert (seen.outcome, world.done) == ("unknown", [])
            assert f"{before[-1]} was begun" in seen.text
        else:
            assert len(world.done) == (0 if before else 1)
        await replay(Agent(ScriptedModel([]), tools=[pair]), whole, store=cut)


@pytest.mark.parametrize("order", ["inner", "outer"])
async def test_of_three_tools_the_one_that_began_a_task_is_asked_for_it(order: str) -> None:
    world, store = World(), MemoryStore()
    one = world.tool("one", "unsafe", fails=True)
    two = world.tool("two", "unsafe", fails=True)
    three = world.tool("three", "unsafe", task="t7")
    inner = with_fallback(one, with_fallback(two, three))
    pair = inner if order == "inner" else with_fallback(with_fallback(one, two), three)
    run_id = (await run(agent(pair), "go", store=store)).run_id
    entries = (await read(run_id, store=store)).entries
    tried = [entry.event for entry in entries if isinstance(entry.event, Attempt)]
    assert [(each.tool, each.task, each.number) for each in tried] == [
        ("one", "", 1), ("two", "", 1), ("three", "", 1), ("three", "t7", 1)
    ]  # fmt: skip
    await replay(Agent(ScriptedModel([]), tools=[pair]), run_id, store=store)
    lines = await store.read(run_id)
    at = max(n for n, entry in enumerate(entries) if isinstance(entry.event, Attempt))
    cut = MemoryStore()
    await cut.append(Append(run_id, await cut.create(run_id), tuple(lines[: at + 1])))
    world.done.clear()
    await resume(agent(pair, thought=True), run_id, store=cut)
    assert world.done == ["three t7"]
    await replay(Agent(ScriptedModel([]), tools=[pair]), run_id, store=cut)
