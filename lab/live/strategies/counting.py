"""What the runs of an outcome took, each reply counted once.

A strategy's own record holds what its runs spent, and that of a fork begins with the steps of the
run that it was forked from: adding records up counts such replies again.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from clew import Trajectory
from clew.core.codes import FINISH
from clew.core.contents import Usage
from clew.core.events import Thought


class Counts(NamedTuple):
    """Runs; replies, their tokens, and how many could not be read; calls made, by name."""

    runs: int
    calls: int
    usage: Usage
    made: Counter[str]
    faults: int


def counts(records: Sequence[Trajectory]) -> Counts:
    """What all of these took together."""
    thoughts = [one for record in records for one in _thoughts(record)]
    made = Counter(
        call.action.name
        for record in records
        for call in record.calls  # those of programs, too
        if call.action.name != FINISH and call.observation is not None
        if int(call.key.partition(".")[0]) > _kept(record)
    )
    return Counts(
        runs=len(records),
        calls=sum(1 for one in thoughts if one.reply.usage.output),
        usage=sum((one.reply.usage for one in thoughts), start=Usage()),
        made=made,
        faults=sum(1 for one in thoughts if one.fault),
    )


def _thoughts(record: Trajectory) -> list[Thought]:
    """Those of the model; a strategy's own have no tokens."""
    own = (step.thought for step in record if step.number > _kept(record))
    return [thought for thought in own if thought is not None]


def _kept(record: Trajectory) -> int:
    """So many of its first steps are another run's."""
    return record.forks[-1].step if record.forks else 0
