"""Guards: may this call happen?"""

from clew.guards.already_done import AlreadyDone
from clew.guards.no_progress import NoProgress, Stuck

__all__ = ["AlreadyDone", "NoProgress", "Stuck"]
