"""`clew tools classify`: what a tool of an MCP server does, written into the agent file."""

import click

from clew import ConfigError
from clew.cli.errors import ANSWERED
from clew.cli.options import AGENT, DEBUG
from clew.cli.safe_text import say
from clew.guards import Labels
from clew.interfaces import Effect
from clew.support.printable import inert
from clew_mcp.classify import classify as classify_in_file
from clew_mcp.cli.mcp_servers import named_servers


@click.command()
@click.argument("tool")
@click.argument("effect", type=click.Choice(["pure", "read", "idempotent", "unsafe"]))
@click.option("--trusted", is_flag=True, help="Its results come from you, and may be believed.")
@click.option(
    "--trusted-field",
    "trusted_fields",
    metavar="NAME",
    multiple=True,
    help="A field of its results that no third party can choose. Repeatable.",
)
@click.option(
    "--content",
    metavar="NAME",
    multiple=True,
    help="An argument that is only text to carry. Repeatable.",
)
@click.option("--egress", is_flag=True, help="What it is asked leaves, though it only reads.")
@click.option("--traces", is_flag=True, help="Others can see that it was called.")
@click.option("--secret", is_flag=True, help="Its results go nowhere unasked.")
@AGENT
@DEBUG
def classify(
    tool: str,
    effect: Effect,
    *,
    trusted: bool,
    trusted_fields: tuple[str, ...],
    content: tuple[str, ...],
    egress: bool,
    traces: bool,
    secret: bool,
    agent: str | None,
) -> int:
    """Say in the agent file what TOOL (SERVER_tool) does to the world.

    pure and read change nothing; idempotent may happen twice; unsafe must not. Without --trusted
    its results are untrusted text. Comments of the file stay.
    """
    if agent is None:
        raise ConfigError("this is written into an agent file: name it with --agent FILE")
    _check_pinned(agent, tool)
    labels = Labels(trusted_fields, content, egress, traces, secret)
    classify_in_file(agent, tool, effect, trusted=trusted, labels=labels)
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
