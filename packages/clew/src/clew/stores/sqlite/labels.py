"""Which run of an SQLite store has which label or owner, and how runs are selected by that.

`labels` has a row for each of a run's digests, which is written with its first line. A process of
an older clew that still has the file open writes none: it leaves the run's column `indexed` at 0,
and whoever selects runs next writes them.
"""

import sqlite3
from typing import Final

from clew.stores.labels import MANY, Selection, digests_of

LABELS: Final = """
CREATE TABLE IF NOT EXISTS labels (
    digest BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (digest, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labels_of_run ON labels (number);
CREATE INDEX IF NOT EXISTS not_indexed ON runs (number) WHERE indexed = 0"""

_ADD: Final = "INSERT OR IGNORE INTO labels (digest, number) VALUES (?, ?)"
_SHARE: Final = """
    INSERT OR IGNORE INTO labels (digest, number) SELECT digest, ? FROM labels WHERE number = ?"""
_FIRST_LINES: Final = """
    SELECT runs.number, body FROM runs LEFT JOIN forks ON forks.number = runs.number
    JOIN entries ON key = (coalesce(root, runs.number) << 32) + 1 WHERE indexed = 0"""
_INDEXED: Final = "UPDATE runs SET indexed = 1 WHERE number = ?"

_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM labels WHERE digest = ? LIMIT ?)"


def add_labels(connection: sqlite3.Connection, number: int, first: bytes) -> None:
    """Note those of a run's first line."""
    connection.executemany(_ADD, [(digest, number) for digest in digests_of(first)])


def share_labels(connection: sqlite3.Connection, number: int, root: int) -> None:
    """Note that a fork has those of the run with its first line."""
    connection.execute(_SHARE, (number, root))


def lacks_labels(connection: sqlite3.Connection) -> bool:
    """Whether there are runs whose labels nobody noted."""
    return connection.execute(_FIRST_LINES).fetchone() is not None


def fill_labels(connection: sqlite3.Connection) -> None:
    """Note those of all runs whose labels nobody noted, in the open transaction."""
    for number, body in connection.execute(_FIRST_LINES).fetchall():
        if isinstance(body, bytes):
            add_labels(connection, number, body)
        connection.execute(_INDEXED, (number,))


class Chosen:
    """The clauses that select runs, and what stands for their parameters."""

    def __init__(self, connection: sqlite3.Connection, which: Selection) -> None:
        counts: dict[str, int] = {}
        self.values: dict[str, str | bytes] = {"named": which.run_id}
        for index, digest in enumerate(which.digests):
            self.values[name := f"label{index}"] = digest
            (counts[name],) = connection.execute(_COUNT, (digest, MANY + 1)).fetchone()
        self._names = sorted(counts, key=counts.__getitem__)  # that of the fewest runs first
        self._named = bool(which.run_id)
        self.few = self._named or min(counts.values()) <= MANY

    @property
    def numbers(self) -> str:
        """A query for the numbers of these runs."""
        if self._named:
            return f"SELECT number FROM runs WHERE run_id = :named{self._having('runs', 0)}"  # noqa: S608 - our own names
        first = f"SELECT number FROM labels AS first WHERE digest = :{self._names[0]}"  # noqa: S608 - our own names
        return f"{first}{self._having('first', 1)}"

    def condition(self, table: str) -> str:
        """What is true for these runs where their numbers stand in a table."""
        return self._having(table, 0)

    def _having(self, table: str, after: int) -> str:
        parts = (
            f" AND EXISTS (SELECT 1 FROM labels WHERE digest = :{name} "  # noqa: S608 - our own names
            f"AND labels.number = {table}.number)"
            for name in self._names[after:]
        )
        return "".join(parts)
