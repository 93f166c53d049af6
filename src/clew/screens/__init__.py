"""Trust: what a person's words are looked through for before a model sees them."""

from typing import Final

from clew.screens.disguises import looks_latin
from clew.screens.injections import Injections, Match, find

__all__ = [
    "INJECTIONS",
    "INJECTIONS_ASK",
    "INJECTIONS_MARK",
    "Injections",
    "Match",
    "find",
    "looks_latin",
]

INJECTIONS: Final = Injections()
INJECTIONS_ASK: Final = Injections("ask")
INJECTIONS_MARK: Final = Injections("mark")
"""As agent files name them."""
