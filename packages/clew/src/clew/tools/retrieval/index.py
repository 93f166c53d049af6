"""Tools ranked for what is to be done, by words and, where there is one, by an embedding."""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, Protocol

from clew.core.tools import ToolSpec
from clew.tools.retrieval.documents import document
from clew.tools.retrieval.lexical import Lexical
from clew.tools.retrieval.meaning import Ranking, nearness

WORDS: Final = 6.0
"""What a tool that has all words of a query is worth, in standard deviations of the nearness of
tools to it. Between 4 and 8 little changes (docs/decisions/0053-tool-embeddings.md)."""

FIRST: Final = 100
"""So many tools are ranked for each text."""


SENTENCES: Final = 8
"""So many sentences of a text are looked at one by one."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;…])\s+|\n+")
_WORD: Final = re.compile(r"\w+")
_SHORT: Final = 3


class ToolIndex(Protocol):
    """The tools, embedded."""

    def near(self, texts: Sequence[str]) -> list[list[float]]:
        """How near each tool is to each text, in standard deviations from the mean of all tools."""
        ...


class Index:
    """The tools to choose from. Made once; one thread at a time may ask."""

    def __init__(self, tools: tuple[ToolSpec, ...], ranking: Ranking | None) -> None:
        self.tools = tools
        documents = [document(tool) for tool in tools]
        self._words = Lexical(documents)
        self._meaning: ToolIndex | None = None
        if ranking is not None:
            self._meaning = nearness(ranking, [each.texts for each in documents])

    def rank(self, texts: Iterable[str]) -> list[str]:
        """The names of the tools for these texts: the best for each in turn."""
        return [
            self.tools[index].name for index in interleaved([self._best(text) for text in texts])
        ]

    def _best(self, text: str) -> list[int]:
        """The places of the tools for one text, best first."""
        meaning = self._meaning
        scores = self._words.shares(text) if meaning is None else self._scores(meaning, text)
        return sorted(scores, key=lambda index: (-scores[index], index))[:FIRST]

    def _scores(self, meaning: ToolIndex, text: str) -> dict[int, float]:
        """Those of all tools for a text: half for all of it, half for the sentence they fit best.

        A text that asks for several things has a vector that is near to none of them.
        """
        parts = [text, *sentences(text)]
        near = meaning.near(parts)
        of_query, *scores = [
            combined_scores(self._words.shares(part), each)
            for part, each in zip(parts, near, strict=True)
        ]
        if not scores:
            return of_query
        return {
            index: (of_query[index] + max(one[index] for one in scores)) / 2 for index in of_query
        }


def sentences(text: str) -> list[str]:
    """The first sentences of a text, without those of a word or two; none where it is only one."""
    long_parts = [part for part in _SENTENCE.split(text) if len(_WORD.findall(part)) >= _SHORT]
    return long_parts[:SENTENCES] if len(long_parts) > 1 else []


def interleaved(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Several rankings as one, in which each has its turn: what they rank has different ends.

    The best tool for the next thing to do may have nothing to do with the goal's own words.
    """
    turns = zip_longest(*rankings)
    return list(dict.fromkeys(index for turn in turns for index in turn if index is not None))


def combined_scores(shares: Mapping[int, float], near: Sequence[float]) -> dict[int, float]:
    """The scores of all tools for one text, by both rankings.

    Words count by how much of the text was found, and not by their ranking: for a text in other
    words even their best tool is found by a word of little meaning.
    """
    return {index: nearness + WORDS * shares.get(index, 0.0) for index, nearness in enumerate(near)}


@dataclass
class IndexCache:
    """The index of the tools that were asked for last. Threads may share it."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _made: Index | None = None

    def __reduce__(self) -> tuple[type["IndexCache"], tuple[()]]:
        """A copy has an index of its own, made when it is asked."""
        return IndexCache, ()

    def rank(
        self, tools: Sequence[ToolSpec], texts: Sequence[str], ranking: Ranking | None
    ) -> list[str]:
        """The names of the tools, best first for these texts."""
        key = tuple(tools)
        if not key:
            return []
        with self._lock:
            if self._made is None or self._made.tools != key:
                self._made = Index(key, ranking)
            return self._made.rank(texts)
