"""MCP servers as agent files and command lines name them; found by the entry points `clew.mcp`."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from clew import ConfigError, Tool
from clew.interfaces import Json, Model
from clew_mcp.pins import pin_file
from clew_mcp.settings import McpServer, server_from
from clew_mcp.tools import tools_of


def server_of_table(table: Mapping[str, Json]) -> McpServer:
    """The server of a table `[[mcp]]`. Raises `ConfigError`."""
    try:
        return msgspec.convert(dict(table), McpServer)
    except msgspec.ValidationError as error:
        raise ConfigError(re.sub(r" - at `.*`", "", str(error))) from error


def tools_of_table(table: Mapping[str, Json], file: str, model: Model | None) -> list[Tool]:
    """The tools of a table `[[mcp]]`, from what is pinned beside its file, or is pinned now."""
    return tools_of(server_of_table(table), pin_file(file), model)


def server_of_line(line: str) -> dict[str, Any]:
    """The table of a server that a command line names."""
    table: dict[str, Any] = msgspec.to_builtins(server_from(line))
    return table
