"""Tools that a client brings along: it performs their calls itself, and gives their results.

Such a run's agent is a served one with these tools beside its own. The record says which they are,
so that any process that serves the agent goes on with the run.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from clew import Agent, Trajectory
from clew.tools import external

TOOLS: Final = "tools"
"""What the origin in a record has them by, beside the name of the agent."""

MAX_TOOLS: Final = 128
KEPT: Final = 64
"""So many agents with tools of clients are kept, since one takes milliseconds to make."""


class ClientTool(msgspec.Struct, frozen=True):
    """A tool of a client: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None


def with_tools(agent: Agent[Any], tools: Sequence[ClientTool]) -> Agent[Any]:
    """The agent with these tools too. Raises `ConfigError` for what cannot be a tool of it."""
    bare: dict[str, Any] = {"type": "object", "properties": {}}
    theirs = [external(it.name, it.description or it.name, it.parameters or bare) for it in tools]
    return agent.replace(tools=(*agent.tools, *theirs))


def tools_of(record: Trajectory) -> tuple[ClientTool, ...]:
    """The tools that a run's client brought along when it began."""
    match record.started.origin:
        case {"serve": {"tools": tools}}:
            return msgspec.convert(tools, tuple[ClientTool, ...])
        case _:
            return ()
