"""A run that a test made, with its record."""

from dataclasses import dataclass
from typing import Any, Final, Generic

from typing_extensions import TypeVar

from clew import Agent, Question, Result, Trajectory, sync
from clew.interfaces import Json, Store
from clew.testing import ExpectedCall, assert_trajectory, trajectory_text

A = TypeVar("A", default=Any)

_LEFT_OUT: Final[Any] = object()


@dataclass(frozen=True)
class RecordedRun(Generic[A]):
    """What a run came to, its record, and the store that has it."""

    result: Result[A]
    record: Trajectory
    store: Store

    def __str__(self) -> str:
        return trajectory_text(self.record)

    def expect(
        self,
        *,
        calls: list[ExpectedCall] | None = None,
        effects: list[ExpectedCall] | None = None,
        status: str = "answered",
        answer: A | Json = _LEFT_OUT,
    ) -> None:
        """As `clew.testing.assert_trajectory`; the run must have been answered.

        `answer` is a value of the agent's type, or its JSON as it is recorded.
        """
        assert_trajectory(self.record, calls=calls, effects=effects, status=status)
        if answer is _LEFT_OUT or answer in (typed := self.result.answer, self.result.raw_answer):
            return
        actual = typed if type(typed) is type(answer) else self.result.raw_answer
        message = f"the answer is {actual!r}, not {answer!r}\n{self}"
        raise AssertionError(message)


def recorded_run(
    agent: Agent[A, Any], question: Question, store: Store, **options: Any
) -> RecordedRun[A]:
    """Run an agent, and read the record."""
    result = sync.run(agent, question, store=store, **options)
    return RecordedRun(result, sync.read(result.run_id, store=store), store)
