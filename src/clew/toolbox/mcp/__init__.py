"""Tools of servers that speak the Model Context Protocol (MCP): extra `mcp`.

`mcp_tools` makes tools of servers. The SDK is imported when the first call is made.
"""

from clew.toolbox.mcp.settings import McpAuth, McpServer
from clew.toolbox.mcp.tools import mcp_tools, mcp_tools_sync

__all__ = ["McpAuth", "McpServer", "mcp_tools", "mcp_tools_sync"]
