"""Up to where of each run somebody outside was told, in an SQLite file."""

import sqlite3
from typing import Final

NOTICES: Final = """
CREATE TABLE IF NOT EXISTS notices (number INTEGER PRIMARY KEY, upto INTEGER NOT NULL)"""


def notified(connection: sqlite3.Connection, number: int) -> int:
    """The number of the entry up to which others were told of a run; 0: of none."""
    query = "SELECT upto FROM notices WHERE number = ?"
    row: tuple[int] | None = connection.execute(query, (number,)).fetchone()
    return row[0] if row else 0


def set_notified(connection: sqlite3.Connection, number: int, seq: int) -> None:
    """Remember it, in the open transaction."""
    insert = "INSERT OR REPLACE INTO notices (number, upto) VALUES (?, ?)"
    connection.execute(insert, (number, seq))
