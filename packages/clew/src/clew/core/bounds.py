"""The interface of what ends a run, and what a run may still spend."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import msgspec

from clew.core.codes import BoundCode
from clew.core.trajectory import Trajectory

StopRule: TypeAlias = Callable[[Trajectory], str | None]
"""Returns why the run must not think again, or None. Its `repr` names it in the record."""


class Tripped(NamedTuple):
    """A bound that is reached: which one, as programs read it, and the words for people.

    The words of an agent's own bound are its own: they never say which bound it is.
    """

    code: BoundCode
    name: str
    detail: str = ""

    @property
    def reason(self) -> str:
        """The words as one line."""
        return f"{self.name}: {self.detail}" if self.detail else self.name


AnyBound: TypeAlias = Callable[[Trajectory], Tripped | str | None]
"""A bound of clew's, which says which one it is, or of the agent's own."""


class Left(msgspec.Struct, frozen=True, gc=False):
    """What a run may still spend before its limits end it, without the landing.

    `cost` is in US dollars, for models with known prices; `depth` is how deep it may delegate.
    """

    steps: int
    tool_calls: int
    tokens: int
    seconds: float
    cost: float = 0.0
    depth: int = 0

    @property
    def last(self) -> bool:
        """Whether the next thought is the last one before a landing."""
        return self.steps == 1
