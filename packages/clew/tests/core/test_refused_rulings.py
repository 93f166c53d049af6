"""A ruling whose arguments the tool's types refuse did nothing, wherever somebody asks for that.

It does nothing to a fork, a rewind, a run beside it, what a person says, or another agent; and
only where a process died before it could say so does nobody know.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Observation,
    cancel,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rewind,
    rule,
    run,
    tool,
)
from clew.core.events import Attempt, Forked
from clew.core.stores import Store
from clew.testing import ScriptedModel, act, say
from tests.core.play import copy
from tests.guards.verdicts import verdict_on

GOOD, BAD = "2026-03-01", ("2026-02-30", "soon", "2026-13-01")


hold = verdict_on("book", "hold", "May it be booked?")
"""A guard that asks a person about each booking."""


def booking(got: list[dt.date], *script: Any, **options: Any) -> Agent:
    """An agent that books a day, if a person lets it."""

    @tool(effect=options.pop("effect", "unsafe"))
    def book(day: dt.date) -> str:
        """Book a day."""
        got.append(day)
        return "booked"

    model = ScriptedModel([*(script or (act("book", day="2026-01-01"), say("done")))])
    return Agent(model=model, tools=[book], guards=[hold], **options)


async def waits_again(agent: Agent, store: Store, *days: str) -> None:
    """Run until the call waits, and give it these days one after the other."""
    await run(agent, "?", store=store, run_id="run")
    for day in days:
        await rule("run:1.1", allow=True, args={"day": day}, store=store)
        assert (await resume(agent, "run", store=store)).status == "held"


async def seen_of(store: Store, run_id: str = "run") -> Observation:
    """What came of the call."""
    seen = (await read(run_id, store=store)).call("1.1").observation
    assert seen is not None
    return seen


MANY = pytest.mark.parametrize("days", [BAD[:1], BAD[:2], BAD, (BAD[0], BAD[0])])


@MANY
async def test_a_run_that_is_ended_then_booked_nothing(days: Sequence[str]) -> None:
    got, store = list[dt.date](), MemoryStore()
    agent = booking(got)
    await waits_again(agent, store, *days)
    await cancel("run", store=store)
    assert (await resume(agent, "run", store=store)).status == "interrupted"
    seen = await seen_of(store)
    assert (seen.code, seen.outcome, got) == ("interrupted", "not_done", [])
    assert "it did not happen" in seen.text
    await replay(agent, "run", store=store)


@MANY
async def test_a_fork_is_told_of_nothing(days: Sequence[str]) -> None:
    got, store = list[dt.date](), MemoryStore()
    await waits_again(booking(got), store, *days)
    again = booking(got, act("book", day=days[-1]), say("done"))
    await fork(again, "run", at=0, store=store, new_id="other")
    record = await read("other", store=store)
    assert [each.done for each in record.forks] == [()]
    (waiting,) = [it for it in await pending_approvals(store=store) if it.run_id == "other"]
    assert waiting.why == "May it be booked?"


@MANY
@pytest.mark.parametrize("last", [True, False])
async def test_a_rewind_tells_of_what_was_booked_alone(days: Sequence[str], last: bool) -> None:
    got, store = list[dt.date](), MemoryStore()
    agent = booking(got, act("book", day="2026-01-01"), say("done"), say("done again"))
    await waits_again(agent, store, *days)
    args = {"day": GOOD} if last else None
    await rule("run:1.1", allow=last, args=args, store=store)
    assert (await resume(agent, "run", store=store)).status == "answered"
    await rewind("run", to=0, lesson="otherwise", store=store)
    await resume(agent, "run", store=store)
    record = await read("run", store=store)
    told = [(done.outcome, done.text) for done in record.done_elsewhere]
    assert told == ([("done", f'book({{"day":"{GOOD}"}})')] if last else [])
    await replay(agent, "run", store=store)


@MANY
async def test_what_a_person_says_then_waits_with_the_call(days: Sequence[str]) -> None:
    got, store = list[dt.date](), MemoryStore()
    agent = booking(got)
    await waits_again(agent, store, *days)
    assert (await resume(agent, "run", say="And quickly.", store=store)).status == "held"
    await rule("run:1.1", allow=False, store=store)
    assert (await resume(agent, "run", store=store)).status == "answered"
    assert (await seen_of(store)).outcome == "not_done"
    await replay(agent, "run", store=store)


@MANY
async def test_an_agent_without_the_tool_did_not_book_either(days: Sequence[str]) -> None:
    got, store = list[dt.date](), MemoryStore()
    await waits_again(booking(got), store, *days)
    without = Agent(ScriptedModel([act("book", day="2026-01-01"), say("done")]))
    await rule("run:1.1", allow=True, args={"day": GOOD}, store=store)
    await resume(without, "run", store=store, accept_change=True)
    seen = await seen_of(store)
    assert (seen.code, seen.outcome, got) == ("unknown_tool", "not_done", [])


@pytest.mark.parametrize("effect", ["unsafe", "idempotent"])
@pytest.mark.parametrize("unknown", ["tell", "hold"])
@pytest.mark.parametrize("last", [True, False])
async def test_cut_after_every_entry_only_an_attempt_without_a_verdict_is_in_doubt(
    effect: str, unknown: Literal["tell", "hold"], last: bool
) -> None:
    rulings = [*BAD[:2], GOOD if last else None]
    store, limits = MemoryStore(), Limits(unknown=unknown)
    agent = booking([], effect=effect, limits=limits)
    await waits_again(agent, store, *BAD[:2])
    await _rule_on(agent, store, rulings)
    lines = await store.read("run")
    events = [entry.event for entry in (await read("run", store=store)).entries]
    assert sum(isinstance(event, Attempt) for event in events) == 2 + last
    for cut in range(2, len(lines)):
        got, second = list[dt.date](), await copy(lines[:cut])
        again = booking(got, effect=effect, limits=limits)
        await resume(again, "run", store=second)
        await _rule_on(again, second, rulings)
        seen = await seen_of(second)
        doubt = effect == "unsafe" and isinstance(events[cut - 1], Attempt)
        where = f"cut after entry {cut}: {lines[cut - 1].body!r}"
        if doubt and not (last and unknown == "hold"):
            assert (seen.outcome, got) == ("unknown", []), where
        elif effect == "unsafe":
            assert seen.outcome == ("done" if last else "not_done"), where
        assert len(got) <= 1, where
        await replay(again, "run", store=second)


async def _rule_on(agent: Agent, store: Store, rulings: Sequence[str | None]) -> None:
    """Give the rulings that are left, until nothing waits."""
    while await pending_approvals(store=store):
        names = [type(it.event).__name__ for it in (await read("run", store=store)).entries]
        day = rulings[min(names.count("Ruling"), len(rulings) - 1)]
        args = None if day is None else {"day": day}
        await rule("run:1.1", allow=day is not None, args=args, store=store)
        await resume(agent, "run", store=store)


async def test_an_effect_in_doubt_is_told_with_its_own_arguments_whatever_was_refused_later() -> (
    None
):
    store, limits = MemoryStore(), Limits(unknown="hold")
    agent = booking([], limits=limits)
    await waits_again(agent, store)
    await rule("run:1.1", allow=True, store=store)
    await resume(agent, "run", store=store)
    lines = await store.read("run")
    cut = next(n for n, line in enumerate(lines, 1) if b'"event":"attempt"' in line.body)
    second = await copy(lines[:cut])
    assert (await resume(agent, "run", store=second)).status == "held"
    for day in BAD:
        await rule("run:1.1", allow=True, args={"day": day}, store=second)
        assert (await resume(agent, "run", store=second)).status == "held"
    await rule("run:1.1", allow=False, store=second)
    await resume(agent, "run", store=second)
    assert (await seen_of(second)).outcome == "unknown"
    await fork(booking([], say("done")), "run", at=0, store=second, new_id="other")
    told = [it.event for it in (await read("other", store=second)).entries]
    (done,) = [done for event in told if isinstance(event, Forked) for done in event.done]
    assert (done.outcome, done.text) == ("unknown", 'book({"day":"2026-01-01"})')
