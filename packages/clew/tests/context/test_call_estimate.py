"""What the next model call is expected to take, from the last one and from what came since."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, Trajectory, read, run, tool
from clew.context.call_estimate import ANSWER, CHARACTERS, CallEstimate
from clew.core.contents import Usage
from clew.testing.models import ScriptedModel, act, say

SEEN = "x" * 4_000


@tool(effect="read")
def look() -> str:
    """Look."""
    return SEEN


async def after(usage: Usage) -> Trajectory:
    """A record whose replies took this: a call, and an answer."""
    moves = [act("look"), say("ok")]
    agent = Agent(ScriptedModel(moves, usage=usage), [look], prompt="Work.")
    await run(agent, "Go.", store=(store := MemoryStore()), run_id="run")
    return await read("run", store=store)


@pytest.mark.parametrize(
    ("estimate", "given", "output", "expected"),
    [
        (CallEstimate(), None, 50, ANSWER),
        (CallEstimate(), None, 2_000, 2_000),  # no shorter than the last one
        (CallEstimate(answer=300), None, 2_000, 300),  # which may be no longer than that
        (CallEstimate(answer=5_000), None, 50, ANSWER),
        (CallEstimate(answer=5_000), 5_000, 50, 5_000),
        (CallEstimate(), 7, 50, 7),
    ],
)
async def test_a_reply_is_expected_to_take(
    estimate: CallEstimate, given: int | None, output: int, expected: int
) -> None:
    record = await after(Usage(100, output))
    assert estimate.next_call(record, given).output == expected


@pytest.mark.parametrize(
    ("usage", "prompt", "cached"),
    [
        (Usage(100, 50), 150, 0),
        (Usage(100, 50, reasoning=20), 130, 0),  # thinking does not go back
        (Usage(100, 50, cached=10), 150, 100),
        (Usage(100, 50, written=10), 150, 100),
    ],
)
async def test_a_prompt_is_the_last_one_and_its_reply(
    usage: Usage, prompt: int, cached: int
) -> None:
    expected = CallEstimate().next_call(await after(usage))
    assert (expected.input, expected.cached, expected.estimated) == (prompt, cached, True)


@pytest.mark.parametrize(("later", "more"), [(False, 0), (True, ANSWER)])
async def test_the_one_after_it_has_the_reply_too(later: bool, more: int) -> None:
    record = await after(Usage(100, 50))
    assert CallEstimate().next_call(record, later=later).input == 150 + more


async def test_where_nobody_counted_it_begins_with_the_first_prompt() -> None:
    record = await after(Usage())
    few, many = (CallEstimate(opening=n).next_call(record).input for n in (10, 1_010))
    assert many - few == 1_000
    assert few * CHARACTERS >= len(SEEN)


def test_before_anything_was_asked_it_is_the_question_and_the_opening() -> None:
    started: Any = Trajectory("run", ())
    assert CallEstimate(opening=100).next_call(started).input == 100
