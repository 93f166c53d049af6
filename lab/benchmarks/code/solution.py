"""What solves a task: programs, or calls of tools."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from clew.interfaces import Action

Batch: TypeAlias = Sequence[Action]
"""Calls that do not need each other's results."""

Wide: TypeAlias = bool
"""Whether to look in several places at once."""

Calls: TypeAlias = Generator[Batch, list[Any], Any]
"""Yields calls, gets their results, returns the answer."""


@dataclass(frozen=True)
class Solution:
    """A task's programs, the last of which prints the answer, and its calls.

    `calls(wide)` looks in several places at once where it is wide, else until it has found it.
    """

    programs: tuple[str, ...]
    calls: Callable[[Wide], Calls]
    answer: Callable[[str], Any] = lambda printed: eval(printed, {})


def call(name: str, **args: Any) -> Action:
    return Action(name, args)


def first(batch: Batch, wide: Wide, good: Callable[[Any], bool]) -> Calls:
    """The first good result, with its call."""
    if wide:
        results = yield batch
        return next(pair for pair in zip(batch, results, strict=True) if good(pair[1]))
    for one in batch:
        (result,) = yield [one]
        if good(result):
            return one, result
    raise LookupError("none was good")
