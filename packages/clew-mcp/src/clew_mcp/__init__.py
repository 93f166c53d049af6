"""Tools of servers that speak the Model Context Protocol (MCP).

`mcp_tools` makes tools of servers, from what is pinned of them in a `PinFile`. The SDK is imported
when the first call is made.
"""

from clew_mcp.agent_file_tables import server_of_table
from clew_mcp.outcomes import SessionOver
from clew_mcp.pin_changes import changes
from clew_mcp.pins import PinFile, ServerPins, pin_file
from clew_mcp.settings import McpAuth, McpServer, server_from
from clew_mcp.tools import ask_server, left_out, make_tools, mcp_tools, mcp_tools_sync

__all__ = [
    "McpAuth",
    "McpServer",
    "PinFile",
    "ServerPins",
    "SessionOver",
    "ask_server",
    "changes",
    "left_out",
    "make_tools",
    "mcp_tools",
    "mcp_tools_sync",
    "pin_file",
    "server_from",
    "server_of_table",
]
