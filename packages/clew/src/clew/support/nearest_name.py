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


def did_you_mean(wrong: str, known: Iterable[str], otherwise: str) -> str:
    """The hint that names the nearest known name; `otherwise` where none is near."""
    near = nearest(wrong, known)
    return f"did you mean {near}?" if near else otherwise
