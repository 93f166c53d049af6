"""The guard of a server's tools: nothing is called while the server is not what was pinned."""

from typing import Final

import anyio

from clew.core.errors import ToolError
from clew.core.events import Verdict
from clew.core.trajectory import Call, Trajectory
from clew.toolbox.mcp.link import Link

_PATIENCE: Final = 10.0
"""Seconds that connecting may take here; the call itself waits longer, and looks again."""


class PinGuard:
    """Holds a call with what differs, if the server's definitions are not the pinned ones.

    A server that cannot be reached holds nothing up: the call then says so itself.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    def __repr__(self) -> str:
        """Its name in records."""
        return f"mcp_pins({self._link.server.name})"

    async def __call__(self, call: Call, so_far: Trajectory) -> Verdict | None:
        """Judge one call of a tool of this server."""
        with anyio.move_on_after(_PATIENCE):
            try:
                return await self._link.verdict(so_far, call.key)
            except ToolError:
                return None
        return None
