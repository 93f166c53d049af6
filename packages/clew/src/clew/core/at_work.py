"""What runs that are at work at once for one strategy began: `clew.core.siblings` has the rules."""

from dataclasses import dataclass
from typing import NamedTuple

import anyio

from clew.core.actions import Done
from clew.core.trajectory import Call, Trajectory


class Begun(NamedTuple):
    """A call that is about to be made, or was: `done` is all that it may do until it has ended."""

    by: str
    """The key of the strategy's call that its run, or a run above that, serves."""
    trajectory: Trajectory
    call: Call
    done: Done


class AtWork:
    """The runs of one step of a strategy, as far as this process made them work.

    `record` is the strategy's. `before` is what their records had when that was first asked, by the
    keys of the effects; `begun` is what they began since this process took them up.
    """

    def __init__(self, record: Trajectory, step: int) -> None:
        self.record = record
        self.step = step
        self.before: dict[str, tuple[str, Done]] | None = None
        self.begun: list[Begun] = []
        self.reading = anyio.Lock()


@dataclass(frozen=True)
class Sibling:
    """One of the runs that are at work at once: it serves the call `key`."""

    work: AtWork
    key: str
