"""Reading what is left of a damaged SQLite file.

A broken page takes with it what lay on it. What lay elsewhere is found by going around it: ids
stand in a table and in its index, each is read from both ends, and what is between is asked for by
number. Whoever reads must hold lines and blobs against their hashes.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from clew.errors import StoreError
from clew.protocols import Append, Base, Line, RunInfo, Store
from clew.stores.refusals import lost_base, missing_blob, unknown_run

Tell: TypeAlias = Callable[[Callable[[], Any]], Any]
"""Does work on the connection; errors of SQLite come out as `StoreError`."""

_BY_TABLE: Final = "SELECT number, run_id FROM runs NOT INDEXED ORDER BY number"
_BY_INDEX: Final = """
    SELECT number, run_id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY run_id"""
_BY_NUMBER: Final = "SELECT number, run_id FROM runs NOT INDEXED WHERE number = ?"
_FORK: Final = "SELECT base, shared FROM forks WHERE number = ?"
_OWN: Final = """
    SELECT key, at, epoch, body, hash FROM entries
    WHERE key > (?1 << 32) + ?2 AND key <= (?1 << 32) + ?3 ORDER BY key"""
_SEQ: Final = (1 << 32) - 1
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def damage(connection: sqlite3.Connection) -> str:
    """What SQLite finds wrong with the file; "" where nothing is. Raises `sqlite3.Error`."""
    try:
        (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) not in _DAMAGE:
            raise
        return str(error)
    return "" if said == "ok" else " ".join(str(said).split())


def salvaged(
    path: Path, tell: Tell, connection: sqlite3.Connection
) -> tuple[Store, list[str], list[str]] | None:
    """Where to read what is left, all ids that are, and what is lost; None where all is well."""
    if not (said := tell(partial(damage, connection))):
        return None
    rest = Salvaged(path, tell, connection)
    return rest, [*rest.numbers], [f"{path} is damaged: {said}", *rest.lost]


@dataclass(slots=True)
class Salvaged:
    """A store to read from, over the connection of a damaged one."""

    path: Path
    tell: Tell
    connection: sqlite3.Connection
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    ids: dict[int, str] = field(default_factory=dict[int, str])
    lost: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        if not self._find():
            self.lost.append("the list of runs is damaged: there may be more than are found")
        for number in range(1, self._top() + 1):
            if number not in self.ids and self._has_lines(number):
                self.lost.append(f"run number {number} has lost its id")

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        found: list[Line] = self.tell(lambda: self._lines(self._number(run_id), run_id, after))
        return found

    async def blob(self, digest: str) -> bytes:
        for how in ("", "NOT INDEXED"):
            rows, _ = self._some(f"SELECT 1, body FROM blobs {how} WHERE digest = ?", digest)  # noqa: S608 - our own words
            for _, body in rows:
                if isinstance(body, bytes):
                    return body
        raise missing_blob(digest)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        number = self._number(run_id)
        sql = "SELECT id, body FROM inbox NOT INDEXED WHERE number = ? ORDER BY id"
        rows: list[tuple[int, bytes]] = self.tell(
            lambda: self.connection.execute(sql, (number,)).fetchall()
        )
        return rows

    async def runs(self) -> list[RunInfo]:
        found: list[RunInfo] = []
        for run_id in self.numbers:
            try:
                lines = await self.read(run_id)
                base: Base | None = self.tell(partial(self._base, self._number(run_id)))
            except StoreError:
                continue
            if lines:
                found.append(RunInfo(run_id, lines[-1].seq, lines[0], lines[-1], base))
        return sorted(found, key=lambda run: str(run.last.at), reverse=True)  # it may be anything

    async def create(self, run_id: str, base: Base | None = None) -> int:
        raise self._refused()

    async def open(self, run_id: str) -> int:
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
        whole = False
        for sql in (_BY_TABLE, _BY_INDEX):
            for order in ("", " DESC"):
                rows, complete = self._some(sql + order)
                whole = whole or complete
                for row in rows:
                    self._note(*row)
        for number in () if whole else range(1, self._top() + 1):
            for row in () if number in self.ids else self._some(_BY_NUMBER, number)[0]:
                self._note(*row)
        return whole

    def _note(self, number: Any, run_id: Any) -> None:
        """Keep an id, where neither it nor its number is known: what is read may be anything."""
        known = number in self.ids or run_id in self.numbers
        if isinstance(number, int) and isinstance(run_id, str) and not known:
            self.ids[number] = run_id
            self.numbers[run_id] = number

    def _top(self) -> int:
        """The highest number of a run that can be found."""
        rows, _ = self._some("SELECT key >> 32 FROM entries ORDER BY key DESC LIMIT 1")
        return max((*self.ids, *(number for (number,) in rows)), default=0)

    def _has_lines(self, number: int) -> bool:
        """Whether a run has lines, or may have: they cannot be read."""
        rows, complete = self._some(f"{_OWN} LIMIT 1", number, 0, _SEQ)
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

    def _base(self, number: int) -> Base | None:
        row: tuple[int, int] | None = self.connection.execute(_FORK, (number,)).fetchone()
        return None if row is None else Base(self.ids.get(row[0], f"number {row[0]}"), row[1])

    def _lines(self, number: int, run_id: str, after: int) -> list[Line]:
        found: list[Line] = []
        upto = _SEQ
        passed: set[str] = set()
        while True:
            own = self.connection.execute(_OWN, (number, max(after, 0), upto)).fetchall()
            found = [Line(key & _SEQ, *rest) for key, *rest in own] + found
            base = self._base(number)
            if base is None or base.seq <= after or not found:
                return found
            if base.run_id not in self.numbers or base.run_id in passed:
                raise lost_base(run_id, base)
            passed.add(base.run_id)
            number, upto = self.numbers[base.run_id], base.seq
