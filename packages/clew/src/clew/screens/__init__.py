"""Screens: judge a person's messages before a model sees them."""

from typing import Final

from clew.screens.injections import Injections, Match, find
from clew.support.lookalikes import looks_latin

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
"""The names of these screens in agent files."""
