"""The right name for a wrong one, and how every hint says it."""

import difflib
import re
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 80
_SHORTEST: Final = 4


def fold(name: str) -> str:
    """A name without case and separators."""
    return re.sub(r"[\W_]+", "", name.casefold())


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """The known name most like a wrong one, or that it contains; None where none is like it."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(fold(name), name)
    wrong = fold(wrong[:_LONGEST])
    close = difflib.get_close_matches(wrong, folded, n=1)
    within = [one for one in folded if len(one) >= _SHORTEST and one in wrong]
    best = close[0] if close else max(within, key=len, default="")
    return folded.get(best)


def near_names(wrong: str, known: Iterable[str]) -> list[str]:
    """All known names that contain a part of a name, or are like a wrong one; as they were told."""
    names, folded = list(known), fold(wrong[:_LONGEST])
    if not folded:
        return []
    close = difflib.get_close_matches(folded, list(map(fold, names)), n=len(names) or 1)
    return [name for name in names if folded in fold(name) or fold(name) in close]


def did_you_mean(wrong: str, known: Iterable[str], otherwise: str) -> str:
    """The hint that names the nearest known name; `otherwise` where none is near."""
    near = nearest(wrong, known)
    return f"did you mean {near}?" if near else otherwise
