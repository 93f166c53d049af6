"""Guards: may this call happen? And what of the links in an answer may be shown?"""

from clew.core.events import Gathered, Planned
from clew.core.tools import Labels
from clew.core.verdicts import Origin
from clew.guards.caps import AlreadyDone
from clew.guards.limits import RESEARCH
from clew.guards.links import NoOutsideLinks
from clew.guards.no_progress import NoProgress, Stuck
from clew.guards.provenance import (
    ArgumentOrigin,
    Explanation,
    Provenance,
    describe_origin,
    explain,
)
from clew.guards.safe_links import safe_links

__all__ = [
    "RESEARCH",
    "AlreadyDone",
    "ArgumentOrigin",
    "Explanation",
    "Gathered",
    "Labels",
    "NoOutsideLinks",
    "NoProgress",
    "Origin",
    "Planned",
    "Provenance",
    "Stuck",
    "describe_origin",
    "explain",
    "safe_links",
]
