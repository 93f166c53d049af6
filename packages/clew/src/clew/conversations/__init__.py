"""Conversations: which run a session by name is."""

from clew.agent.session_names import session_of, session_run

__all__ = ["session_of", "session_run"]
