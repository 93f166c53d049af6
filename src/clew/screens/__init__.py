"""Trust: what a person's words are looked through for before a model sees them."""

from clew.screens.injections import Injections, Match, find

__all__ = ["Injections", "Match", "find"]
