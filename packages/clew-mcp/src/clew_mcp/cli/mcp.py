"""`clew mcp list`: MCP servers and their tools."""

import click

from clew.cli.errors import ANSWERED
from clew.cli.options import AGENT, DEBUG, JSON, MCP
from clew.cli.render import TextBlock
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.cli.tools import described, heading
from clew.interfaces import Json
from clew.support.printable import inert
from clew_mcp import McpServer, PinFile, left_out, mcp_tools_sync
from clew_mcp.cli.mcp_servers import ANY, named_servers, select_servers


@click.command("list")
@ANY
@AGENT
@MCP
@JSON
@DEBUG
def list_servers(server: str | None, *, as_json: bool, **options: Json) -> int:
    """List MCP servers and their tools, with what you say that they do.

    They are those of --agent FILE or --mcp, else all that are pinned in your data folder. A server
    that is new is asked for its tools, and pinned.
    """
    servers, file = named_servers(options)
    listings = [
        (each, mcp_tools_sync(each, pins=file), lines_of(each, file))
        for each in select_servers(servers, server)
    ]
    if as_json:
        listed = [
            {
                "name": each.name,
                "address": each.address,
                "tools": [*map(described, tools)],
                "left_out": [*lines],
            }
            for each, tools, lines in listings
        ]
        say(json_text(listed))
        return ANSWERED
    out = console()
    for each, tools, lines in listings:
        put(out, TextBlock(inert(each.name), inert(each.address), "dim"))
        for tool in tools:
            out.print(f"  {heading(tool)}")
        for line in lines:
            out.print(f"  {inert(line)}", style="yellow")
    if not listings:
        say(f"no MCP server is pinned in {inert(str(file.path))}")
    return ANSWERED


def lines_of(server: McpServer, file: PinFile) -> tuple[str, ...]:
    """What a server lists that cannot be used: a line each, with the reason."""
    pins = file.get(server.name)
    return () if pins is None else left_out(server, pins)
