"""A run that a test made, with its record."""

from dataclasses import dataclass
from typing import Any

from clew import Agent, Question, Result, Trajectory, sync
from clew.interfaces import Store
from clew.testing import ExpectedCall, assert_trajectory, trajectory_text


@dataclass(frozen=True)
class RecordedRun:
    """What a run came to, its record, and the store that has it."""

    result: Result[Any]
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
        **ended: Any,
    ) -> None:
        """As `clew.testing.assert_trajectory`; the run must have been answered."""
        assert_trajectory(self.record, calls=calls, effects=effects, status=status, **ended)


def recorded_run(
    agent: Agent[Any], question: Question, store: Store, **options: Any
) -> RecordedRun:
    """Run an agent, and read the record."""
    result = sync.run(agent, question, store=store, **options)
    return RecordedRun(result, sync.read(result.run_id, store=store), store)
