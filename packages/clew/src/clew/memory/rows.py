"""The rows of a file of memories: how one comes, is read, is taken out, and what goes with it."""

import re
import sqlite3
import time
from collections.abc import Sequence
from typing import Any, Final

from clew.core.codes import Trust
from clew.memory.interface import Kind, Memory, MemorySource
from clew.memory.similarity import key
from clew.memory.tokens import RUN_BITS, indexed
from clew.support.errors import ConfigError

MAX_CHARS: Final = 2_000
"""A memory is a fact, no document: a longer text stays in its run."""

_ID: Final = re.compile(r"m([1-9][0-9]{0,17})")
_ROWS: Final = """
    SELECT number, text, kind, trust, run, seq, by, at, superseded, place FROM memories WHERE """
_NEW: Final = """
    INSERT INTO memories (place, text, key, kind, trust, at, run, seq, by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def checked(text: str) -> str:
    """The text as it is kept. Raises `ConfigError` where it can be no memory."""
    text = text.strip()
    if not text:
        raise ConfigError("a memory is empty: say what is to be remembered")
    if len(text) > MAX_CHARS:
        raise ConfigError(
            f"a memory has {len(text):,} characters and may have {MAX_CHARS:,}: remember what "
            "matters of it"
        )
    if "\0" in text or not _is_text(text):
        raise ConfigError("a memory is not valid UTF-8: convert it first, for example with iconv")
    return text


def number_of(connection: sqlite3.Connection, memory_id: str) -> int:
    """The number of the memory with this id. Raises `ConfigError` where there is none."""
    match = _ID.fullmatch(memory_id)
    number = int(match[1]) if match else 0
    if connection.execute("SELECT 1 FROM memories WHERE number = ?", (number,)).fetchone():
        return number
    if connection.execute("SELECT 1 FROM tombstones WHERE number = ?", (number,)).fetchone():
        raise ConfigError(f"{memory_id} was forgotten: nothing of it is left")
    raise ConfigError(f"there is no memory {memory_id!r}: `clew memory list` shows their ids")


def same(connection: sqlite3.Connection, text: str) -> tuple[int, Trust] | None:
    """The memory that says the same, if there is one, and its trust."""
    row: tuple[int, Trust] | None = connection.execute(
        "SELECT number, trust FROM memories WHERE key = ? AND superseded = 0", (key(text),)
    ).fetchone()
    return row


def trust_of(connection: sqlite3.Connection, trust: Trust, source: MemorySource) -> Trust:
    """The trust of what comes from there: no more than that of the memories it was made from."""
    of = [read(connection, number_of(connection, base)).trust for base in source.memories]
    return "untrusted" if "untrusted" in of else trust


def insert(
    connection: sqlite3.Connection,
    text: str,
    kind: Kind,
    trust: Trust,
    source: MemorySource,
    at: int | None,
) -> int:
    """Write a new memory, and its words into the index. Gives its number."""
    at = time.time_ns() // 1_000_000 if at is None else at
    position = _next_position(connection, source.run)
    row = (position, text, key(text), kind, trust, at, source.run, source.seq, source.by)
    number = connection.execute(_NEW, row).lastrowid or 0
    for base in source.memories:
        bases = (number, number_of(connection, base))
        connection.execute("INSERT OR IGNORE INTO bases VALUES (?, ?)", bases)
    day = time.gmtime(at / 1000)
    words = indexed(text, day.tm_year, day.tm_mon, day.tm_mday)
    connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (position, words))
    return number


def replace(connection: sqlite3.Connection, old: int, new: int) -> None:
    """Let a memory be found no more: another holds in its place."""
    take_out(connection, old)
    connection.execute(
        "UPDATE memories SET place = NULL, superseded = ? WHERE number = ?", (new, old)
    )


def remove(connection: sqlite3.Connection, number: int, at: int) -> None:
    """Delete a memory; a tombstone is left."""
    take_out(connection, number)
    connection.execute("DELETE FROM bases WHERE number = ? OR base = ?", (number, number))
    connection.execute("DELETE FROM memories WHERE number = ?", (number,))
    connection.execute("INSERT INTO tombstones VALUES (?, ?, 0)", (number, at))


def take_out(connection: sqlite3.Connection, number: int) -> None:
    """Take a memory out of the index and of the vectors."""
    row = connection.execute("SELECT place FROM memories WHERE number = ?", (number,)).fetchone()
    connection.execute("DELETE FROM words WHERE rowid = ?", row)
    connection.execute("DELETE FROM vectors WHERE place = ?", row)


def chain(connection: sqlite3.Connection, number: int) -> list[int]:
    """A memory with those that it corrected, those that corrected it, and all made from them."""
    numbers: dict[int, None] = {}
    new = [number]
    while new:
        one = new.pop()
        numbers[one] = None
        rows = connection.execute(
            "SELECT number FROM memories WHERE superseded = ? AND superseded != 0 "
            "UNION SELECT superseded FROM memories WHERE number = ? AND superseded != 0 "
            "UNION SELECT number FROM bases WHERE base = ?",
            (one, one, one),
        )
        new += [other for (other,) in rows if other not in numbers]
    return sorted(numbers)


def read(connection: sqlite3.Connection, number: int) -> Memory:
    """The memory of this number."""
    row = connection.execute(f"{_ROWS} number = ?", (number,))
    return _memory(connection, row.fetchone())


def read_all(connection: sqlite3.Connection, *, history: bool) -> tuple[Memory, ...]:
    """All memories, the oldest first; with `history` those that were corrected too."""
    rows = connection.execute(f"{_ROWS} superseded = 0 OR ? ORDER BY number", (history,))
    return tuple(_memory(connection, row) for row in rows.fetchall())


def read_positions(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, Memory]:
    """The memories at these places, as far as there are any."""
    marks = ", ".join("?" * len(positions))
    rows = connection.execute(f"{_ROWS} place IN ({marks})", positions)
    return {row[-1]: _memory(connection, row) for row in rows.fetchall()}


def _memory(connection: sqlite3.Connection, row: Any) -> Memory:
    number, text, kind, trust, run, seq, by, at, superseded, _ = row
    bases = connection.execute("SELECT base FROM bases WHERE number = ? ORDER BY base", (number,))
    made_from = tuple(f"m{base}" for (base,) in bases)
    return Memory(
        id=f"m{number}",
        text=text,
        kind=kind,
        trust=trust,
        source=MemorySource(run=run, seq=seq, by=by, memories=made_from),
        at=at,
        superseded_by=f"m{superseded}" if superseded else "",
    )


def _next_position(connection: sqlite3.Connection, run: str) -> int:
    """The place behind the last memory of a run, or the first of a run of its own."""
    row = connection.execute(
        "SELECT max(place) FROM memories WHERE run = ? AND run != ''", (run,)
    ).fetchone()
    if row[0] is not None:
        return int(row[0]) + 1
    last = connection.execute("SELECT max(place) FROM memories").fetchone()[0] or 0
    return ((int(last) >> RUN_BITS) + 1 << RUN_BITS) + 1


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
