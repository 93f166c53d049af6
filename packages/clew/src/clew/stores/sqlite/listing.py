"""Which runs of an SQLite store are open and which stopped, so that no listing passes all of them.

`open_runs` has a row for each run whose last line is no stop, `stopped_runs` one for any other,
with the time and the status of that stop. Both change with the lines: an append of a stop moves the
run from the one to the other, one after a stop moves it back; any other finds it where it is. When
an open run was last written says its last line, so that the usual append writes nothing but that.
"""

import sqlite3
from collections.abc import Mapping
from typing import Final

from clew.core.stores import Append, Base, Line, RunInfo
from clew.stores.labels import Selection
from clew.stores.listing import OPEN, status_after
from clew.stores.sqlite.labels import Chosen

OPEN_RUNS: Final = "CREATE TABLE IF NOT EXISTS open_runs (number INTEGER PRIMARY KEY)"
STOPPED_RUNS: Final = """
CREATE TABLE IF NOT EXISTS stopped_runs (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, status TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS stopped_at ON stopped_runs (at);
CREATE INDEX IF NOT EXISTS stopped_as ON stopped_runs (status, at)"""

_RUNS: Final = """
    SELECT runs.run_id, parents.run_id, shared,
           first.key, first.at, first.epoch, first.body, first.hash,
           last.key, last.at, last.epoch, last.body, last.hash
    FROM runs
    LEFT JOIN forks ON forks.number = runs.number
    LEFT JOIN runs AS parents ON parents.number = base
    JOIN entries AS first ON first.key = (coalesce(root, runs.number) << 32) + 1
    JOIN entries AS last ON last.key = (
        SELECT max(key) FROM entries
        WHERE key BETWEEN runs.number << 32 AND (runs.number << 32) + 4294967295
    )"""

LAST: Final = (1 << 32) - 1
"""The highest number of a line; the keys of a run's lines are (its number << 32) + theirs."""

FIRST: Final = 1 << 62
"""Later than any time, and more than any number: where the first page begins."""

_ORDER: Final = "last.at DESC, runs.number DESC"

DUE: Final = """
    WHERE runs.number IN (SELECT number FROM open_runs UNION SELECT number FROM inbox)
    ORDER BY last.at"""
"""What of a listing of all runs is due, oldest first."""

_OPENED: Final = """
    SELECT open_runs.number AS number, line.at AS at FROM open_runs
    JOIN entries AS line ON line.key = (
        SELECT max(key) FROM entries
        WHERE key BETWEEN open_runs.number << 32 AND (open_runs.number << 32) + 4294967295
    ) WHERE (line.at, open_runs.number) < (:at, :number) {}"""
_STOPPED: Final = """
    SELECT number, at FROM (
        SELECT number, at FROM stopped_runs WHERE at <= :at AND (at, number) < (:at, :number) {}
        ORDER BY at DESC, number DESC LIMIT :most
    )"""
# The same of the runs that a query before them chose; CROSS JOIN keeps that the first.
_CHOSEN_OPENED: Final = """
    SELECT chosen.number AS number, line.at AS at FROM ({chosen}) AS chosen
    CROSS JOIN open_runs ON open_runs.number = chosen.number
    CROSS JOIN entries AS line ON line.key = (
        SELECT max(key) FROM entries
        WHERE key BETWEEN chosen.number << 32 AND (chosen.number << 32) + 4294967295
    ) WHERE (line.at, chosen.number) < (:at, :number)"""
_CHOSEN_STOPPED: Final = """
    SELECT chosen.number AS number, stopped_runs.at AS at FROM ({chosen}) AS chosen
    CROSS JOIN stopped_runs ON stopped_runs.number = chosen.number
    WHERE (stopped_runs.at, chosen.number) < (:at, :number) {status}"""
_PAGE: Final = """
    WHERE runs.number IN (SELECT number FROM ({}) ORDER BY at DESC, number DESC LIMIT :most)
    ORDER BY """

_NUMBER: Final = "SELECT number FROM runs WHERE run_id = ?"

_STOP: Final = "INSERT OR REPLACE INTO stopped_runs (number, at, status) VALUES (?, ?, ?)"

_WRITTEN: Final = """
    EXISTS (SELECT 1 FROM entries WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295)"""
_BEGIN: Final = f"""
    SELECT run_id FROM runs
    WHERE run_id >= :part AND run_id < :part || char(1114111) AND {_WRITTEN}
    ORDER BY run_id LIMIT :most"""  # noqa: S608 - it is put together from constants
_END: Final = f"""
    SELECT run_id FROM runs
    WHERE substr(run_id, -length(:part)) = :part AND {_WRITTEN}
    ORDER BY run_id LIMIT :most"""  # noqa: S608 - the same


def add_run(connection: sqlite3.Connection, number: int) -> None:
    """A run was made: it has no stop."""
    connection.execute("INSERT OR IGNORE INTO open_runs (number) VALUES (?)", (number,))


def stopped(connection: sqlite3.Connection, number: int, at: int, status: str) -> None:
    """A run stopped then, with that status."""
    connection.execute(_STOP, (number, at, status))


def ended(connection: sqlite3.Connection, number: int, append: Append) -> None:
    """A run got lines."""
    if (status := status_after(append)) != OPEN:
        connection.execute("DELETE FROM open_runs WHERE number = ?", (number,))
        stopped(connection, number, append.lines[-1].at, status)
    else:
        connection.execute("DELETE FROM stopped_runs WHERE number = ?", (number,))
        add_run(connection, number)


def line_of(key: int, at: int, epoch: int, body: bytes, hash_: bytes) -> Line:
    """A line from its row."""
    return Line(key & LAST, at, epoch, body, hash_)


def listing(
    connection: sqlite3.Connection,
    further: str,
    values: Mapping[str, str | int | bytes] | None = None,
) -> list[RunInfo]:
    """The runs that the `further` clauses of a listing of all runs leave, in their order."""
    return [
        RunInfo(
            run_id,
            (last := line_of(*lines[5:])).seq,
            line_of(*lines[:5]),
            last,
            None if parent is None else Base(parent, shared),
        )
        for run_id, parent, shared, *lines in connection.execute(f"{_RUNS} {further}", values or {})
    ]


def page_of(
    connection: sqlite3.Connection,
    limit: int,
    after: RunInfo | None,
    status: str,
    which: Selection | None = None,
) -> list[RunInfo]:
    """A page of the runs with a status, the last written first; see the protocols `Store` and
    `Selects`.
    """
    if not (limit or after or status or which):
        return listing(connection, f"ORDER BY {_ORDER}")
    at = number = FIRST
    if after is not None:
        row: tuple[int] | None = connection.execute(_NUMBER, (after.run_id,)).fetchone()
        at, number = after.last.at, row[0] if row is not None else 0
    values: dict[str, str | int | bytes] = {"at": at, "number": number, "most": limit or -1}
    ended_so = ""
    if status not in {"", OPEN}:
        ended_so, values["status"] = "AND status = :status", status
    opened, stopped_so = _OPENED.format(""), _STOPPED.format(ended_so)
    if which is not None:
        chosen = Chosen(connection, which)
        values |= chosen.values
        if limit and not chosen.few:
            opened = _OPENED.format(chosen.condition("open_runs"))
            stopped_so = _STOPPED.format(ended_so + chosen.condition("stopped_runs"))
        else:
            opened = _CHOSEN_OPENED.format(chosen=chosen.numbers)
            stopped_so = _CHOSEN_STOPPED.format(chosen=chosen.numbers, status=ended_so)
    parts = {"": f"{opened} UNION ALL {stopped_so}", OPEN: opened}
    return listing(connection, _PAGE.format(parts.get(status, stopped_so)) + _ORDER, values)


def ids_of(connection: sqlite3.Connection, part: str, limit: int) -> list[str]:
    """Ids that begin with a text; where none does, those that end with it."""
    params = {"part": part, "most": limit}
    for query in (_BEGIN, _END):
        if matches := [run_id for (run_id,) in connection.execute(query, params)]:
            break
    return matches
