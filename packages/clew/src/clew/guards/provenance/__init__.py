"""Where the arguments of calls come from, and whether that is reason enough to make the call."""

from clew.guards.provenance.arguments import describe_origin
from clew.guards.provenance.explain import ArgumentOrigin, Explanation, explain
from clew.guards.provenance.guard import (
    LEVELS,
    ActingRuns,
    BoundProvenance,
    Level,
    Provenance,
    judged,
)
from clew.guards.provenance.handing import persons_words

__all__ = [
    "LEVELS",
    "ActingRuns",
    "ArgumentOrigin",
    "BoundProvenance",
    "Explanation",
    "Level",
    "Provenance",
    "describe_origin",
    "explain",
    "judged",
    "persons_words",
]
