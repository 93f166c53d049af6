"""Regular expressions that are compiled when they are first used: importing must be quick."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

_END: Final = 1 << 60


class Lazy:
    """A regular expression, with the methods of a compiled one that are needed here."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """All matches in order, from `start` on."""
        return self._compiled.finditer(text, start)

    def findall(self, text: str) -> list[str]:
        """The texts of all matches, or of their one group."""
        return self._compiled.findall(text)

    def match(self, text: str, start: int = 0, end: int = _END) -> re.Match[str] | None:
        """A match that begins at `start`."""
        return self._compiled.match(text, start, end)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first match, from `start` on."""
        return self._compiled.search(text, start)

    def fullmatch(self, text: str, start: int = 0, end: int = _END) -> re.Match[str] | None:
        """A match of the whole text between `start` and `end`."""
        return self._compiled.fullmatch(text, start, end)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with all matches replaced."""
        return self._compiled.sub(new, text)

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        """The text between the matches, of which at most `maxsplit` count (0: all)."""
        return [str(piece) for piece in self._compiled.split(text, maxsplit)]
