"""Bringing a file of an older clew to the tables of this one, in one transaction.

Columns and tables that came later are added: a table that lacks a column is written anew, for
`page_reader` knows rows by the order of their columns. What the new tables say is read off the
lines. A line of such a file has no mark, so its run counts as somebody else's until it is trusted.
"""

import logging
import re
import sqlite3
from collections.abc import Set as AbstractSet
from typing import Final

from clew.stores.listing import status_of
from clew.stores.sqlite.delete import USE
from clew.stores.sqlite.labels import fill_labels
from clew.stores.sqlite.listing import add_run, stopped

LOG: Final = logging.getLogger("clew")

Columns = AbstractSet[tuple[str, str, str, int]]
"""Table, name, type and place in the primary key of each column."""

_FIRST: Final = frozenset({"runs", "entries", "blobs", "inbox"})
"""The tables that every version has."""

_ENDS: Final = """
    SELECT number, at, body FROM runs JOIN entries ON key = (
        SELECT max(key) FROM entries
        WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295
    )"""
_DIGEST: Final = re.compile(rb"\b[0-9a-f]{64}\b")
_COUNTER: Final = "UPDATE sqlite_sequence SET name = ? WHERE name = ?"


def is_older(present: Columns, expected: Columns) -> bool:
    """Whether tables are those of an older clew: damage changes a name, and leaves none out."""
    ours = {table for table, *_ in expected}
    return {table for table, *_ in present} >= _FIRST and {
        column for column in present if column[0] in ours
    } <= expected


def migrate(
    connection: sqlite3.Connection, tables: str, present: Columns, expected: Columns
) -> None:
    """Add what is missing, in the open transaction. `tables` are statements that make them all."""
    there = {table for table, *_ in present}
    lacking = {table for table, *_ in expected - present} & there
    for table in lacking:
        for (index,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql <> ''",
            (table,),
        ).fetchall():
            connection.execute(f"DROP INDEX {index}")
        connection.execute(f"ALTER TABLE {table} RENAME TO older_{table}")
    for statement in tables.split(";"):
        connection.execute(statement)
    for table in lacking:
        columns = ", ".join(name for its, name, *_ in present if its == table)
        connection.execute(
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM older_{table}"  # noqa: S608 - names of our own tables
        )
        if connection.execute(_COUNTER, ("", f"older_{table}")).rowcount:
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            connection.execute(_COUNTER, (table, ""))
        connection.execute(f"DROP TABLE older_{table}")
    if "open_runs" not in there or "stopped_runs" not in there:
        _fill_ends(connection)
    if "uses" not in there:
        _fill_uses(connection)
    fill_labels(connection)


def _fill_ends(connection: sqlite3.Connection) -> None:
    """Which runs are open, and how the others stopped."""
    ends = {number: (at, body) for number, at, body in connection.execute(_ENDS)}
    for (number,) in connection.execute("SELECT number FROM runs").fetchall():
        at, body = ends.get(number, (0, b""))
        if (status := status_of(body)) == "open":
            add_run(connection, number)
        else:
            stopped(connection, number, at, status)


def _fill_uses(connection: sqlite3.Connection) -> None:
    """Which run has which blob: its lines name them."""
    known = {digest for (digest,) in connection.execute("SELECT digest FROM blobs")}
    for key, body in connection.execute(
        "SELECT key, body FROM entries" if known else "SELECT 1, x'' LIMIT 0"
    ):
        for digest in {each.decode() for each in _DIGEST.findall(body)} & known:
            connection.execute(USE, (key >> 32, digest))
