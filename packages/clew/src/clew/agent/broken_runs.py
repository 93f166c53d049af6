"""Runs that break their workers: how that is noticed, and how such a run is set aside.

A worker that dies, by `os._exit`, a signal or for want of memory, writes nothing. But it opened the
run before, and the store counts openings. So what says that a run broke its worker is an opening
without anything that came of it. After `MAX_FAILURES` of them in a row the run is stopped, with a
reason; a person who resumes it, rules on it or speaks to it takes that back, and counting begins
anew.
"""

from typing import Final

from clew.core.events import Attempt, Changed, Charged, Judged, Stop
from clew.core.settling import stopped
from clew.core.trajectory import Trajectory

MAX_FAILURES: Final = 3
"""So many openings in a row may come to nothing."""

_IN_SUB_RUNS: Final = 10
"""Times as many where a sub-run is under way: what comes of it stands in its own record."""

_REPEATED: Final = (Attempt, Changed, Judged)
"""What a worker may write each time that it takes a run up, without getting on."""


def idle_openings(trajectory: Trajectory, epoch: int) -> int:
    """How often in a row a run was opened, up to this epoch, and nothing came of it."""
    for entry in reversed(trajectory.entries):
        event = entry.event
        lost = isinstance(event, Charged) and event.kind == "lost_reply"
        if not lost and not isinstance(event, _REPEATED):
            return epoch - entry.epoch
    return 0


def too_often(trajectory: Trajectory, epoch: int) -> Stop | None:
    """The stop of a run that is open, and that broke its worker too often up to this epoch."""
    count = idle_openings(trajectory, epoch)
    below = any(call.child for call in trajectory.step.pending)
    if trajectory.stop is not None or count < (
        MAX_FAILURES * _IN_SUB_RUNS if below else MAX_FAILURES
    ):
        return None
    why = f"{count} workers took it up in a row and broke, or its parts raised, before it got on"
    return stopped(trajectory, Stop("failed", f"set aside: {why}", code="set_aside"))


def is_set_aside(stop: Stop | None) -> bool:
    """Whether a stop says that the run was set aside because it broke its workers."""
    return stop is not None and stop.code == "set_aside"
