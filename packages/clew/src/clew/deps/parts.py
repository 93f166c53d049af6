"""Guards and checks that take a `RunContext` in the place of the trajectory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from typing_extensions import TypeVar

from clew.core.judging import Answering, Check, Guard
from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict
from clew.deps.parameters import context_parameter
from clew.deps.run_context import RunContext, part_context
from clew.support.parts import stable_name

ContextGuard: TypeAlias = Callable[[Call, RunContext[Any]], Answering[Verdict | None]]
"""A guard that takes the context in the place of the trajectory, which is its `record`."""

A_contra = TypeVar("A_contra", contravariant=True, default=Any)

ContextCheck: TypeAlias = Callable[[A_contra, RunContext[Any]], Answering[str | None]]
"""A check that takes the context in the place of the trajectory."""


def guard_with_context(guard: Any) -> Guard:
    """The guard as it is asked: with a call and the trajectory."""
    asked: Guard = guard if context_parameter(guard) is None else _ContextGuard(guard)
    return asked


def check_with_context(check: Any) -> Check:
    """The check as it is asked: with an answer and the trajectory."""
    asked: Check = check if context_parameter(check) is None else _ContextCheck(check)
    return asked


@dataclass(frozen=True, slots=True)
class _ContextGuard:
    guard: Any

    def __call__(self, call: Call, trajectory: Trajectory) -> Any:
        return self.guard(call, part_context(trajectory, call.key))


@dataclass(frozen=True, slots=True)
class _ContextCheck:
    check: Any

    def __repr__(self) -> str:
        """Its name in the record is that of the check."""
        return stable_name(self.check)

    def __call__(self, answer: Any, trajectory: Trajectory) -> Any:
        return self.check(answer, part_context(trajectory))
