"""The guard of a server's tools: nothing is called while the server is not what was pinned."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import anyio

from clew import Call, ToolError, Trajectory, Verdict
from clew.interfaces import Effect
from clew_mcp.pinned_server import PinnedServer

_PATIENCE: Final = 10.0
"""Seconds that connecting may take here; the call itself waits longer, and looks again."""


class PinGuard:
    """Holds a call with what differs, if the server's definitions are not the pinned ones.

    A server that cannot be reached holds nothing up: the call then says so itself.
    """

    def __init__(self, pinned: PinnedServer, effects: Mapping[str, Effect]) -> None:
        self._pinned = pinned
        self._effects = effects

    def __repr__(self) -> str:
        """Its name in records."""
        return f"mcp_pins({self._pinned.server.name})"

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Judge one call of a tool of this server."""
        with anyio.move_on_after(_PATIENCE), suppress(ToolError):
            effect = self._effects.get(call.action.name, "unsafe")
            return await self._pinned.verdict(trajectory, call.key, effect)
        return None
