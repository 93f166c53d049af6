"""The file of memories: its tables, and what SQLite's errors mean for people."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from clew.stores.refusals import NO_DESCRIPTORS, descriptors_spent
from clew.support.errors import StoreBusyError, StoreDamagedError, StoreError
from clew.support.private_files import make_file, make_folder

VERSION: Final = 1
"""Version of the tables and of how texts are cut into words, kept as `user_version`."""

_OURS: Final = int.from_bytes(b"clwm")  # the file's application_id

# AUTOINCREMENT: the id of a memory that was forgotten never names another. `place` is NULL for a
# memory that was corrected: no search finds it. `superseded` is the number of the one that holds.
_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS memories (
        number INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER UNIQUE, text TEXT NOT NULL,
        key TEXT NOT NULL, kind TEXT NOT NULL, trust TEXT NOT NULL, at INTEGER NOT NULL,
        run TEXT NOT NULL, seq INTEGER NOT NULL, by TEXT NOT NULL,
        superseded INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX IF NOT EXISTS memories_by_key ON memories (key, superseded)",
    "CREATE INDEX IF NOT EXISTS memories_by_run ON memories (run)",
    """CREATE INDEX IF NOT EXISTS memories_by_next ON memories (superseded)
        WHERE superseded != 0""",
    """CREATE TABLE IF NOT EXISTS bases (
        number INTEGER NOT NULL, base INTEGER NOT NULL, PRIMARY KEY (base, number)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS tombstones (
        number INTEGER PRIMARY KEY, at INTEGER NOT NULL, swept INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, tokenize='porter unicode61')",
    "CREATE TABLE IF NOT EXISTS embedding (model TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS vectors (
        number INTEGER PRIMARY KEY, place INTEGER NOT NULL, vector BLOB NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS vectors_by_place ON vectors (place)",
    f"PRAGMA application_id = {_OURS}",
    f"PRAGMA user_version = {VERSION}",
)

_UNWRITABLE: Final = "cannot be opened for writing: change its rights or name another file"
_MEANING: Final = {
    sqlite3.SQLITE_BUSY: "is kept locked by another process: end the one that hangs",
    sqlite3.SQLITE_FULL: "has no room left on its disk: make room and try again, nothing is lost",
    sqlite3.SQLITE_NOTADB: "is not a clew memory file: choose another",
    sqlite3.SQLITE_CORRUPT: "is damaged: restore a copy",
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
}
_KIND: Final = {
    sqlite3.SQLITE_BUSY: StoreBusyError,
    sqlite3.SQLITE_CORRUPT: StoreDamagedError,
}


def connect(path: Path, patience: float) -> sqlite3.Connection:
    """Open the file, making it if need be, and end a forgetting that was cut short.

    `patience` is how long to wait for another process, in seconds. Raises `StoreError`.
    """
    try:
        make_folder(path.parent)
        with suppress(FileExistsError):
            make_file(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be made ({error.strerror}): name another file") from error
    try:
        connection = sqlite3.connect(
            path, timeout=patience, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise explain(path, error) from error
    try:
        _prepare(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise explain(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def explain(path: Path, error: sqlite3.Error) -> StoreError:
    """An error of SQLite as one line that says what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # errors of the binding itself have none
    kind = _KIND.get(code, StoreError)
    if code == sqlite3.SQLITE_CANTOPEN and descriptors_spent():
        return kind(f"{path} {NO_DESCRIPTORS}")
    return kind(f"{path} {_MEANING.get(code, f'cannot be used ({error}): open it anew')}")


def sweep(connection: sqlite3.Connection) -> None:
    """Leave no trace of what was forgotten: write the file anew, from what is still there.

    `secure_delete` overwrites what is deleted; parts of pages that were moved earlier it does not.
    """
    connection.execute("VACUUM")
    connection.execute("UPDATE tombstones SET swept = 1 WHERE swept = 0")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    if not _number(connection, "schema_version"):
        _make(connection)
    if _number(connection, "application_id") != _OURS:
        raise StoreError(f"{path} is not a clew memory file: choose another")
    if (version := _number(connection, "user_version")) != VERSION:
        raise StoreError(
            f"{path} was written by another version of clew (memories version {version}, this one "
            f"knows {VERSION}): use that clew, or name another file"
        )
    # A log beside the file (WAL) would keep what was forgotten until it is emptied; SQLite's usual
    # journal is gone with each commit. Nothing is written often.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: its plain fsync stops at the drive's cache
    if connection.execute("SELECT 1 FROM tombstones WHERE swept = 0").fetchone():
        sweep(connection)


def _make(connection: sqlite3.Connection) -> None:
    """Make the tables, all or none; another process may have been faster."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _TABLES:
            connection.execute(statement)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    row: tuple[int] = connection.execute(f"PRAGMA {pragma}").fetchone()
    return row[0]
