"""Guards of tests that say one thing of one tool."""

from typing import Literal

from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict
from clew.interfaces import Guard


def verdict_on(tool: str, kind: Literal["hold", "deny"], why: str) -> Guard:
    """A guard with this verdict on each call of the tool, and none on others."""

    async def guard(call: Call, _so_far: Trajectory) -> Verdict | None:
        return Verdict(kind, why) if call.action.name == tool else None

    return guard
