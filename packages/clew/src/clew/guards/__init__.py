"""Guards: may this call happen? And a check of the links in an answer."""

from clew.core.events import Planned
from clew.core.interfaces import Labels
from clew.guards.caps import AlreadyDone
from clew.guards.limits import RESEARCH
from clew.guards.links import NoOutsideLinks
from clew.guards.no_progress import NoProgress, Stuck
from clew.guards.provenance import Provenance

__all__ = [
    "RESEARCH",
    "AlreadyDone",
    "Labels",
    "NoOutsideLinks",
    "NoProgress",
    "Planned",
    "Provenance",
    "Stuck",
]
