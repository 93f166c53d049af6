"""What the view held at each step of a run, read off its record."""

from collections.abc import Iterator
from typing import NamedTuple

from clew.core.events import Compacted, Rewound
from clew.core.trajectory import Trajectory
from clew.support.arguments import check_argument


class ContextRow(NamedTuple):
    """The prompt of one thought: what it took, and what had been left out of it.

    `prompt` and `cached` are tokens as the provider counted them (0: it did not). `upto` is the
    last step that was left out, `cuts` how many results are shown in part, `hidden` how many steps
    were rewound. `new` are the compactions and rewinds since the thought before.
    """

    step: int
    prompt: int
    cached: int
    upto: int = 0
    cuts: int = 0
    hidden: int = 0
    new: tuple[Compacted | Rewound, ...] = ()


def context_history(record: Trajectory) -> tuple[ContextRow, ...]:
    """A row for each thought of a run, in order."""
    check_argument("record", record, Trajectory, "a record, as sync.read returns it")
    return tuple(_rows(record))


def _rows(record: Trajectory) -> Iterator[ContextRow]:
    trajectory = Trajectory(record.run_id)
    new: list[Compacted | Rewound] = []
    upto = cuts = hidden = 0
    for entry in record.entries:
        before = len(trajectory.steps)
        trajectory.add(entry)
        if isinstance(entry.event, Compacted | Rewound):
            new.append(entry.event)
            omitted = trajectory.omitted
            upto, hidden = omitted.upto, sum(step > omitted.upto for step in omitted.hidden)
            cuts = sum(int(key.split(".")[0]) not in omitted for key in omitted.cuts)
        if len(trajectory.steps) > before and trajectory.step.thought is not None:
            used = trajectory.step.thought.reply.usage
            yield ContextRow(
                trajectory.step.number, used.input, used.cached, upto, cuts, hidden, tuple(new)
            )
            new = []
