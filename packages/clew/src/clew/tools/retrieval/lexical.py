"""Tools found by their words: SQLite's full-text search with BM25, in memory."""

import math
import sqlite3
import weakref
from collections.abc import Sequence
from typing import Final

from clew.tools.retrieval.documents import Document, split
from clew.tools.search_words import grams, terms

_MAX_TERMS: Final = 64
_WEIGHTS: Final = (3.0, 1.0, 0.5)
"""How much a word counts in a name, a description, a parameter: the fewer words a field has, the
more each of them says. How much more hardly matters (docs/decisions/0025-tool-retrieval.md)."""

_MAX_WEIGHT: Final = 2.2
"""What BM25 gives at most for a term, times its weight: 1 + k1, which is 1.2 in FTS5."""
_MIN_WEIGHT: Final = 1e-6
"""The weight of a term that most tools have, in FTS5."""


class Lexical:
    """An index that is made once and then only read, by one thread at a time."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._total = len(documents)
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._connection.close)
        self._connection.execute(
            "CREATE VIRTUAL TABLE tools USING fts5"
            "(name, description, parameters, tokenize='porter unicode61')"
        )
        self._connection.executemany(
            "INSERT INTO tools (rowid, name, description, parameters) VALUES (?, ?, ?, ?)",
            (
                (number, *(f"{text} {grams(text)}" for text in (it.name, it.description, it.words)))
                for number, it in enumerate(documents)
            ),
        )

    def shares(self, text: str) -> dict[int, float]:
        """How much of the text each document has that has a word of it: the place, and the share.

        1 would be a document made of the text's words only. Rare words weigh more than common
        ones, and words that no document has weigh most: of a query in other words little is found,
        which says that the ranking by words is worth little.
        """
        scores: dict[int, float] = {}
        highest = 0.0
        for term in terms(f"{text} {split(text)}")[:_MAX_TERMS]:
            rows = self._connection.execute(
                "SELECT rowid, bm25(tools, ?, ?, ?) FROM tools WHERE tools MATCH ?",
                (*_WEIGHTS, term),
            ).fetchall()
            highest += _MAX_WEIGHT * self._weight(len(rows))
            for number, score in rows:
                scores[number] = scores.get(number, 0.0) - score
        return {number: score / highest for number, score in scores.items()}

    def _weight(self, having: int) -> float:
        """That of a term that so many documents have (the inverse document frequency of BM25)."""
        return max(_MIN_WEIGHT, math.log((self._total - having + 0.5) / (having + 0.5)))
