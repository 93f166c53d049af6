"""Which runs of an SQLite store wait for work, kept so that a look does not pass all that stopped.

`open_runs` has a row for each run whose last line is no stop. It changes with the lines: an append
of a stop takes the row out, one after a stop puts it in again; any other finds it there.
"""

import sqlite3
from typing import Final

from clew.protocols import Line
from clew.stores.claims import stops

OPEN_RUNS: Final = "CREATE TABLE IF NOT EXISTS open_runs (number INTEGER PRIMARY KEY)"

DUE: Final = """
    WHERE runs.number IN (SELECT number FROM open_runs UNION SELECT number FROM inbox)
    ORDER BY last.at"""
"""What of a listing of all runs is due, oldest first."""

_FIND: Final = """
    INSERT OR IGNORE INTO open_runs (number)
    SELECT number FROM runs WHERE coalesce((
        SELECT substr(body, 1, 15) FROM entries
        WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295
        ORDER BY key DESC LIMIT 1
    ), x'') <> CAST('{"event":"stop"' AS BLOB)"""


def find_open(connection: sqlite3.Connection) -> None:
    """Fill the table, in a file that did not have it."""
    connection.execute(_FIND)


def begun(connection: sqlite3.Connection, number: int) -> None:
    """A run was made: it has no stop."""
    connection.execute("INSERT OR IGNORE INTO open_runs (number) VALUES (?)", (number,))


def ended(connection: sqlite3.Connection, number: int, last: Line) -> None:
    """A run got lines, the last of them this one."""
    if stops(last.body):
        connection.execute("DELETE FROM open_runs WHERE number = ?", (number,))
    else:
        begun(connection, number)
