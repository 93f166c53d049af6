"""Tools found by their words: SQLite's full-text search with BM25, in memory."""

import sqlite3
import weakref
from collections.abc import Iterable
from typing import Final

from clew.tools.retrieval.documents import Document, split
from clew.tools.retrieval.words import grams, terms

_MOST_TERMS: Final = 64
_WEIGHTS: Final = (3.0, 1.0, 0.5)
"""How much a word counts in a name, a description, a parameter: the fewer words a field has, the
more each of them says. How much more hardly matters (docs/decisions/0025-tool-retrieval.md)."""


class Lexical:
    """An index that is made once and then only read, by one thread at a time."""

    def __init__(self, documents: Iterable[Document]) -> None:
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

    def rank(self, text: str, most: int) -> list[int]:
        """The places of the documents that have a word of the text, best first."""
        asked = terms(f"{text} {split(text)}")[:_MOST_TERMS]
        if not asked:
            return []
        rows = self._connection.execute(
            "SELECT rowid FROM tools WHERE tools MATCH ? "
            "ORDER BY bm25(tools, ?, ?, ?), rowid LIMIT ?",
            (" OR ".join(asked), *_WEIGHTS, most),
        )
        return [number for (number,) in rows]
