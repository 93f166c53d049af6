"""Refused rulings, as workers at once are told of them."""

import datetime as dt
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    MemoryStore,
    Observation,
    Trajectory,
    Verdict,
    pending_approvals,
    read,
    resume,
    rule,
    run,
    tool,
)
from clew.core.stores import Store
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish, say
from clew_strategies import Orchestrator, strategy_agent
from clew_strategies.orchestrator import Subtasks

GOOD, BAD = "2026-03-01", ("2026-02-30", "soon", "2026-13-01")


async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that asks a person about each booking."""
    del trajectory
    return Verdict("hold", "May it be booked?") if call.action.name == "book" else None


def booking(got: list[dt.date], *script: Any, **options: Any) -> Agent:
    """An agent that books a day, if a person lets it."""

    @tool(effect=options.pop("effect", "unsafe"))
    def book(day: dt.date) -> str:
        """Book a day."""
        got.append(day)
        return "booked"

    model = ScriptedModel([*(script or (act("book", day="2026-01-01"), say("done")))])
    return Agent(model=model, tools=[book], guards=[hold, Provenance("off")], **options)


async def seen_of(store: Store, run_id: str = "run") -> Observation:
    """What came of the call."""
    seen = (await read(run_id, store=store)).call("1.1").observation
    assert seen is not None
    return seen


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_workers_at_once_are_told_of_no_booking_that_was_refused(times: int) -> None:
    got, store = list[dt.date](), MemoryStore()
    worker = booking(got)
    divided = finish({"parts": [{"task": "one"}, {"task": "two"}]})
    divider = Agent(ScriptedModel([divided]), answer=Subtasks)
    whole = strategy_agent(Orchestrator(worker, divider=divider), worker)
    await run(whole, "?", store=store, run_id="run")
    for _ in range(times):
        for waiting in await pending_approvals(store=store):  # one after the other
            args = {"day": BAD[0]}
            await rule(waiting.id, allow=True, args=args, store=store)
            assert (await resume(whole, "run", store=store)).status == "held"
        told = [each.why for each in await pending_approvals(store=store)]
        assert ["and nothing was called" in why for why in told] == [True, True]
    asked = await pending_approvals(store=store)
    for waiting, day in zip(asked, (GOOD, None), strict=True):
        better = None if day is None else {"day": day}
        await rule(waiting.id, allow=day is not None, args=better, store=store)
    assert (await resume(whole, "run", store=store)).status == "answered"
    ends = [(await seen_of(store, waiting.run_id)).outcome for waiting in asked]
    assert (ends, len(got)) == (["done", "not_done"], 1)
