"""The marks in an SQLite store: which lines of a run lack one, and how a run gets them."""

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from clew.stores.ownership import mark
from clew.stores.sqlite.listing import LAST

_RUN: Final = (
    "SELECT run_id, base, shared FROM runs LEFT JOIN forks USING (number) WHERE number = ?"
)
_MARKS: Final = "SELECT key, hash, mark FROM entries WHERE key > ? AND key <= ? ORDER BY key DESC"
_MARK: Final = "UPDATE entries SET mark = ? WHERE key = ?"


def unmarked(connection: sqlite3.Connection, key: bytes, number: int) -> int:
    """The number of the last line of a run that lacks its mark; 0 where all have it."""
    for row, run_id, hash_, its in _lines(connection, number, LAST):
        if not isinstance(hash_, bytes) or its != mark(key, run_id, hash_):
            return row & LAST
    return 0


def mark_lines(connection: sqlite3.Connection, key: bytes, number: int, upto: int) -> None:
    """Mark a run's lines up to this number, those that it shares among them."""
    for row, run_id, hash_, _ in [*_lines(connection, number, upto)]:
        connection.execute(_MARK, (mark(key, run_id, hash_), row))


def _lines(
    connection: sqlite3.Connection, number: int, upto: int
) -> Iterator[tuple[int, str, Any, bytes | None]]:
    """Key, run, hash and mark of each line, the last one first; of a fork those it shares too."""
    part: int | None = number
    while part is not None:
        run_id, base, shared = connection.execute(_RUN, (part,)).fetchone()
        start = part << 32
        for row, hash_, its in connection.execute(_MARKS, (start, start + upto)):
            yield row, run_id, hash_, its
        part, upto = base, min(upto, shared or 0)
