"""`clew tools classify`: what a tool of an MCP server does, written into the agent file."""

import click

from clew import ConfigError
from clew.cli.errors import ANSWERED
from clew.cli.options import AGENT, DEBUG
from clew.cli.safe_text import inert, say
from clew.interfaces import Effect
from clew_mcp.classify import classify as classify_in_file
from clew_mcp.cli.mcp_servers import named_servers


@click.command()
@click.argument("tool")
@click.argument("effect", type=click.Choice(["pure", "read", "idempotent", "unsafe"]))
@click.option("--trusted", is_flag=True, help="Its results come from you, and may be believed.")
@AGENT
@DEBUG
def classify(tool: str, effect: Effect, *, trusted: bool, agent: str | None) -> int:
    """Say in the agent file what TOOL (SERVER_tool) does to the world.

    pure and read change nothing; idempotent may happen twice; unsafe must not. Without --trusted
    its results are untrusted text. Comments of the file stay.
    """
    if agent is None:
        raise ConfigError("this is written into an agent file: name it with --agent FILE")
    _check_pinned(agent, tool)
    classify_in_file(agent, tool, effect, trusted=trusted)
    word = "trusted" if trusted else "untrusted"
    say(f"{inert(tool)} is {effect} and {word}, says {agent}")
    return ANSWERED


def _check_pinned(agent: str, tool: str) -> None:
    """Raise `ConfigError` where the server's pins have no such tool."""
    servers, file = named_servers({"agent": agent})
    mine = [name for name in servers if tool.startswith(f"{name}_")]
    if not mine:
        return  # which is told when the file is changed
    name = max(mine, key=len)
    pins = file.get(name)
    if pins is not None and tool.removeprefix(f"{name}_") not in pins.by_name:
        known = ", ".join(f"{name}_{each}" for each in pins.by_name) or "none"
        raise ConfigError(f"the MCP server {name} has no tool {tool}: its tools are {known}")
