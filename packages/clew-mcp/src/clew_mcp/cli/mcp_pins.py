"""`clew mcp pins`: show, check, accept and reject the pinned definitions of MCP servers."""

from collections.abc import Iterator
from typing import Any, cast

import anyio
import click
import msgspec

from clew import ConfigError
from clew.cli.errors import ANSWERED, FAILED
from clew.cli.options import AGENT, DEBUG, JSON, MCP
from clew.cli.render import TextBlock
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.interfaces import Json
from clew.support.printable import inert
from clew.support.short_text import one_line
from clew_mcp import McpServer, PinFile, ServerPins, ask_server, changes
from clew_mcp.cli.mcp_servers import ANY, ONE, PINS, named_servers, select_servers


@click.command("list")
@ANY
@click.option(
    "--check",
    is_flag=True,
    help="Ask the servers, and show what differs now: then the exit code is 5.",
)
@AGENT
@MCP
@PINS
@JSON
@DEBUG
def list_pins(server: str | None, *, check: bool, as_json: bool, **option_values: Json) -> int:
    """Show what is pinned: servers, their instructions and tools.

    What servers claim of their tools (read-only, destructive …) is shown as a claim and has no
    effect.
    """
    servers, file = named_servers(option_values)
    known = file.read()
    wanted = [*known] if server is None else [server]
    selected = {name: known[name] for name in wanted if name in known}
    if server is not None and not selected:
        message = f"nothing is pinned of {server} in {file.path}: there is {', '.join(known)}"
        raise ConfigError(message)
    differences = {
        name: _differences(servers, name, pins) for name, pins in selected.items() if check
    }
    code = FAILED if any(differences.values()) else ANSWERED
    if as_json:
        listing = {
            name: {
                **msgspec.to_builtins(pins),
                "digest": pins.digest,
                **({"differences": differences[name]} if check else {}),
            }
            for name, pins in selected.items()
        }
        say(json_text(listing))
        return code
    out = console()
    for name, pins in selected.items():
        put(out, TextBlock(inert(name), f"pinned {pins.digest[:16]}", "dim"))
        for line in _lines(pins):
            out.print(f"  {inert(line)}")
        for line in _told(differences[name]) if check else ():
            out.print(f"  {inert(line)}")
    if not selected:
        say(f"nothing is pinned in {inert(str(file.path))}")
    return code


def _lines(pins: ServerPins) -> Iterator[str]:
    yield f"{pins.name} {pins.version} at {pins.address}"
    if pins.instructions:
        yield f"it instructs: {one_line(pins.instructions)}"
    yield from pins.notes
    for tool in pins.tools:
        annotations = tool.get("annotations")
        claims = cast("dict[str, Any]", annotations) if isinstance(annotations, dict) else {}
        claimed = ", ".join(f"{name} {str(value).lower()}" for name, value in claims.items())
        about = one_line(str(tool.get("description", "")))
        yield f"{tool['name']}: {about}{f'  (it claims: {claimed})' if claimed else ''}"


def _differences(
    servers: dict[str, McpServer], name: str, pins: ServerPins
) -> tuple[str, ...] | None:
    """What differs at the server now; None where it is no server of this agent."""
    if name not in servers:
        return None
    return changes(pins, anyio.run(ask_server, servers[name]))


def _told(differences: tuple[str, ...] | None) -> tuple[str, ...]:
    if differences is None:
        return ("(not a server of this agent)",)
    return differences or ("it says the same now",)


@click.command()
@ONE
@AGENT
@MCP
@PINS
@DEBUG
def accept(server: str, **option_values: Json) -> int:
    """Ask a server for its current tools, show what differs from the pins, and pin them.

    Runs that began with the old pins ask before they continue with the new ones (--accept-change).
    """
    file, before, now = _ask(server, option_values)
    file.put(server, now)
    _show(server, before, now, "pinned")
    return ANSWERED


@click.command()
@ONE
@AGENT
@MCP
@PINS
@DEBUG
def reject(server: str, **option_values: Json) -> int:
    """Ask a server for its current tools, show what differs from the pins, and reject them.

    The pins stay. While the server offers these tools, calls are refused instead of held.
    """
    file, before, now = _ask(server, option_values)
    if before is not None and before.digest == now.digest:
        message = f"the MCP server {server} says what is pinned: there is nothing to reject"
        raise ConfigError(message)
    file.reject(server, now.digest)
    _show(server, before, now, "rejected")
    return ANSWERED


def _ask(
    server: str, option_values: dict[str, Json]
) -> tuple[PinFile, ServerPins | None, ServerPins]:
    """The pin file, the server's pins in it, and its current definitions."""
    servers, file = named_servers(option_values)
    (asked,) = select_servers(servers, server)
    return file, file.get(server), anyio.run(ask_server, asked)


def _show(name: str, before: ServerPins | None, now: ServerPins, done: str) -> None:
    for line in () if before is None else changes(before, now):
        say(inert(line))
    tools = f"{len(now.tools)} tool{'' if len(now.tools) == 1 else 's'}"
    same = before is not None and before.digest == now.digest
    say(f"{inert(name)}: {done}{' again, nothing differs' if same else ''} ({tools})")
