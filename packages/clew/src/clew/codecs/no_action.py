"""How models say in the place of a tool's name that they call none: no tool may be called so."""

from typing import Final

_VOID: Final = frozenset({"", "none", "n/a", "null", "nil", "no action", "nothing", "-"})
_AROUND: Final = " \t\r\n*_`.\"'[]()"


def void(text: str) -> bool:
    """Whether what stands behind an action's label means that there is no action."""
    return text.strip(_AROUND).lower() in _VOID


def may_be_void(text: str) -> bool:
    """Whether more may come of a text that then means so."""
    words = text.strip(_AROUND).lower()
    return any(word.startswith(words) for word in _VOID)
