"""The Agent Client Protocol for clew: an editor drives an agent, and its sessions are runs."""

from clew_acp.server import serve_stdio

__all__ = ["serve_stdio"]
