"""How models say in the place of a tool's name that they call none: no tool may be called so."""

from typing import Final

_VOID: Final = frozenset({"", "none", "n/a", "null", "nil", "no action", "nothing", "-"})


def void(text: str) -> bool:
    """Whether what stands behind an action's label means that there is no action."""
    return text.strip(" \t\r\n*_`.\"'[]()").lower() in _VOID
