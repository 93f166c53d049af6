"""Partials, callable objects and positional-only parameters are tools like any function."""

from functools import partial
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, Tool, read, run, tool
from clew.testing import ScriptedModel, act, say


def scale(number: int, by: int = 2, *, plus: int = 0) -> int:
    """Scale a number.

    Args:
        number: Which.
        by: How far.
        plus: What to add.
    """
    return number * by + plus


async def later(number: int, by: int) -> int:
    """Scale a number, later."""
    return number * by


def placed(number: int, by: int = 3, /, plus: int = 0) -> int:
    """Scale a number by place."""
    return number * by + plus


async def placed_later(number: int, /) -> int:
    """Double a number by place."""
    return number * 2


class ScaleUp:
    """Scales, as it was told."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __call__(self, number: int) -> int:
        """Scale a number up."""
        return number * self.by

    def method(self, number: int, /) -> int:
        """Scale a number by a method."""
        return number * self.by


class Later:
    """Scales a number, awaited."""

    async def __call__(self, number: int) -> int:
        return number * 10


CASES: dict[str, tuple[Any, str, dict[str, Any], set[str], str]] = {
    "partial": (partial(scale, by=5), "scale", {"number": 2}, {"number", "plus"}, "10"),
    "partial by place": (partial(scale, 4), "scale", {"by": 3}, {"by", "plus"}, "12"),
    "partial of a partial": (
        partial(partial(scale, by=5), plus=1), "scale", {"number": 2}, {"number"}, "11",
    ),
    "async partial": (partial(later, by=5), "later", {"number": 2}, {"number"}, "10"),
    "object": (ScaleUp(7), "scale_up", {"number": 2}, {"number"}, "14"),
    "async object": (Later(), "later", {"number": 2}, {"number"}, "20"),
    "partial of an object": (partial(ScaleUp(7), number=2), "scale_up", {}, set(), "14"),
    "method": (ScaleUp(7).method, "method", {"number": 2}, {"number"}, "14"),
    "positional only": (placed, "placed", {"number": 2, "plus": 1}, {"number", "by", "plus"}, "7"),
    "all by place": (placed, "placed", {"number": 2, "by": 4}, {"number", "by", "plus"}, "8"),
    "async positional only": (placed_later, "placed_later", {"number": 2}, {"number"}, "4"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_it_is_a_tool(case: str) -> None:
    given, name, args, parameters, seen = CASES[case]
    made: Tool = tool(effect="pure")(given)
    assert (made.name, set(made.parameters["properties"])) == (name, parameters)
    assert made.description
    agent = Agent(ScriptedModel([act(name, **args), say("done")]), tools=[made])
    store = MemoryStore()
    assert (await run(agent, "Scale.", store=store, run_id="r")).answer == "done"
    [call] = (await read("r", store=store)).calls
    assert call.observation is not None
    assert call.observation.text == seen


def gives(*numbers: int) -> int:
    """Of any number."""
    return sum(numbers)


def yields(number: int) -> Any:
    """One after the other."""
    yield number


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (gives, r"\* and \*\* parameters have no name"),
        (partial(gives), r"\* and \*\* parameters have no name"),
        (yields, "yields: return one value"),
        (partial(yields), "yields: return one value"),
        (ScaleUp, "is no function"),
        (7, "is no function"),
        (len, "annotate it"),
        (max, "does not say which parameters"),
    ],
)
def test_what_can_be_none_is_refused_with_the_reason(given: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        tool(given)
