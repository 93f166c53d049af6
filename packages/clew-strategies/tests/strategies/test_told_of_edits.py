"""What a person or a guard changed in a planned call is told to whoever reads its result."""

from collections.abc import Sequence
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ToolError,
    Verdict,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.core.trajectory import Call, Trajectory
from clew.guards import Provenance
from clew.interfaces import Json
from clew.testing.models import ScriptedModel, finish, say
from clew_strategies import ReWOO, strategy_agent
from clew_strategies.rewoo import CallPlan

Args = dict[str, Json] | None

EDITED = 'Note: the arguments were changed to {"amount":10} by a person'
AMENDED = 'Note: the arguments were changed to {"amount":50}: fifty at most'
BEGUN = 'Note: pay({"amount":100}) was begun before, and may have happened'


def ask(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Ask a person about each payment."""
    return Verdict("hold", "May it be paid?") if call.action.name == "pay" else None


def lower(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Pay fifty at most."""
    if call.action.name == "pay" and call.args["amount"] == 100:
        return Verdict("amend", "fifty at most", args={"amount": 50})
    return None


async def told(
    rulings: Sequence[tuple[bool, Args]], *fails: Exception | None, **more: Any
) -> tuple[str, list[int]]:
    """The tasks of the runs after a planned payment of 100, and what was paid."""
    paid: list[int] = []
    ends = [*fails]

    @tool(effect="unsafe")
    def pay(amount: int) -> str:
        """Pay an amount."""
        if (end := ends.pop(0) if ends else None) is not None:
            raise end
        paid.append(amount)
        return "paid"

    plan = finish({"calls": [{"id": "E1", "tool": "pay", "args": {"amount": 100}, "why": "pay"}]})
    guards = [*more.pop("guards", ()), Provenance("off")]
    works = Agent(ScriptedModel([say("done")]), [pay], guards=guards, **more)
    planner = Agent(ScriptedModel([plan]), answer=CallPlan)
    agent = strategy_agent(ReWOO(works, planner=planner), works)
    store = MemoryStore()
    await run(agent, "Pay 100.", store=store, run_id="r")
    for allow, args in rulings:
        await rule("r:2.1", allow=allow, args=args, store=store)
        await resume(agent, "r", store=store)
    record = await read("r", store=store)
    assert record.stop is not None
    assert record.stop.status == "answered"
    await replay(agent, "r", store=store)
    return "\n\n".join(str(each.args["task"]) for each in record.calls[2:-1]), paid


async def test_other_arguments_by_a_person_are_told() -> None:
    text, paid = await told([(True, {"amount": 10})], guards=[ask])
    assert paid == [10]
    assert f"E1 (pay): paid\n{EDITED}" in text


@pytest.mark.parametrize("rulings", [[], [(True, None)]])
async def test_other_arguments_by_a_guard_are_told(rulings: list[tuple[bool, Args]]) -> None:
    text, paid = await told(rulings, guards=[lower, *([ask] if rulings else [])])
    assert paid == [50]
    assert f"E1 (pay): paid\n{AMENDED}" in text


async def test_what_was_not_changed_is_told_as_ever() -> None:
    text, paid = await told([(True, None)], guards=[ask])
    assert (text, paid) == ("Pay 100.\n\nResults:\nE1 (pay): paid", [100])


@pytest.mark.parametrize("end", [None, ToolError("no money"), OSError("gone again")])
async def test_an_attempt_in_doubt_is_told_whatever_came_of_the_next(end: Exception | None) -> None:
    rulings: list[tuple[bool, Args]] = [(True, {"amount": 10})]
    if isinstance(end, OSError):
        rulings.append((False, None))
    text, paid = await told(rulings, OSError("cut"), end, limits=Limits(unknown="hold"))
    assert paid == ([10] if end is None else [])
    assert BEGUN in text
    assert EDITED in text
    assert "tried and failed" not in text
    assert ("Whether it happened is not known" in text) is (end is not None)
