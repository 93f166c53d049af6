"""What a further step costs, in Python calls of clew's own: a count is the same on a busy machine.

The numbers may only fall. Whoever must raise one says why in a decision (docs/decisions).
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

import clew
from clew import Agent, run
from clew import tool as make_tool
from clew.core.contents import Usage
from clew.interfaces import ModelInfo, OnText, Prompt, RawCall, Reply
from clew.stores.memory import MemoryStore

SOURCE: Final = str(Path(clew.__file__).parent)
SKIPPED: Final = 4
"""The first steps, which prepare what later ones use."""

STEPS: Final = 12

LIMITS: Final = {
    "a word": ("ok", 345),
    "26 lines": (
        "\n".join("some words of a page, and 12,345 figures in it" for _ in range(26)),
        349,
    ),
    "one line of 2,000 characters": ("x" * 2_000, 357),
    "one line of 2,000 characters that looks like JSON": ('{"a": ' + "1" * 2_000 + "}", 357),
    "one line of 2,000 Chinese characters": ("漢" * 2_000, 354),
    "one line of 200,000 characters": ("x" * 200_000, 363),
}


class CountingModel:
    """A model that reads pages, and counts the calls between two of its replies."""

    info = ModelInfo("scripted:counting")

    def __init__(self) -> None:
        self.steps = 0
        self.counts: list[int] = []
        self._calls = 0

    def _count(self, frame: FrameType, event: str, _arg: object) -> None:
        self._calls += event == "call" and frame.f_code.co_filename.startswith(SOURCE)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        sys.setprofile(None)
        self.steps += 1
        if self.steps > SKIPPED:
            self.counts.append(self._calls)
        if self.steps == STEPS:
            return Reply("done")
        told = sum(len(part.text) for part in prompt) // 2  # as many as Chinese may have
        self._calls = 0
        call = RawCall(name="page", arguments=f'{{"number": {self.steps}}}', id=f"c{self.steps}")
        sys.setprofile(self._count)
        return Reply(calls=(call,), finish="calls", usage=Usage(told, 1))


@pytest.fixture(autouse=True)
def nothing_is_counted_after_a_test() -> Iterator[None]:
    """A run may end at a limit, between two replies of which the model counts the calls."""
    yield
    sys.setprofile(None)


@pytest.mark.parametrize("name", LIMITS)
async def test_a_further_step_makes_no_more_calls_than_it_did(name: str) -> None:
    text, most = LIMITS[name]

    async def page(number: int) -> str:
        """Read a page."""
        return f"{number}: {text}"

    model = CountingModel()
    agent = Agent(model, tools=[make_tool(effect="read")(page)])
    assert (await run(agent, "Read on.", store=MemoryStore())).answer == "done"
    assert min(model.counts) <= most


LONG_LINES: Final = {
    "letters": "x",
    "Chinese": "漢",
    "Cyrillic without a space": "я",
    "Chinese after Latin letters": "x漢",
    "digits of full width": "１",
}


@pytest.mark.parametrize("characters", LONG_LINES.values(), ids=LONG_LINES.keys())
async def test_a_line_of_a_million_characters_costs_the_calls_of_a_short_one(
    characters: str,
) -> None:
    counts: list[int] = []
    for size in (2_000, 1_000_000):

        async def page(number: int, size: int = size) -> str:
            """Read a page."""
            return f"{number}: {(characters * size)[:size]}"

        model = CountingModel()
        agent = Agent(model, tools=[make_tool(effect="read")(page)])
        await run(agent, "Read on.", store=MemoryStore())
        counts.append(min(model.counts))
    assert counts[1] == pytest.approx(counts[0], rel=0.05)
