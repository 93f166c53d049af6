"""Where the arguments of calls come from, and whether that is reason enough to make the call."""

from clew.guards.provenance.guard import BoundProvenance, Level, Provenance, judged

__all__ = ["BoundProvenance", "Level", "Provenance", "judged"]
