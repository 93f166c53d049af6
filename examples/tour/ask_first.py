"""A guard for the tour of the README: slow enough to be killed, and it leaves the call to you."""

import anyio

from clew import Call, Trajectory, Verdict


async def ask_first(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Hold every calculation, after a while."""
    if call.action.name != "calc":
        return None
    await anyio.sleep(2)
    return Verdict("hold", "a person decides what is calculated")
