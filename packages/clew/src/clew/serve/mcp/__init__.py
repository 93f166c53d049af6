"""Serve agents over the Model Context Protocol: each agent is a tool, each call is a run.

A worker in this process executes the runs and keeps them in a store. So a client may disconnect and
ask again later, and the server may be killed and restarted. Needs the extra `mcp`.
"""

from clew.support.extras import missing_extra

try:
    from clew.serve.mcp.agents import ServedAgent, read_agents
    from clew.serve.mcp.http import BearerToken, HttpAddress, http_app, serve_http
    from clew.serve.mcp.runs import QUEUE
    from clew.serve.mcp.server import server
    from clew.serve.mcp.stdio import serve_stdio
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "mcp") from missing

__all__ = [
    "QUEUE",
    "BearerToken",
    "HttpAddress",
    "ServedAgent",
    "http_app",
    "read_agents",
    "serve_http",
    "serve_stdio",
    "server",
]
