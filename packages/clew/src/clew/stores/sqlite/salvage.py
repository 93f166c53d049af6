"""Reading what is left of a damaged SQLite file.

A broken page takes with it what lay on it. What lay elsewhere is found by going around it: ids
stand in a table and in its index, each is read from both ends, and what is between is asked for by
number. Whoever reads must hold lines and blobs against their hashes.
"""

import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from clew.core.stores import Append, Base, Line, RunInfo, Store
from clew.stores.listing import matching, page, stops
from clew.stores.refusals import lost_base, missing_blob, unknown_run
from clew.stores.sqlite.file import error_code, log_of
from clew.support.errors import StoreError
from clew.support.short_text import one_line

Tell: TypeAlias = Callable[[Callable[[], Any]], Any]
"""Does work on the connection; errors of SQLite come out as `StoreError`."""

_Pair: TypeAlias = tuple[int, str]

_BY_TABLE: Final = "SELECT number, run_id FROM runs NOT INDEXED ORDER BY number"
_BY_INDEX: Final = """
    SELECT number, run_id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY run_id"""
_BY_NUMBER: Final = "SELECT number, run_id FROM runs NOT INDEXED WHERE number = ?"
_FORK: Final = "SELECT base, shared FROM forks WHERE number = ?"
_OWN: Final = """
    SELECT key, at, epoch, body, hash FROM entries
    WHERE key > ? AND key <= ? ORDER BY key"""
_BEHIND: Final = "SELECT key FROM entries WHERE key > ? ORDER BY key LIMIT 1"
_SEQ: Final = (1 << 32) - 1
_CHECKS: Final = (
    (
        """
        SELECT run_id FROM runs LEFT JOIN forks USING (number)
        WHERE EXISTS (
            SELECT 1 FROM entries WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295
        ) AND NOT EXISTS (
            SELECT 1 FROM entries WHERE key = (coalesce(root, number) << 32) + 1
        ) LIMIT 1""",
        "run {!r} has lost its beginning",
    ),
    (
        """
        WITH RECURSIVE found (number) AS (
            SELECT (SELECT min(key) FROM entries) >> 32
            UNION ALL
            SELECT (
                SELECT min(key) FROM entries WHERE key > (number << 32) + 4294967295
            ) >> 32 FROM found WHERE number IS NOT NULL
        )
        SELECT number FROM found
        WHERE number IS NOT NULL AND number NOT IN (SELECT number FROM runs) LIMIT 1""",
        "run number {} has lost its id",
    ),
    (
        """
        SELECT run_id FROM runs JOIN entries ON key = (
            SELECT max(key) FROM entries
            WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295
        )
        WHERE NOT stops(body)
        AND number NOT IN (SELECT number FROM open_runs) LIMIT 1""",
        "run {!r} has lost its end",
    ),
)
_FIRST_FREE: Final = slice(32, 36)
"""Where a database file says which page begins its list of free ones (SQLite's file format)."""
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def _pairs(rows: list[Any]) -> Iterator[_Pair]:
    """Numbers and ids; what is read may be anything."""
    return (
        (number, run_id) for number, run_id in rows
        if isinstance(number, int) and isinstance(run_id, str)
    )  # fmt: skip


def salvage_notes(connection: sqlite3.Connection) -> list[str]:
    """Why the file was read page by page, and what that took, where this is what is left of it."""
    with suppress(sqlite3.Error):  # no such table
        return [why for (why,) in connection.execute("SELECT why FROM cut ORDER BY rowid")]
    return []


def damage(connection: sqlite3.Connection) -> str:
    """What is wrong with the file as a whole; "" where nothing is. Raises `sqlite3.Error`.

    SQLite does not see that a page of one table holds rows of another, or none.
    """
    if notes := salvage_notes(connection):
        return notes[0]
    try:
        (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        connection.create_function("stops", 1, stops, deterministic=True)
        for sql, what in _CHECKS if problem == "ok" else ():
            row: tuple[object] | None = connection.execute(sql).fetchone()
            if row is not None:
                return what.format(row[0])
        if problem == "ok" and _has_wrong_free_list(connection):
            return "its list of free pages is not what it says"
    except sqlite3.DatabaseError as error:
        if error_code(error) not in _DAMAGE:
            raise
        return str(error)
    except UnicodeDecodeError:
        return "its schema cannot be read"
    return "" if problem == "ok" else one_line(str(problem))


def _has_wrong_free_list(connection: sqlite3.Connection) -> bool:
    """Whether the number of free pages is wrong: SQLite sees it when it wants one of them."""
    free, pages = (
        connection.execute(f"PRAGMA {what}").fetchone()[0]
        for what in ("freelist_count", "page_count")
    )
    if not free or free >= pages:
        return bool(free)
    file = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    log = log_of(file)
    if log.exists() and log.stat().st_size:  # what stands in the file may be older
        return False
    with file.open("rb") as content:
        return not any(content.read(_FIRST_FREE.stop)[_FIRST_FREE])


def salvaged(
    path: Path, tell: Tell, connection: sqlite3.Connection, behind: Mapping[str, str]
) -> tuple[Store, list[str], list[str]] | None:
    """Where to read what is left, all ids that are, and what is lost; None where all is well.

    `behind` are the runs that are known to have lost their last entries, with what to say of it.
    """
    problem = tell(partial(damage, connection))
    if not (problem or behind):
        return None
    rest = Salvaged(path, tell, connection, behind)
    lost = [f"{path} is damaged: {problem}"] if problem else []
    return rest, [*rest.numbers], [*lost, *behind.values(), *rest.lost]


class Salvaged(msgspec.Struct):
    """A store to read from, over the connection of a damaged one."""

    path: Path
    tell: Tell
    connection: sqlite3.Connection
    behind: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    numbers: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    known: dict[int, str] = msgspec.field(default_factory=dict[int, str])
    order: list[int] = msgspec.field(default_factory=list[int])
    lost: list[str] = msgspec.field(default_factory=list[str])
    cut: bool = False

    def __post_init__(self) -> None:
        notes = salvage_notes(self.connection)
        self.cut = bool(notes)
        self.lost += notes[1:]
        if not self._find():
            self.lost.append("the list of runs is damaged: there may be more than are found")
        self.order = sorted(self.known)
        for number in range(1, self._top() + 1):
            if number not in self.known and self._has_lines(number):
                self.lost.append(f"run number {number} has lost its id")

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        lines: list[Line] = self.tell(partial(self._lines, self._number(run_id), run_id, after))
        return lines

    async def blob(self, digest: str) -> bytes:
        for how in ("", "NOT INDEXED"):
            rows, _ = self._some(f"SELECT 1, body FROM blobs {how} WHERE digest = ?", digest)  # noqa: S608 - our own words
            if bodies := [body for _, body in rows if isinstance(body, bytes)]:
                return bodies[0]
        raise missing_blob(digest)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        """The inbox. Raises `StoreError` also where the run may have lost its last lines: whoever
        reads it whole asks for both, and knows by then whether those that are there are right.
        """
        if run_id in self.behind:
            raise StoreError(self.behind[run_id])
        number = self._number(run_id)
        lines = await self.read(run_id)
        ends = self.cut or not lines  # of a file that was cut, its lines tell themselves
        if not ends and not self.tell(partial(self._is_end, number, lines[-1].seq)):
            raise StoreError(
                f"run {run_id!r} may have lost what stood behind entry {lines[-1].seq}"
            )
        sql = "SELECT id, body FROM inbox NOT INDEXED WHERE number = ? ORDER BY id"
        rows: list[tuple[int, bytes]] = self.tell(
            lambda: self.connection.execute(sql, (number,)).fetchall()
        )
        return rows

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        infos: list[RunInfo] = []
        for run_id in self.numbers:
            try:
                lines = await self.read(run_id)
                base: Base | None = self.tell(partial(self._base, self._number(run_id)))
            except StoreError:
                continue
            if lines:
                infos.append(RunInfo(run_id, lines[-1].seq, lines[0], lines[-1], base))
        infos.sort(key=lambda run: str(run.last.at), reverse=True)  # it may be anything
        return page(infos, limit, after, status)

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        return matching([run.run_id for run in await self.runs()], part, limit)

    async def create(self, run_id: str, base: Base | None = None) -> int:
        raise self._refused()

    async def open(self, run_id: str) -> int:
        raise self._refused()

    async def epoch(self, run_id: str) -> int:
        raise self._refused()

    async def append(self, append: Append) -> bool:
        raise self._refused()

    async def post(self, run_id: str, body: bytes) -> None:
        raise self._refused()

    async def close(self) -> None:
        """What is read from belongs to another."""

    def _refused(self) -> StoreError:
        return StoreError(f"{self.path} is damaged and only read here: bring its runs elsewhere")

    def _find(self) -> bool:
        """Find the ids; whether one way or the other all of them were read."""
        all_read = False
        keys: list[set[_Pair]] = [set(), set()]  # by the table, by its index
        for sql, pairs in zip((_BY_TABLE, _BY_INDEX), keys, strict=True):
            for order in ("", " DESC"):
                rows, complete = self._some(sql + order)
                all_read = all_read or complete
                pairs.update(_pairs(rows))
        if not all_read:
            top = max((number for number, _ in keys[0] | keys[1]), default=0)
            for number in range(1, max(top, self._top()) + 1):
                keys[0].update(_pairs(self._some(_BY_NUMBER, number)[0]))
        self._settle(keys[0] & keys[1], keys[0] ^ keys[1])
        return all_read

    def _settle(self, sure: set[_Pair], single: set[_Pair]) -> None:
        """Take the pairs of number and id that both ways tell, and others that nothing gainsays."""
        for number, run_id in sure:
            self.known[number], self.numbers[run_id] = run_id, number
        rest = [
            (n, run_id) for n, run_id in single if not (n in self.known or run_id in self.numbers)
        ]
        numbers, ids = Counter(n for n, _ in rest), Counter(run_id for _, run_id in rest)
        alone = [(n, run_id) for n, run_id in rest if numbers[n] == ids[run_id] == 1]
        for number, run_id in alone:
            self.known[number], self.numbers[run_id] = run_id, number

    def _top(self) -> int:
        """The highest number of a run that can be found."""
        rows, _ = self._some("SELECT key >> 32 FROM entries ORDER BY key DESC LIMIT 1")
        return max((*self.known, *(number for (number,) in rows if number is not None)), default=0)

    def _has_lines(self, number: int) -> bool:
        """Whether a run has lines, or may have: they cannot be read."""
        rows, complete = self._some(f"{_OWN} LIMIT 1", number << 32, (number << 32) + _SEQ)
        return bool(rows) or not complete

    def _some(self, sql: str, *values: Any) -> tuple[list[Any], bool]:
        """The rows up to the first that cannot be read; whether that were all."""
        rows: list[Any] = []

        def fetch() -> None:
            for row in self.connection.execute(sql, values):
                rows.append(row)  # noqa: PERF402 - what was read before an error counts

        try:
            self.tell(fetch)
        except StoreError:
            return rows, False
        return rows, True

    def _number(self, run_id: str) -> int:
        if run_id not in self.numbers:
            raise unknown_run(run_id)
        return self.numbers[run_id]

    def _is_end(self, number: int, seq: int) -> bool:
        """Whether the line is the run's last: behind it begins the run with the next number.

        A page with an older text, or that of another, can be read without an error.
        """
        last = (number << 32) + seq
        row: tuple[int] | None = self.connection.execute(_BEHIND, (last,)).fetchone()
        if not self._may_end(number, last):
            return False
        if row is None:
            (top,) = self.connection.execute("SELECT max(key) FROM entries").fetchone()
            return bool(top == last)
        behind, its_seq = row[0] >> 32, row[0] & _SEQ
        base = self._base(behind)
        known = bisect_right(self.order, number)
        follows = behind <= (self.order[known] if known < len(self.order) else behind)
        return follows and its_seq == (1 if base is None else base.seq + 1)

    def _may_end(self, number: int, key: int) -> bool:
        """Whether the line may be the last one: it is a stop, or the run is known to be open."""
        with suppress(sqlite3.Error):  # a page that is broken
            query = "SELECT number FROM open_runs WHERE number = ?"
            if self.connection.execute(query, (number,)).fetchone() is None:
                query = "SELECT body FROM entries WHERE key = ?"
                row: tuple[Any] | None = self.connection.execute(query, (key,)).fetchone()
                return row is not None and isinstance(row[0], bytes) and stops(row[0])
        return True

    def _base(self, number: int) -> Base | None:
        row: tuple[Any, Any] | None = self.connection.execute(_FORK, (number,)).fetchone()
        if row is None:
            return None
        of, shared = row
        if not isinstance(of, int) or not isinstance(shared, int):
            raise StoreError(f"what run number {number} shares with another cannot be read")
        return Base(self.known.get(of, f"number {of}"), shared)

    def _lines(self, number: int, run_id: str, after: int) -> list[Line]:
        lines: list[Line] = []
        upto = _SEQ
        passed: set[str] = set()
        while True:
            start = number << 32
            own = self.connection.execute(_OWN, (start + max(after, 0), start + upto)).fetchall()
            lines = [Line(key & _SEQ, *rest) for key, *rest in own] + lines
            base = self._base(number)
            if base is None or base.seq <= after or not lines:
                return lines
            if base.run_id not in self.numbers or base.run_id in passed:
                raise lost_base(run_id, base)
            passed.add(base.run_id)
            number, upto = self.numbers[base.run_id], base.seq
