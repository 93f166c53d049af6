"""The server that calls of MCP tools are measured with: the official SDK's, with one tool.

`python -m benchmarks.mcp_server` serves over stdio, and with a port over HTTP.
"""

import sys
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer

made: MCPServer[Any] = MCPServer("bench", version="1")


@made.tool()
async def echo(text: str) -> str:
    """Say it again."""
    return text


def main() -> None:
    """Serve until standard input ends, or until it is killed."""
    if len(sys.argv) == 1:
        anyio.run(made.run_stdio_async)
        return
    app = made.streamable_http_app()
    uvicorn.run(app, port=int(sys.argv[1]), log_level="critical")


if __name__ == "__main__":
    main()
