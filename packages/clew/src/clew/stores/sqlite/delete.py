"""How a run is forgotten in an SQLite file, and which blobs go with it."""

import sqlite3
from typing import Final

from clew.stores.refusals import still_shared

_SHARED_BY: Final = """
    SELECT run_id FROM forks JOIN runs USING (number) WHERE base = ? ORDER BY number LIMIT 1"""
_ONLY_HERE: Final = """
    DELETE FROM blobs WHERE digest IN (
        SELECT digest FROM uses AS mine WHERE number = :number AND NOT EXISTS (
            SELECT 1 FROM uses AS theirs
            WHERE theirs.digest = mine.digest AND theirs.number != :number
        )
    )"""
_LINES: Final = """
    DELETE FROM entries WHERE key BETWEEN :number << 32 AND (:number << 32) + 4294967295"""
_TABLES: Final = (
    "uses",
    "inbox",
    "forks",
    "open_runs",
    "stopped_runs",
    "labels",
    "notices",
    "runs",
)
USE: Final = "INSERT OR IGNORE INTO uses (number, digest) VALUES (?, ?)"


def forget(connection: sqlite3.Connection, run_id: str, number: int) -> None:
    """Remove all of a run in the open transaction. Raises `StoreError` where a fork shares it."""
    fork: tuple[str] | None = connection.execute(_SHARED_BY, (number,)).fetchone()
    if fork is not None:
        raise still_shared(run_id, fork[0])
    connection.execute(_ONLY_HERE, {"number": number})
    connection.execute(_LINES, {"number": number})
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))  # noqa: S608 - our own names


def size(connection: sqlite3.Connection) -> int:
    """Bytes of the pages in use; those that were freed wait in the file for what comes next."""
    row: tuple[int] = connection.execute(
        "SELECT (page_count - freelist_count) * page_size "
        "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
    ).fetchone()
    return row[0]
