"""Guards: may this call happen? And a check of the links in an answer."""

from clew.guards.caps import AlreadyDone
from clew.guards.limits import RESEARCH
from clew.guards.links import NoOutsideLinks
from clew.guards.no_progress import NoProgress, Stuck

__all__ = ["RESEARCH", "AlreadyDone", "NoOutsideLinks", "NoProgress", "Stuck"]
