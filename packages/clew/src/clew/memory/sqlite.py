"""Memories in one SQLite file."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from clew.core.codes import Trust
from clew.memory import rows
from clew.memory.embeddings import fused, telling, vectors
from clew.memory.interface import Kind, Memory, MemorySource, Tombstone
from clew.memory.schema import connect, explain, sweep
from clew.memory.tokens import RUN_BITS, ByWords, beside, best_of_runs, find, ordered, weigh
from clew.stores import default_location
from clew.support.errors import ConfigError
from clew.tools.retrieval import Embed

T = TypeVar("T")

_PATIENCE: Final = 5.0
_NO_SOURCE: Final = MemorySource()


class SqliteMemory:
    """A file of memories, made if it is missing; whoever may read it sees all of it.

    It is searched by words and, with `embed`, by meaning too: "minilm" for the model of the extra
    `embeddings`, or a function from texts to vectors. Raises `StoreError` for a file that cannot be
    used or is of another version, and `ConfigError` for an embedding that cannot be used.
    """

    def __init__(self, path: str | Path, *, embed: Embed | str | None = None) -> None:
        self.path = Path(path).expanduser()
        self._near = None if embed is None else vectors(embed)
        self._lock = threading.Lock()
        self._connection = connect(self.path, _PATIENCE)
        weakref.finalize(self, self._connection.close)  # who forgets to close it leaves none open

    def close(self) -> None:
        """Let go of the file. To close it again does nothing."""
        with self._lock:
            self._connection.close()

    def add(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        trust: Trust = "untrusted",
        source: MemorySource = _NO_SOURCE,
        at: int | None = None,
    ) -> Memory:
        """Remember a text, or return the memory that says so already (`Memories.add`)."""
        text = rows.checked(text)

        def work(connection: sqlite3.Connection) -> Memory:
            believed = rows.trust_of(connection, trust, source)
            known = rows.same(connection, text)
            if known is not None and (believed, known[1]) != ("trusted", "untrusted"):
                return rows.read(connection, known[0])
            new = rows.insert(connection, text, kind, believed, source, at)
            if known is not None:
                rows.replace(connection, known[0], new)
            return rows.read(connection, new)

        return self._within(work)

    def correct(
        self,
        memory_id: str,
        text: str,
        *,
        trust: Trust = "untrusted",
        source: MemorySource = _NO_SOURCE,
        at: int | None = None,
    ) -> Memory:
        """Put a text in the place of a memory (`Memories.correct`)."""
        text = rows.checked(text)

        def work(connection: sqlite3.Connection) -> Memory:
            number = rows.number_of(connection, memory_id)
            old = rows.read(connection, number)
            believed = rows.trust_of(connection, trust, source)
            if old.superseded_by:
                raise ConfigError(f"{old.id} was corrected before: correct {old.superseded_by}")
            if (old.trust, believed) == ("trusted", "untrusted"):
                raise ConfigError(
                    f"{old.id} is trusted, and untrusted text does not correct it: add a memory "
                    "beside it, or have a person correct it"
                )
            known = rows.same(connection, text)
            if known is not None and known[0] != number:
                raise ConfigError(f"m{known[0]} says so already: forget {old.id} if it is wrong")
            new = rows.insert(connection, text, old.kind, believed, source, at)
            rows.replace(connection, number, new)
            return rows.read(connection, new)

        return self._within(work)

    def forget(self, memory_id: str) -> tuple[str, ...]:
        """Remove a memory, and all that goes with it, for good (`Memories.forget`)."""

        def work(connection: sqlite3.Connection) -> list[int]:
            numbers = rows.chain(connection, rows.number_of(connection, memory_id))
            for number in numbers:
                rows.remove(connection, number, time.time_ns() // 1_000_000)
            # The index keeps the words of what was deleted until its parts are made one.
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            return numbers

        numbers = self._within(work)
        self._alone(sweep)
        return tuple(f"m{number}" for number in numbers)

    def get(self, memory_id: str) -> Memory:
        """The memory with this id (`Memories.get`)."""
        return self._alone(lambda file: rows.read(file, rows.number_of(file, memory_id)))

    def list(self, *, history: bool = False) -> tuple[Memory, ...]:
        """All memories, the oldest first (`Memories.list`)."""
        return self._alone(lambda file: rows.read_all(file, history=history))

    def tombstones(self) -> tuple[Tombstone, ...]:
        """What was forgotten (`Memories.tombstones`)."""

        def work(connection: sqlite3.Connection) -> tuple[Tombstone, ...]:
            rows = connection.execute("SELECT number, at FROM tombstones ORDER BY at, number")
            return tuple(Tombstone(id=f"m{number}", at=at) for number, at in rows)

        return self._alone(work)

    def search(self, query: str, k: int = 5) -> tuple[Memory, ...]:
        """At most `k` memories that fit, the best first (`Memories.search`)."""

        def work(connection: sqlite3.Connection) -> tuple[Memory, ...]:
            by_words, near = self._ranked(connection, query)
            scores = by_words.memories()
            scores = scores if near is None else fused(scores, near)
            best = beside(ordered(scores), {*by_words.own, *(near or ())})
            memories: list[Memory] = []
            many = 2 * k
            for start in range(0, len(best), many):  # a place beside a memory may be empty
                part = best[start : start + many]
                there = rows.read_positions(connection, part)
                memories += [there[position] for position in part if position in there]
                if len(memories) >= k:
                    break
            return tuple(memories[:k])

        return self._alone(work) if k > 0 else ()

    def runs(self, query: str, k: int = 5) -> tuple[str, ...]:
        """At most `k` runs whose memories fit, the best first (`Memories.runs`)."""
        name = "SELECT run FROM memories WHERE place BETWEEN ? AND ? AND run != '' LIMIT 1"

        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            runs: list[str] = []
            for number in ordered(self._runs(connection, query)):
                start = number << RUN_BITS
                row = connection.execute(name, (start, start + (1 << RUN_BITS) - 1))
                runs += [run for (run,) in row]
                if len(runs) >= k:
                    break
            return tuple(runs)

        return self._alone(work) if k > 0 else ()

    def _runs(self, connection: sqlite3.Connection, query: str) -> dict[int, float]:
        """The scores of runs, by their numbers."""
        by_words, near = self._ranked(connection, query)
        return by_words.runs() if near is None else fused(by_words.runs(), best_of_runs(near))

    def _ranked(
        self, connection: sqlite3.Connection, query: str
    ) -> tuple[ByWords, dict[int, float] | None]:
        query = query.encode("utf-8", "ignore").decode()  # half a character is found nowhere
        # As good as a count, which takes a millisecond where there are 100,000.
        total: int = connection.execute("SELECT max(number) FROM memories").fetchone()[0] or 0
        ranked = find(connection, query)
        by_words = weigh(ranked, total)
        if self._near is None:
            return by_words, None
        return by_words, self._near.near(connection, telling(query, ranked, total))

    def _alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work on the connection, alone; SQLite's errors come out as ours."""
        with self._lock:
            try:
                return work(self._connection)
            except sqlite3.Error as error:
                raise explain(self.path, error) from error

    def _within(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work in a transaction of its own: all of it is written, or nothing."""

        def transaction(connection: sqlite3.Connection) -> T:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return work(connection)

        return self._alone(transaction)


def memory_path(where: str | Path | None = None) -> Path:
    """The file of memories that is meant: this one, $CLEW_MEMORY, or one in the data folder."""
    named = where or os.environ.get("CLEW_MEMORY")
    return Path(named).expanduser() if named else default_location().with_name("memory.sqlite")


def open_memory(
    where: str | Path | None = None, *, embed: Embed | str | None = None
) -> SqliteMemory:
    """Open the file of memories that is meant (`memory_path`), making it if it is missing."""
    return SqliteMemory(memory_path(where), embed=embed)
