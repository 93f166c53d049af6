"""A fork's own guard: what the run it was cut from did in the world is not done again unasked."""

import msgspec

from clew.core.events import Verdict
from clew.core.trajectory import Call, Trajectory


class AlreadyDone(msgspec.Struct, frozen=True):
    """A guard: holds a call that repeats a side effect from after a fork point.

    A repeat is the same tool with the same arguments. It does nothing in a run that is not a fork.
    """

    async def __call__(self, call: Call, so_far: Trajectory) -> Verdict | None:
        """Hold the call for a person, who knows whether it is to happen twice."""
        for fork in so_far.forks:
            for done in fork.done:
                if done.tool == call.action.name and done.hash == call.hash:
                    was = "may have been done" if done.outcome == "unknown" else "was done"
                    reason = f"this {was} already, by {done.key}: allow it if it is to happen twice"
                    return Verdict("hold", reason)
        return None
