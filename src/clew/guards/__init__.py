"""Guards: may this call happen?"""

from clew.guards.no_progress import NoProgress, Stuck

__all__ = ["NoProgress", "Stuck"]
