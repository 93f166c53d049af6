"""Finding passages, and what their scores mean."""

import math
import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from clew.tools.search_words import terms

_CANDIDATES: Final = 200
_MAX_TERMS: Final = 64
_DOC_ID: Final = re.compile(r"doc_([1-9][0-9]{0,17})")
_COLUMNS: Final = "passages.id, title, offset, text, path"


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage: `text` begins at `offset` (in characters) in the text of `path`."""

    doc_id: str
    title: str
    offset: int
    text: str
    path: str
    score: float


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Passages that follow each other in a file, and the ids of the ones around them."""

    passages: tuple[FoundPassage, ...]
    before: str | None = None
    after: str | None = None


def search(connection: sqlite3.Connection, query: str, limit: int) -> list[FoundPassage]:
    """The passages that hold most of the query, best first; ties by BM25.

    The score is the share of the query's weight that is found in a passage and its title, from 0
    to 1: each distinct term weighs 1 + ln((N + 1) / (n + 1)), n of all N passages having it, so
    that rare words weigh more and one that is nowhere weighs most. 0.5: at least half of what was
    asked for is there. It is no probability. Considered are the 200 passages with the best BM25.
    """
    asked = terms(query)[:_MAX_TERMS]
    if not asked:
        return []
    (total,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    ranks: dict[int, float] = dict(
        connection.execute(
            "SELECT rowid, bm25(words, 2.0, 1.0, 1.0) AS rank_ FROM words WHERE words MATCH ? "
            "ORDER BY rank_ LIMIT ?",
            (" OR ".join(asked), _CANDIDATES),
        )
    )
    scores = dict.fromkeys(ranks, 0.0)
    total_score = 0.0
    for term in asked:
        (having,) = connection.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (term,)
        ).fetchone()
        weight = 1 + math.log((total + 1) / (having + 1))
        total_score += weight
        for number in _having(connection, term, ranks):
            scores[number] += weight
    best = sorted(scores, key=lambda number: (-round(scores[number], 9), ranks[number], number))
    return [
        _passage_of(_row(connection, number), min(1.0, scores[number] / total_score))
        for number in best[:limit]
    ]


def read_on(connection: sqlite3.Connection, doc_id: str, count: int) -> TextSpan:
    """A passage and up to `count` that follow it in its file; empty if there is no such passage.

    Their score is 1: they were not searched for but asked for.
    """
    match = _DOC_ID.fullmatch(doc_id)
    here = connection.execute(
        "SELECT file, place FROM passages WHERE id = ?", (int(match[1]) if match else 0,)
    ).fetchone()
    if here is None:
        return TextSpan(())
    file, number = here
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM passages JOIN files ON files.id = file "  # noqa: S608 – constant
        "WHERE file = ? AND place BETWEEN ? AND ? ORDER BY place",
        (file, number - 1, number + count + 1),
    ).fetchall()
    before = rows.pop(0) if number else None
    after = rows.pop() if len(rows) > count + 1 else None
    return TextSpan(
        tuple(_passage_of(row, 1.0) for row in rows),
        _doc_id(before[0]) if before else None,
        _doc_id(after[0]) if after else None,
    )


def _doc_id(number: int) -> str:
    return f"doc_{number}"


def _having(connection: sqlite3.Connection, term: str, numbers: Iterable[int]) -> list[int]:
    among = ",".join(str(number) for number in numbers)
    rows = connection.execute(
        f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({among})",  # noqa: S608 – integers
        (term,),
    )
    return [number for (number,) in rows]


def _row(connection: sqlite3.Connection, number: int) -> Any:
    return connection.execute(
        f"SELECT {_COLUMNS} FROM passages JOIN files ON files.id = file "  # noqa: S608 – constant
        "WHERE passages.id = ?",
        (number,),
    ).fetchone()


def _passage_of(row: Any, score: float) -> FoundPassage:
    number, title, offset, text, path = row
    return FoundPassage(_doc_id(number), title, offset, text, path, round(score, 3))
