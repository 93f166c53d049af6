"""What is kept of a model's summary, and how it is asked for one: figure by figure."""

from typing import Any

import pytest

from clew.context.summary import ASKED, left_out, summarised
from clew.core.contents import Observation, RawCall, Reply, Usage
from clew.core.events import Compacted, Rewound
from clew.core.prompts import Part, Prompt
from clew.core.trajectory import Trajectory
from clew.support.errors import TooLongError
from tests.core.records import look, record, thought

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

LESS = Compacted("mask+summary", "w", 100, upto=2, summary="s" * 40)
SENT = Prompt(
    (Part("system", "Work."),), (), (Part("user", "tail"),), calls="auto", stop=("x",),
    reply_schema={"type": "object"}, grammar="g",
)  # fmt: skip


def run(thinking: int = 3_000, seen: int = 3_000) -> Trajectory:
    """Three steps, of which two are left out: one of words, one of a result."""
    return record(
        thought(reply=Reply("t" * thinking)),
        thought(look()), Observation("2.1", "o" * seen),
        thought(look(), reply=Reply("t" * 9_000)), Observation("3.1", "o" * 9_000),
    )  # fmt: skip


async def after(reply: Reply | Exception, trajectory: Trajectory) -> Compacted:
    def render(*_: Any) -> Any:
        return SENT, None

    async def ask(prompt: Prompt, on_text: Any) -> Reply:
        assert on_text is None
        assert [part.text for part in prompt.tail] == [ASKED]
        assert prompt.head == SENT.head
        assert (prompt.stop, prompt.reply_schema, prompt.grammar) == ((), None, "")
        if isinstance(reply, Exception):
            raise reply
        return reply

    return await summarised(render, ask, trajectory, LESS)


async def test_of_a_summary_4000_characters_are_kept_on_a_line() -> None:
    took = Usage(7)
    for said, kept in (
        ("found\n  it", "found it"),
        ("x" * 4_000, "x" * 4_000),
        ("x" * 4_001, "x" * 4_000),
    ):
        less = await after(Reply(said, usage=took), run())
        assert (less.summary, less.usage) == (kept, took)
        assert less.tokens == 100 + (len(kept) - 40) // 4
        assert (less.upto, less.by) == (2, LESS.by)


@pytest.mark.parametrize(("chars", "kept"), [(9, True), (10, False), (11, False)])
async def test_one_that_is_no_shorter_than_what_it_is_of_is_not_kept(
    chars: int, kept: bool
) -> None:
    for trajectory in (run(6, 4), run(10, 0), run(0, 10)):
        less = await after(Reply("x" * chars, usage=Usage(7)), trajectory)
        assert (less.summary == "x" * chars) == kept
        assert less.usage == Usage(7)
        assert (less.tokens == 100) != kept


async def test_what_is_none_is_paid_for_and_the_earlier_one_stays() -> None:
    call = Reply("text", (RawCall(name="look", arguments="{}"),), usage=Usage(7))
    for reply in (call, Reply(" \n", usage=Usage(7))):
        less = await after(reply, run())
        assert (less.summary, less.usage, less.tokens) == (LESS.summary, Usage(7), 100)
    assert await after(TooLongError("too long"), run()) is LESS


async def test_only_a_new_summary_asks_and_only_a_review_is_asked_for_nothing() -> None:
    async def never(*_: Any) -> Any:
        raise AssertionError

    async def review(trajectory: Trajectory) -> Any:
        return ["reviewed"]

    def render(*_: Any) -> Any:
        return SENT, None

    async def ask(*_: Any) -> Reply:
        return Reply("short")

    trajectory = run()
    reviewed: Any = await left_out(render, never, review, trajectory, None)
    assert reviewed == ["reviewed"]
    for less in (Rewound(1, "no"), Compacted("mask", "w", 1, upto=2), Compacted("summary", "w", 1)):
        assert await left_out(render, never, never, trajectory, less) == [less]
    (told,) = await left_out(render, ask, never, trajectory, LESS)
    assert isinstance(told, Compacted)
    assert told.summary == "short"
