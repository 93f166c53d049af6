"""A regular expression that finds a text in whatever form it is written.

It is looked for as it stands first, so that a character can be searched for by itself, and then in
folded lines: `straße` finds `strasse`, and `file` a ligature's `ﬁle` or one with a soft hyphen.
"""

import re
from typing import Final

from clew.support.text_folding import caseless, folded

_FOREIGN: Final = re.compile(r"[A-Za-z]?[^\x00-\x7f]+")
_SPECIAL: Final = re.compile(r"([][\\.^$*+?{}|()#&~-])")


class FoldedPattern:
    """A pattern, compiled as it stands and folded. Raises what `re.compile` raises."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        self._fold = caseless if ignore_case else folded
        self._exact = re.compile(pattern, flags)
        other = _FOREIGN.sub(self._folded, pattern)
        self._changed = other != pattern
        self._folded_pattern = re.compile(other, flags) if self._changed else self._exact

    def start(self, line: str) -> int:
        """Where the pattern begins in a line, about where it was folded; -1 where it is not."""
        hit = self._exact.search(line)
        if hit is None and (self._changed or not line.isascii()):
            hit = self._folded_pattern.search(self._fold(line))
        return -1 if hit is None else hit.start()

    def _folded(self, found: re.Match[str]) -> str:
        """Characters beyond ASCII in a pattern; what folding makes of them stands for itself."""
        return _SPECIAL.sub(r"\\\1", self._fold(found[0]))
