"""The interfaces of what judges: guards of calls, screens of messages, checks of answers."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from typing_extensions import TypeVar

from clew.core.contents import Usage
from clew.core.steps import Call
from clew.core.trajectory import Trajectory
from clew.core.verdicts import Verdict
from clew.support.structural import Structural

Answer = TypeVar("Answer")

Answering: TypeAlias = Awaitable[Answer] | Answer  # given at once, or once it is awaited

Guard: TypeAlias = Callable[[Call, Trajectory], Answering[Verdict | None]]
"""Judges one call before it is made; None means yes."""


class Screened(NamedTuple):
    """The verdict of a screen that asks a model: with what that took, and why, in one line."""

    verdict: Verdict | None
    usage: Usage
    why: str


Screen: TypeAlias = Callable[[str], Answering[Verdict | Screened | None]]
"""Judges a person's message before a model sees it: deny, hold, hint (a mark), or None.

One with `asks_model` true has as long as a reply may take.
"""

A_contra = TypeVar("A_contra", contravariant=True, default=Any)

Check: TypeAlias = Callable[[A_contra, Trajectory], Answering[str | None]]
"""Returns what is wrong with a (decoded) answer, or None; a `Check[Life]` takes a Life."""


@runtime_checkable
class Audits(Protocol, metaclass=Structural):
    """A check that can also report its findings in detail, for `Result.audit`."""

    def audit(self, answer: Any, trajectory: Trajectory) -> object:
        """The findings on an answer, such as a `clew.evidence.Audit`."""
        ...
