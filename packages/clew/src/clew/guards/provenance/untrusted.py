"""Texts that a model has read and that nobody vouches for."""

from collections.abc import Iterator

from clew.core.values import Json
from clew.guards.provenance.results import Result
from clew.guards.provenance.values import stands_in_any


class Untrusted:
    """Such texts, by where they came from. Only once a value is looked for in them are results
    made a text, and casefolded.
    """

    def __init__(self) -> None:
        self._sources: dict[str, str | Result] = {}
        self._folded: dict[str, str] = {}

    def learn(self, where: str, source: str | Result) -> None:
        """Keep a text, or a result that has it, in place of what came from there before."""
        self._sources[where] = source
        self._folded.pop(where, None)

    def source_of(self, value: Json) -> str:
        """Where the first text came from that has a value, in any case; or ""."""
        folded = str(value).casefold()
        for where in self._sources if folded else ():
            if folded in self._text(where):
                return where
        return ""

    def __iter__(self) -> Iterator[str]:
        """The texts, casefolded."""
        return map(self._text, self._sources)

    def has_word(self, word: str) -> bool:
        """Whether any of them has a casefolded word as a whole."""
        return stands_in_any(word, self)

    def _text(self, where: str) -> str:
        if (text := self._folded.get(where)) is None:
            source = self._sources[where]
            text = (source if isinstance(source, str) else source.text).casefold()
            self._folded[where] = text
        return text
