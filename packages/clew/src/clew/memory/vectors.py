"""The vectors of memories, in their file. Needs NumPy.

They are held in memory, 768 bytes for a piece of 384 numbers, and so are their signs, 48 bytes.
What agrees with the query in most signs is then compared number by number.
"""

import logging
import sqlite3
from typing import Any, Final

import numpy as np

from clew.memory.embeddings import FIRST, FLOOR, pieces
from clew.support.errors import ConfigError
from clew.tools.retrieval import CachedEmbedding, Embed
from clew.tools.retrieval.vectors import embedded, unit

LOG: Final = logging.getLogger("clew")

COMPARED: Final = 300
"""So many pieces are compared number by number, and all that agree as well as the last of them."""

_AT_ONCE: Final = 256
_MISSING: Final = """
    SELECT place, text FROM memories WHERE place IS NOT NULL AND place NOT IN (
        SELECT place FROM vectors
    ) ORDER BY place LIMIT ?"""

# While they were made, another process may have forgotten the memory.
_NEW: Final = """
    INSERT INTO vectors (place, vector) SELECT :place, :vector
    WHERE EXISTS (SELECT 1 FROM memories WHERE place = :place AND text = :text)"""


class MemoryEmbeddings:
    """Those of one embedding; what a memory lacks is made when it is searched for."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._stamp: tuple[int, int] | None = None
        self._positions: Any = None
        self._rows: Any = None
        self._signs: Any = None

    def near(self, connection: sqlite3.Connection, query: str) -> dict[int, float]:
        """The nearest memories by their places, with their shares from 0 to 1.

        None that is less similar to the query than the embedding's `floor`.
        """
        if self._stamp != _stamp(connection):
            self._fill(connection)
            self._load(connection)
        if not len(self._positions):
            return {}
        (asked,) = unit(embedded(self._embed, [query]))
        if len(asked) != self._rows.shape[1]:
            raise _other_length(self._rows.shape[1], len(asked))
        best: dict[int, float] = {}
        for position, value in self._compared(asked):
            best[position] = max(best.get(position, -1.0), value)
        first = sorted(best.items(), key=lambda item: (-item[1], -item[0]))[: FIRST + 1]
        top, floor = first[0][1], first[-1][1]
        min_similarity = float(getattr(self._embed, "floor", FLOOR))
        return {
            position: (value - floor) / ((top - floor) or 1.0)
            for position, value in first[:FIRST]
            if value >= min_similarity
        }

    def _compared(self, asked: Any) -> list[tuple[int, float]]:
        """Places and similarities of the pieces that agree with the vector in most signs."""
        apart = np.zeros(len(self._positions), dtype=np.uint16)
        for column, signs in zip(self._signs, _signs(asked[None])[0], strict=True):
            apart += np.bitwise_count(column ^ signs)
        reached = np.cumsum(np.bincount(apart))
        limit = np.searchsorted(reached, min(COMPARED, len(apart)))
        chosen = np.flatnonzero(apart <= limit)
        values = self._rows[chosen].astype(np.float32) @ asked
        return [*zip(self._positions[chosen].tolist(), values.tolist(), strict=True)]

    def _fill(self, connection: sqlite3.Connection) -> None:
        """Make the vectors that are missing; those of another embedding are dropped."""
        name = _name(self._embed)
        if connection.execute("SELECT model FROM embedding").fetchall() != [(name,)]:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("DELETE FROM vectors")
                connection.execute("DELETE FROM embedding")
                connection.execute("INSERT INTO embedding VALUES (?)", (name,))
        while missing := connection.execute(_MISSING, (_AT_ONCE,)).fetchall():
            LOG.info("embedding %d memories with %s", len(missing), name)
            cut = [(position, text, piece) for position, text in missing for piece in pieces(text)]
            rows = unit(embedded(self._embed, [piece for *_, piece in cut]))
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(
                    _NEW,
                    (
                        {
                            "place": position,
                            "text": text,
                            "vector": row.astype(np.float16).tobytes(),
                        }
                        for (position, text, _), row in zip(cut, rows, strict=True)
                    ),
                )

    def _load(self, connection: sqlite3.Connection) -> None:
        """Hold all vectors, and their signs, in memory."""
        stamp = _stamp(connection)
        vector_rows = connection.execute(
            "SELECT place, vector FROM vectors ORDER BY number"
        ).fetchall()
        lengths = sorted({len(vector) // 2 for _, vector in vector_rows})
        if len(lengths) > 1:
            raise _other_length(*lengths[:2])
        rows = np.frombuffer(b"".join(vector for _, vector in vector_rows), dtype=np.float16)
        self._rows = rows.reshape(len(vector_rows), *lengths or [0])
        self._signs = np.ascontiguousarray(_signs(self._rows).T)
        self._positions = np.array([position for position, _ in vector_rows], dtype=np.int64)
        self._stamp = stamp


def _other_length(one: int, other: int) -> ConfigError:
    return ConfigError(
        f"the embedding gave vectors of {one} numbers, then of {other}: give each embedding a name "
        "of its own, or a file"
    )


def _signs(rows: Any) -> Any:
    """A row of 64-bit words for each row of numbers: a bit for each that is above zero."""
    bits = np.packbits(rows > 0, axis=1)
    short = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, short)))).view(np.uint64)


def _stamp(connection: sqlite3.Connection) -> tuple[int, int]:
    """What changes with each change of the file, by this connection or another."""
    row: tuple[int] = connection.execute("PRAGMA data_version").fetchone()
    return row[0], connection.total_changes


def _name(embed: Embed) -> str:
    """What tells the vectors of one embedding from those of another."""
    if isinstance(embed, CachedEmbedding):
        return embed.model
    return f"{getattr(embed, '__module__', '')}.{getattr(embed, '__qualname__', repr(embed))}"
