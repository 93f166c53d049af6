"""Tools made of the pinned definitions of MCP servers."""

import logging
import shlex
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from clew import ConfigError, Tool, ToolError
from clew.concurrency.portal import twin
from clew.guards import Labels
from clew.interfaces import Effect, Json, Model, Parameters, Trust
from clew.tools import Attempts
from clew.tools.definitions import Published, publish
from clew.tools.schema import checked, compile_schema
from clew_mcp.guard import PinGuard
from clew_mcp.pinned_server import PinnedServer, sdk_module
from clew_mcp.pins import PinFile, ServerPins, pin_file
from clew_mcp.settings import McpServer, printable, server_from, servers_by_name
from clew_mcp.told import tell

LOG: Final = logging.getLogger("clew")

_PAGE: Final[Parameters] = {
    "type": "object",
    "properties": {
        "cursor": {"type": "string", "description": "Where the last page says that there are more"}
    },
    "additionalProperties": False,
}
_URI: Final[Parameters] = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "The address of the resource"}},
    "required": ["uri"],
    "additionalProperties": False,
}
_PROMPT: Final[Parameters] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_FURTHER: Final = {
    "resources": {
        "list_resources": ("Lists the resources of the server {name}: files, records …", _PAGE),
        "read_resource": ("Reads one resource of the server {name}.", _URI),
    },
    "prompts": {
        "list_prompts": ("Lists the prompts that the server {name} offers.", _PAGE),
        "get_prompt": ("Fills in a prompt of the server {name} with arguments.", _PROMPT),
    },
}


async def mcp_tools(
    *servers: McpServer | str,
    pins: PinFile | str | Path | None = None,
    model: Model | None = None,
) -> tuple[Tool, ...]:
    """The tools of MCP servers, each called `SERVER_tool`: plain tools, to filter and to replace.

    A server is an `McpServer`, or a line: `[NAME=]URL` or `[NAME=]COMMAND ARGS`. At first use it is
    asked for its definitions, and these are pinned in the file `pins` (one in clew's data folder if
    it is not given); later they are read from there, and nothing is connected before a call. A call
    is held while the server says something else than what was pinned. `model` answers the server's
    own questions within `McpServer.sampling`.

    Raises `ConfigError` where a server can be none, cannot be reached at first use, or lacks a tool
    that its settings name.
    """
    pin_store = pins if isinstance(pins, PinFile | None) else PinFile(Path(pins))
    file = pin_file() if pin_store is None else pin_store
    named = servers_by_name([
        server_from(each) if isinstance(each, str) else each for each in servers
    ])  # fmt: skip
    made: list[Tool] = []
    for server in named.values():
        pins_now = await pinned(server, file)
        made += _tools_in(file, server, pins_now, model)
    return (*made,)


mcp_tools_sync = twin(mcp_tools)


def tools_of(server: McpServer, file: PinFile, model: Model | None = None) -> list[Tool]:
    """The tools of a server, for callers without an event loop. Raises `ConfigError`."""
    if (pins := file.get(server.name)) is None:
        pins = twin(pinned)(server, file)
    else:
        _check_address(server, pins, file)
    return _tools_in(file, server, pins, model)


def _tools_in(
    file: PinFile, server: McpServer, pins: ServerPins, model: Model | None
) -> list[Tool]:
    rejected, accept = file.rejected(server.name), _accepting(server, pins, file)
    return make_tools(server, pins, model, rejected, accept)


async def pinned(server: McpServer, file: PinFile) -> ServerPins:
    """The pins of a server; at first use it is asked for them. Raises `ConfigError`."""
    if (known := file.get(server.name)) is not None:
        _check_address(server, known, file)
        return known
    pins = await ask_server(server)
    file.put(server.name, pins)
    LOG.warning(
        "MCP server %s: %d tools are pinned in %s at first use; look at them with "
        "`clew mcp pins list %s%s`",
        server.name, len(pins.tools), file.path, server.name, file.option,
    )  # fmt: skip
    return pins


def _check_address(server: McpServer, pins: ServerPins, file: PinFile) -> None:
    """Say so where the pins are those of another server under the same name."""
    if pins.address != server.address:
        tell(
            f"MCP server {server.name}: its tools are those that are pinned in {file.path} for "
            f"{printable(pins.address)}, and not for {printable(server.address)}: pin it anew with "
            f"`{_accepting(server, pins, file)}`, or give one of the two another name"
        )


def _accepting(server: McpServer, pins: ServerPins, file: PinFile) -> str:
    """The command that pins what the server says now in this file.

    Without an agent file, it asks the server at its recorded address: another is to be named.
    """
    moved = pins.address != server.address and not file.option.startswith(" --agent")
    at = f" --mcp {shlex.quote(f'{server.name}={server.address}')}" if moved else ""
    return f"clew mcp pins accept {server.name}{file.option}{printable(at)}"


async def ask_server(server: McpServer) -> ServerPins:
    """What the server says of itself now, by a connection of its own. Raises `ConfigError`."""
    try:
        sdk = await sdk_module("connection")
        async with sdk.open_connection(server) as connection:
            pins: ServerPins = await connection.listing()
            return pins
    except ToolError as error:
        raise ConfigError(f"{error} ({printable(server.address)})") from error


def make_tools(
    server: McpServer,
    pins: ServerPins,
    model: Model | None = None,
    rejected: Sequence[str] = (),
    accept: str = "",
) -> list[Tool]:
    """The tools of a server from its pins; nothing is connected.

    `accept` is the command that pins what the server says now. Raises `ConfigError`.
    """
    _check_named(server, pins)
    pinned = PinnedServer(server, pins, model, rejected, accept)
    effects: dict[str, Effect] = {}
    guard = PinGuard(pinned, effects)
    version = f"mcp:{pins.digest[:16]}"

    def finished(made: Tool, effect: Effect, trust: Trust) -> Tool:
        effects[made.name] = effect
        return checked(replace(made, effect=effect, trust=trust, version=version, guard=guard))

    own = {f"{server.name}_{tool['name']}": tool["name"] for tool in pins.tools}

    async def call(name: str, args: dict[str, Json], key: str) -> Any:
        tool = own[name]
        return await pinned.call(tool, args, key, server.effects.get(tool, "unsafe"))

    tools: list[Tool] = []
    made, lines = _published(server, pins, call)
    for line in lines:
        tell(f"MCP server {server.name}: {line}")
    for each in made:
        tool = own[each.name]
        trust: Trust = "trusted" if tool in server.trusted else "untrusted"
        tools.append(finished(each.tool, server.effects.get(tool, "unsafe"), trust))
    names = {tool.name for tool in tools}
    return tools + [
        finished(bare, "read", "untrusted")
        for bare in _further(server, pinned)
        if bare.name not in names  # else the server has a tool of that name itself
    ]


def _published(
    server: McpServer, pins: ServerPins, call: Callable[..., Awaitable[Any]]
) -> tuple[tuple[Published, ...], tuple[str, ...]]:
    """The tools on offer, and a line for each that cannot be used."""
    offered = [tool for tool in pins.tools if not server.only or tool["name"] in server.only]
    unfit = [(tool["name"], why) for tool in offered if (why := _unfit(tool))]
    names = {name for name, _ in unfit}
    definitions = [
        {
            "name": f"{server.name}_{tool['name']}",
            "description": tool.get("description") or tool.get("title") or tool["name"],
            "inputSchema": tool.get("inputSchema"),
        }
        for tool in offered
        if tool["name"] not in names
    ]
    labels = {f"{server.name}_{name}": each for name, each in server.labels.items()}
    made, problems = publish(definitions, call, labels=labels, timeout=server.timeout)
    lines = [
        *pins.notes,
        *(f"the tool {printable(name)} is left out: {why}" for name, why in unfit),
    ]
    return made, (*lines, *(printable(f"left out: {line}") for line in problems))


def left_out(server: McpServer, pins: ServerPins) -> tuple[str, ...]:
    """A line for each tool, or part of the list, that cannot be used, and why."""

    async def never(_name: str, _args: dict[str, Json], _key: str) -> Any:
        raise ToolError("this tool is only listed")

    return _published(server, pins, never)[1]


def _unfit(tool: dict[str, Json]) -> str:
    """Why the definition of a tool cannot be used, beside what its arguments are; "" if it can."""
    for what in ("inputSchema", "outputSchema"):
        schema = tool.get(what)
        if schema is None and what == "outputSchema":
            continue
        if not isinstance(schema, dict):
            return f"its {what} is no JSON object" if schema is not None else f"it has no {what}"
    if (schema := tool.get("outputSchema")) is None:
        return ""
    try:
        compile_schema(schema)
    except (ConfigError, RecursionError) as error:
        return printable(f"its outputSchema: {error}")
    return ""


def _check_named(server: McpServer, pins: ServerPins) -> None:
    """Raise where the settings name a tool that the server does not have."""
    known = pins.by_name
    for what in ("effects", "trusted", "labels", "only"):
        for name in getattr(server, what):
            if name not in known:
                there = ", ".join(known) or "none"
                raise ConfigError(
                    f"{what} of the MCP server {server.name} names {name}, and its tools are "
                    f"{there}"
                )


def _further(server: McpServer, pinned: PinnedServer) -> Iterable[Tool]:
    """The tools that read resources and prompts, where they are asked for."""
    for what, tools in _FURTHER.items():
        if getattr(server, what):
            for name, (about, parameters) in tools.items():
                yield Tool(
                    f"{server.name}_{name}",
                    about.format(name=server.name),
                    parameters,
                    partial(_ask, pinned, name),
                    # it reads whatever address it is given
                    labels=Labels(egress="uri" in parameters["properties"]),
                    attempts=Attempts(timeout=server.timeout),
                )


async def _ask(pinned: PinnedServer, name: str, args: dict[str, Json], key: str) -> Any:
    ask = getattr(await sdk_module("requests"), name)
    return await pinned.make(lambda connection: ask(connection, args), key, "read")
