"""What a stream's filter does with a long line that comes in small pieces: work by its length."""

import itertools
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.codecs import by_name
from clew_code.codec.commands import Command, Commands

FORMATS: Final = {
    **{name: by_name(name) for name in ("native", "json", "paper", "labelled", "code")},
    "commands": Commands(
        (Command("look", "LOOK {word}"), Command("finish", "ANSWER {answer}")), "t"
    ),
}


def characters_seen(work: Callable[[], object]) -> int:
    """How many functions are called, and how long the texts are whose methods are."""
    seen = 0

    def see(_: object, event: str, called: Any) -> None:
        nonlocal seen
        if event in {"call", "c_call"}:
            text = getattr(called, "__self__", None) if event == "c_call" else None
            seen += 1 + (len(text) if isinstance(text, str) else 0)

    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("unit", ["word ", " ", "* ", "observation", "`", "Thought", "x\u2028"])
@pytest.mark.parametrize("ahead", ["", "Answer: ", "```python\n", "```python\nThought", "1" * 70])
@pytest.mark.parametrize("name", FORMATS)
def test_a_line_twice_as_long_costs_at_most_twice_as_much(name: str, ahead: str, unit: str) -> None:
    costs = list[int]()
    for size in (4_000, 8_000):
        text = ahead + (unit * size)[:size]
        pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
        take = FORMATS[name].stream_filter(lambda _: None)

        def feed(take: Any = take, pieces: list[str] = pieces) -> None:
            for piece in pieces:
                take(piece)

        costs.append(characters_seen(feed))
    assert costs[1] <= 2.2 * costs[0], costs


LINES: Final = st.lists(
    st.sampled_from([
        "```", "```python", "````", "Observation: 3", "  ** observation 12: x", "obs", "Answer: x",
        "Thought: y", "Thoughts", " " * 70 + "end", "*" * 13 + "observation: no", "x = 1", "",
        "Final Answer: z", "\xa0observation: so", "a\u2028b\x0bc",
    ]),
    max_size=8,
).map("\n".join)  # fmt: skip


@given(LINES, st.lists(st.integers(0, 200), max_size=6))
@example("obs", [1])
@example("\xa0observation: so", [])
@example("ob\u017fervation: so", [])
@example(" " * 70 + "end", [])
@example("```python\nx = 1\nThought: y\nx", [15])
def test_what_is_shown_does_not_depend_on_the_pieces(text: str, places: list[int]) -> None:
    """But for the start of the last line, which may be held back."""
    cuts = sorted({0, len(text), *(place for place in places if place < len(text))})
    whole, in_pieces, by_one = list[str](), list[str](), list[str]()
    FORMATS["code"].stream_filter(whole.append)(text)
    take = FORMATS["code"].stream_filter(in_pieces.append)
    for start, end in itertools.pairwise(cuts):
        take(text[start:end])
    take = FORMATS["code"].stream_filter(by_one.append)
    for char in text:
        take(char)
    assert "".join(whole) == "".join(by_one) == "".join(in_pieces)
