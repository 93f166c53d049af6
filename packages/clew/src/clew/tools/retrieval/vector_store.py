"""Vectors on the disk, by the hash of their texts: one SQLite file for each model."""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeVar

import platformdirs

from clew.support.private_files import make_file, make_folder

T = TypeVar("T")

ASKED: Final = 500
"""So many digests are asked for at a time; SQLite takes 999 in its oldest build."""

LOG: Final = logging.getLogger("clew")


@dataclass(frozen=True)
class VectorStore:
    """The vectors of one model. A cache: where the file cannot be used there is none."""

    path: Path

    @classmethod
    def of(cls, model: str) -> Self:
        """That of a model, under the user's cache folder."""
        name = hashlib.blake2b(model.encode(), digest_size=8).hexdigest()
        folder = Path(platformdirs.user_cache_dir("clew", appauthor=False))
        return cls(folder / "vectors" / f"{name}.sqlite")

    def read(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors that are there, by their texts."""

        def work(connection: sqlite3.Connection) -> dict[str, bytes]:
            wanted = {_digest(text): text for text in texts}
            vectors = dict[str, bytes]()
            digests = [*wanted]
            for start in range(0, len(digests), ASKED):
                some = digests[start : start + ASKED]
                marks = ", ".join("?" * len(some))
                asked = f"SELECT digest, vector FROM vectors WHERE digest IN ({marks})"  # noqa: S608 -- only marks
                vectors |= {wanted[digest]: row for digest, row in connection.execute(asked, some)}
            return vectors

        return self._used(work) or {}

    def write(self, vectors: Mapping[str, bytes]) -> None:
        """Put vectors there, all or none."""

        def work(connection: sqlite3.Connection) -> None:
            rows = [(_digest(text), vector) for text, vector in vectors.items()]
            with connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        self._used(work)

    def _used(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What the work with the open file gave; what goes wrong is logged, and costs but time."""
        try:
            make_folder(self.path.parent)
            with suppress(FileExistsError):
                make_file(self.path)
            with closing(sqlite3.connect(self.path)) as connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                )
                return work(connection)
        except (OSError, sqlite3.Error) as error:
            LOG.warning("vectors are not kept: %s cannot be used (%s)", self.path, error)
            return None


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
