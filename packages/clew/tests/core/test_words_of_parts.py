"""A part of one's own that asks for a word of another version is told those of this one."""

from collections.abc import Callable
from typing import Any

import pytest

from clew import Agent, Call, Limits, MemoryStore, PartError, Trajectory, Verdict, run, tool
from clew.testing import ScriptedModel, act, finish


@tool(effect="read")
def look(what: str) -> str:
    """Look something up.

    Args:
        what: What.
    """
    return what


ASKED: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda call, trajectory: trajectory.event, "did you mean evidence?"),
    (lambda call, trajectory: trajectory.all_call, " calls, "),
    (lambda call, trajectory: trajectory.untaint, "did you mean untainted?"),
    (lambda call, trajectory: trajectory.step.all_call, "did you mean all_calls?"),
    (lambda call, trajectory: trajectory.step.call, "did you mean calls?"),
    (lambda call, trajectory: call.tool, "(Call has action, "),
    (lambda call, trajectory: call.arguments, "args, "),
    (lambda call, trajectory: call.action.tool, "(Action has args, "),
    (lambda call, trajectory: call.observations, "did you mean observation?"),
    (lambda call, trajectory: trajectory.total.token, "did you mean tokens?"),
    (lambda call, trajectory: trajectory.spent.money, "cost, "),
    (lambda call, trajectory: trajectory.started.asked, "question, "),
]


@pytest.mark.parametrize("case", range(len(ASKED)))
async def test_a_guard_is_told_the_words_there_are(case: int) -> None:
    part, hint = ASKED[case]

    def guard(call: Call, trajectory: Trajectory) -> Verdict | None:
        part(call, trajectory)
        return None

    agent = Agent(ScriptedModel([act("look", what="x"), finish("x")], tools=[look]), [look],
                  guards=[guard])  # fmt: skip
    with pytest.raises(PartError) as told:
        await run(agent, "What?", store=MemoryStore())
    assert hint in str(told.value)


def bound(trajectory: Any) -> str | None:
    return "old: enough" if trajectory.tool_calls > 1 else None


async def test_bounds_too() -> None:
    agent = Agent(ScriptedModel([act("look", what="x"), finish("x")], tools=[look]), [look],
                  bounds=[bound])  # fmt: skip
    with pytest.raises(PartError, match=r"Trajectory has .*total"):
        await run(agent, "What?", store=MemoryStore())


async def test_objects_of_others_are_not_listed() -> None:
    def guard(call: Call, trajectory: Trajectory) -> Verdict | None:
        del trajectory
        theirs: Any = call.args
        return theirs.nothing  # type: ignore[no-any-return]  # it has none

    agent = Agent(ScriptedModel([act("look", what="x")], tools=[look]), [look], guards=[guard],
                  limits=Limits(steps=2))  # fmt: skip
    with pytest.raises(PartError) as told:
        await run(agent, "What?", store=MemoryStore())
    assert " has " not in str(told.value).partition("attribute")[2]
