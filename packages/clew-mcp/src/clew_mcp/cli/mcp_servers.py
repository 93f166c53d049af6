"""The MCP servers named by options, and their pin file."""

from pathlib import Path
from typing import Final

import click
import msgspec

from clew import ConfigError
from clew.cli.agents import options
from clew.interfaces import Json
from clew_mcp import McpServer, PinFile, pin_file, server_from, server_of_table

ANY: Final = click.argument("server", required=False)
ONE: Final = click.argument("server")
PINS: Final = click.option(
    "--pins",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="The file of pins that a program gave to `mcp_tools`.",
)


def named_servers(option_values: dict[str, Json]) -> tuple[dict[str, McpServer], PinFile]:
    """The servers of --agent and --mcp by name, and their pin file.

    Without either, the servers pinned in the data folder, by their recorded addresses. The file is
    that of --pins, where it is given.
    """
    pins = option_values.get("pins")
    own = None if pins is None else PinFile(Path(str(pins)))
    option_values = {name: value for name, value in option_values.items() if name != "pins"}
    if not any(option_values.values()):
        file = own or pin_file()
        known = file.read()
        return {name: server_from(f"{name}={known[name].address}") for name in known}, file
    spec = options(option_values)
    servers: dict[str, McpServer] = {}
    for each in spec.mcp:
        if each.name in servers:
            raise ConfigError(f"two MCP servers are called {each.name}: rename one (NAME=…)")
        servers[each.name] = server_of_table(msgspec.to_builtins(each))
    return servers, own or pin_file(spec.file)


def select_servers(servers: dict[str, McpServer], name: str | None) -> list[McpServer]:
    """The server of that name, or all. Raises `ConfigError` if there is none."""
    if name is None:
        return [*servers.values()]
    if name not in servers:
        known = ", ".join(servers) or "none"
        message = (
            f"no MCP server is called {name} here: there is {known}; name it with --agent FILE or "
            f"--mcp {name}=…"
        )
        raise ConfigError(message)
    return [servers[name]]
