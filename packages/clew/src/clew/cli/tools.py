"""`clew tools list`: what a model may be given to act with."""

from itertools import chain
from pathlib import Path
from typing import cast

import click

from clew import ConfigError, Tool
from clew.agent_files import DOCS, Spec, make_tools, tool_names
from clew.cli.agents import options
from clew.cli.errors import ANSWERED
from clew.cli.options import AGENT, DEBUG, JSON, MCP
from clew.cli.render import TextBlock
from clew.cli.safe_text import inert, json_text, say
from clew.cli.screen import console, put
from clew.interfaces import Json, ToolSpec
from clew.support.wings import TOOLS, find, names
from clew.toolbox.docs import Library


@click.command("list")
@click.option(
    "--tools", metavar="NAMES", help="List only these: names, or module:name of your own."
)
@AGENT
@MCP
@JSON
@DEBUG
def list_tools(*, as_json: bool, **arguments: Json) -> int:
    """List tools: the effect of each, its arguments, and what it is for.

    --docs FOLDER adds `docs` and `docs_read`; name the others in --tools.
    """
    wanted = options(arguments) if any(arguments.values()) else Spec(tools=_usable())
    listed = DOCS in wanted.named_tools
    # No folder is read to list its tools.
    tools = make_tools(wanted, Library(Path.cwd()) if listed else None)
    if as_json:
        say(json_text([described(tool) for tool in tools]))
        return ANSWERED
    out = console()
    for tool in tools:
        put(out, TextBlock(f"{tool.name}({signature(tool)})", tool.effect, "dim"))
        out.print(f"  {inert(tool.description)}")
    return ANSWERED


def _usable() -> tuple[str, ...]:
    """The shipped tools, but for those that lack an extra: they are told of on stderr."""
    lacking: dict[str, list[str]] = {}
    for name in names(TOOLS):
        try:
            find(TOOLS, name)
        except ConfigError as error:
            lacking.setdefault(error.install, []).append(name)
    for command, lacked in lacking.items():
        say(f"Not installed ({command}): {', '.join(lacked)}", err=True)
    without = {*chain.from_iterable(lacking.values())}
    return tuple(name for name in tool_names() if name not in without)


def described(tool: ToolSpec) -> dict[str, Json]:
    """A tool as JSON."""
    return {
        "name": tool.name,
        "effect": tool.effect,
        "trust": tool.trust,
        "timeout": tool.timeout if isinstance(tool, Tool) else None,
        "description": tool.description,
        "parameters": tool.parameters,
    }


def signature(tool: ToolSpec) -> str:
    """The arguments by name and type; those that may be left out in brackets."""
    properties = cast("dict[str, dict[str, Json]]", tool.parameters.get("properties", {}))
    required = cast("list[str]", tool.parameters.get("required", []))
    params: list[str] = []
    for name, schema in properties.items():
        text = f"{name}: {schema.get('type', 'any')}"
        params.append(text if name in required else f"[{text}]")
    return inert(", ".join(params))
