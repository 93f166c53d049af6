"""`clew tools list`: what a model may be given to act with."""

from pathlib import Path
from typing import Final, cast

import click
import msgspec

from clew import ConfigError, Tool
from clew.agent_files import DOCS, Spec, make_tools, tool_names
from clew.cli.agents import options
from clew.cli.errors import ANSWERED
from clew.cli.options import AGENT, DEBUG, JSON, MCP
from clew.cli.render import TextBlock
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.interfaces import Json, ToolSpec
from clew.support.printable import inert
from clew.support.wings import TOOLS, find
from clew.toolbox.docs import Library

_UNJUDGED: Final = Spec(provenance="off")
"""For tools that are listed without an agent."""


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
        say(json_text([described(tool, wanted) for tool in tools]))
        return ANSWERED
    out = console()
    for tool in tools:
        put(out, TextBlock(f"{tool.name}({signature(tool)})", effects(tool, wanted), "dim"))
        out.print(f"  {inert(tool.description)}")
    return ANSWERED


def _usable() -> tuple[str, ...]:
    """The tools by name, but for those that cannot be made: they are told of on stderr."""
    lacking: dict[str, list[str]] = {}
    usable: dict[str, str] = {}  # by the name that a model knows
    for name in tool_names():
        try:
            find(TOOLS, name)  # says what to install
            called = DOCS if name == DOCS else make_tools(Spec(tools=(name,)), None)[0].name
            if usable.setdefault(called, name) != name:
                say(f"Not usable: {name} makes another tool called {called}", err=True)
        except ConfigError as error:
            if error.install:
                lacking.setdefault(error.install, []).append(name)
            else:
                say(f"Not usable: {error}", err=True)
    for command, lacked in lacking.items():
        say(f"Not installed ({command}): {', '.join(lacked)}", err=True)
    return tuple(usable.values())


def described(tool: ToolSpec, spec: Spec = _UNJUDGED) -> dict[str, Json]:
    """A tool as JSON; the agent's `spec` says which calls are asked about."""
    return {
        "name": tool.name,
        "effect": tool.effect,
        "trust": tool.trust,
        "labels": msgspec.to_builtins(tool.labels),
        **({} if spec is _UNJUDGED else {"provenance": spec.judges.level_of(tool)}),
        "approve": _rule(tool),
        "timeout": tool.attempts.timeout if isinstance(tool, Tool) else None,
        "description": tool.description,
        "parameters": tool.parameters,
    }


def effects(tool: ToolSpec, spec: Spec = _UNJUDGED) -> str:
    """Its effect, what else a call of it does, and how its calls are judged."""
    labels = tool.labels
    trusted, strict = tool.trust == "trusted", spec.judges.level_of(tool)
    rule = _rule(tool)
    asked = f": {inert(rule)}" if isinstance(rule, str) else ""
    fields, content = ", ".join(labels.trusted), ", ".join(labels.content)
    more = {
        "trusted": trusted,
        f"trusted fields {fields}": fields and not trusted,
        f"content {content}": content,
        "arguments leave": labels.egress,
        "leaves traces": labels.traces,
        "secret": labels.secret,
        "described by others": labels.foreign,
        "contained": labels.contained,
        f"provenance {strict}": strict != "off",
        f"approval{asked}": bool(rule),
    }
    return ", ".join([tool.effect, *(name for name, holds in more.items() if holds)])


def _rule(tool: ToolSpec) -> bool | str:
    """Whether a person approves its calls: the reason, or the name of the function that says so."""
    rule = tool.approve
    return rule if isinstance(rule, bool | str) else getattr(rule, "__qualname__", repr(rule))


def heading(tool: ToolSpec) -> str:
    """Its name and arguments, and what its calls do, on one line."""
    return f"{inert(tool.name)}({signature(tool)}): {inert(effects(tool))}"


def signature(tool: ToolSpec) -> str:
    """The arguments by name and type; those that may be left out in brackets."""
    properties = cast("dict[str, dict[str, Json]]", tool.parameters.get("properties", {}))
    required = cast("list[str]", tool.parameters.get("required", []))
    params: list[str] = []
    for name, schema in properties.items():
        text = f"{name}: {schema.get('type', 'any')}"
        params.append(text if name in required else f"[{text}]")
    return inert(", ".join(params))
