"""Regular expressions that are compiled when they are first used: importing must be quick."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Lazy:
    """A regular expression, with the methods of a compiled one that are needed here."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches in order."""
        return self._compiled.finditer(text)

    def match(self, text: str, start: int = 0, end: int = 1 << 60) -> re.Match[str] | None:
        """A match that begins at `start`."""
        return self._compiled.match(text, start, end)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return self._compiled.search(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of the whole text."""
        return self._compiled.fullmatch(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with all matches replaced."""
        return self._compiled.sub(new, text)

    def split(self, text: str) -> list[str]:
        """The text between the matches."""
        return [str(piece) for piece in self._compiled.split(text)]
