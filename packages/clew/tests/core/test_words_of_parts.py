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
    (lambda call, so_far: so_far.event, "did you mean evidence?"),
    (lambda call, so_far: so_far.all_call, " calls, "),
    (lambda call, so_far: so_far.untaint, "did you mean untainted?"),
    (lambda call, so_far: so_far.step.all_call, "did you mean all_calls?"),
    (lambda call, so_far: so_far.step.call, "did you mean calls?"),
    (lambda call, so_far: call.tool, "(Call has action, "),
    (lambda call, so_far: call.arguments, "args, "),
    (lambda call, so_far: call.action.tool, "(Action has args, "),
    (lambda call, so_far: call.observations, "did you mean observation?"),
    (lambda call, so_far: so_far.total.token, "did you mean tokens?"),
    (lambda call, so_far: so_far.spent.money, "cost, "),
    (lambda call, so_far: so_far.started.asked, "question, "),
]


@pytest.mark.parametrize("case", range(len(ASKED)))
async def test_a_guard_is_told_the_words_there_are(case: int) -> None:
    part, hint = ASKED[case]

    def guard(call: Call, so_far: Trajectory) -> Verdict | None:
        part(call, so_far)
        return None

    agent = Agent(ScriptedModel([act("look", what="x"), finish("x")], tools=[look]), [look],
                  guards=[guard])  # fmt: skip
    with pytest.raises(PartError) as told:
        await run(agent, "What?", store=MemoryStore())
    assert hint in str(told.value)


def bound(so_far: Any) -> str | None:
    return "old: enough" if so_far.tool_calls > 1 else None


async def test_bounds_too() -> None:
    agent = Agent(ScriptedModel([act("look", what="x"), finish("x")], tools=[look]), [look],
                  bounds=[bound])  # fmt: skip
    with pytest.raises(PartError, match=r"Trajectory has .*total"):
        await run(agent, "What?", store=MemoryStore())


async def test_objects_of_others_are_not_listed() -> None:
    def guard(call: Call, so_far: Trajectory) -> Verdict | None:
        del so_far
        theirs: Any = call.args
        return theirs.nothing  # type: ignore[no-any-return]  # it has none

    agent = Agent(ScriptedModel([act("look", what="x")], tools=[look]), [look], guards=[guard],
                  limits=Limits(steps=2))  # fmt: skip
    with pytest.raises(PartError) as told:
        await run(agent, "What?", store=MemoryStore())
    assert " has " not in str(told.value).partition("attribute")[2]
