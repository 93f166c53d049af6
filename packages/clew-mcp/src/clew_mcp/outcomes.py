"""What can go wrong with a connection, and what is known of a call then."""

from typing import Final

import anyio

from clew import ToolError

NOT_REACHED: Final = -32950
"""JSON-RPC code of clew's own: the request never left, or the server refused to look at it."""

LOST: Final = -32951
"""JSON-RPC code of clew's own: the request was sent, and no answer came."""


SESSION_OVER: Final = -32952
"""JSON-RPC code of clew's own: the server no longer knows the session, and did nothing."""


SESSION_LOST: Final = -32953
"""JSON-RPC code of clew's own: the session is over, and the request in it may have been begun."""


class SessionOver(ToolError):  # noqa: N818 - as `ConnectionLost`
    """The server has forgotten the session, as after a restart: nothing was done; connect anew."""


class ConnectionLost(Exception):  # noqa: N818 - it says what happened, as in the observation
    """The server went away, or its answer cannot be read: what became of the call is unknown."""


class ServerFailed(Exception):  # noqa: N818 - as above
    """The server failed while it worked on the call: what it did until then is unknown."""


class TaskLost(Exception):  # noqa: N818 - as above
    """A task failed, was cancelled, or is not known to its server any more."""


class Broken:
    """Whether the connection to a server can answer no more, and why; the first reason counts."""

    def __init__(self, server: str) -> None:
        self.event = anyio.Event()
        self.reason = ""
        self._server = server

    def because(self, reason: str) -> None:
        """Say that the connection is of no use any more."""
        if not self.event.is_set():
            self.reason = reason
            self.event.set()

    @property
    def text(self) -> str:
        """What is told of a call that was under way."""
        why = self.reason or "the connection was closed"
        return f"the MCP server {self._server} went away in mid-call: {why}"
