"""Tools ranked for what is to be done, by words and, where there is one, by an embedding."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final, Protocol

from clew.core.interfaces import ToolSpec
from clew.tools.retrieval.documents import document
from clew.tools.retrieval.embedding import Embed
from clew.tools.retrieval.lexical import Lexical
from clew.tools.retrieval.loading import vectors

CONSTANT: Final = 60
"""That of reciprocal rank fusion as published (Cormack, Clarke and Büttcher, SIGIR 2009)."""

FIRST: Final = 100
"""So much of each ranking is fused."""


class Ranks(Protocol):
    """One way to rank documents."""

    def rank(self, text: str, most: int) -> list[int]:
        """The places of the best documents for a text, best first."""
        ...


class Index:
    """The tools to choose from. Made once; one thread at a time may ask."""

    def __init__(self, tools: tuple[ToolSpec, ...], embed: Embed | None) -> None:
        self.tools = tools
        documents = [document(tool) for tool in tools]
        self._ways: list[Ranks] = [Lexical(documents)]
        if embed is not None:
            self._ways.append(vectors(embed, [each.text for each in documents]))

    def rank(self, texts: Iterable[str]) -> list[str]:
        """The names of the tools for these texts: the best for each in turn."""
        ranked = [fused(way.rank(text, FIRST) for way in self._ways) for text in texts]
        return [self.tools[place].name for place in in_turn(ranked)]


def in_turn(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Several rankings as one, in which each has its turn: what they rank has different ends.

    The best tool for the next thing to do may have nothing to do with the goal's own words.
    """
    turns = zip_longest(*rankings)
    return list(dict.fromkeys(place for turn in turns for place in turn if place is not None))


def fused(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Several rankings for one end as one, by the sum of 1 / (60 + place) over them."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, number in enumerate(ranking, start=1):
            scores[number] = scores.get(number, 0.0) + 1 / (CONSTANT + place)
    return sorted(scores, key=lambda number: (-scores[number], number))
