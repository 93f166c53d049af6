"""Serve agents over the Model Context Protocol: each agent is a tool, each call is a run.

A worker in this process executes the runs and keeps them in a store. So a client may disconnect and
ask again later, and the server may be killed and restarted.
"""

from clew.support.http_address import HttpAddress
from clew_mcp.serve.agents import ServedAgent, read_agents
from clew_mcp.serve.http import BearerToken, http_app, serve_http
from clew_mcp.serve.runs import QUEUE
from clew_mcp.serve.server import server
from clew_mcp.serve.stdio import serve_stdio

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
