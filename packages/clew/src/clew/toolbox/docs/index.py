"""The index: one SQLite file per folder with its passages and a full-text table over them."""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import platformdirs

from clew.support.private_files import make_file, make_folder

VERSION: Final = 2
"""Of the tables and of how text is cut into passages and words."""

_OTHER_WORDS: Final = 1
"""The version with the same tables and other words: its content is indexed anew."""

_PATIENCE: Final = 0.25
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_SCHEMA: Final = (
    "CREATE TABLE about (folder TEXT NOT NULL)",
    """CREATE TABLE files (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
        mtime INTEGER NOT NULL, seen INTEGER NOT NULL, digest BLOB NOT NULL,
        reason TEXT NOT NULL, note TEXT NOT NULL
    )""",
    # AUTOINCREMENT: the number of a passage that is gone never names another.
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, place INTEGER NOT NULL,
        title TEXT NOT NULL, offset INTEGER NOT NULL, text TEXT NOT NULL, grams TEXT NOT NULL,
        UNIQUE (file, place)
    )""",
    """CREATE VIRTUAL TABLE words USING fts5(
        title, text, grams, content='passages', content_rowid='id', tokenize='porter unicode61'
    )""",
    """CREATE TRIGGER passage_in AFTER INSERT ON passages BEGIN
        INSERT INTO words (rowid, title, text, grams)
        VALUES (new.id, new.title, new.text, new.grams);
    END""",
    """CREATE TRIGGER passage_out AFTER DELETE ON passages BEGIN
        INSERT INTO words (words, rowid, title, text, grams)
        VALUES ('delete', old.id, old.title, old.text, old.grams);
    END""",
)


def default_index_path(folder: Path) -> Path:
    """Where the index of a folder lies unless told otherwise: under the user's cache folder."""
    name = hashlib.blake2b(os.fsencode(folder), digest_size=8).hexdigest()
    return Path(platformdirs.user_cache_dir("clew", appauthor=False)) / "docs" / f"{name}.sqlite"


def open_index(path: Path, folder: Path, stop: threading.Event) -> tuple[sqlite3.Connection, str]:
    """Open or make the index; where that cannot be, make one in memory and say why in a line."""
    try:
        make_folder(path.parent)
        with suppress(FileExistsError):
            make_file(path)
        connection = _connect(str(path))
    except (OSError, sqlite3.Error) as error:
        return _in_memory(folder, f"{path} cannot be used ({error})")
    try:
        problem = _prepare(connection, folder, stop)
    except sqlite3.Error as error:
        problem = f"cannot be used ({error})"
    if not problem:
        return connection, ""
    connection.close()
    return _in_memory(folder, f"{path} {problem}")


@contextmanager
def writing(connection: sqlite3.Connection, stop: threading.Event) -> Generator[None]:
    """A transaction that waits for other writers until `stop`, and is taken back on any error."""
    _patiently(connection, "BEGIN IMMEDIATE", stop)
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _in_memory(folder: Path, problem: str) -> tuple[sqlite3.Connection, str]:
    connection = _connect(":memory:")
    _prepare(connection, folder, threading.Event())
    return connection, f"{problem}: the folder is indexed in memory, for this process only"


def _connect(path: str) -> sqlite3.Connection:
    # Calls come from worker threads, one at a time.
    return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection, folder: Path, stop: threading.Event) -> str:
    """Make the tables, or say what is wrong with those that are there."""
    _patiently(connection, "PRAGMA journal_mode=WAL", stop)
    # A cache: what a power cut takes is indexed again.
    connection.execute("PRAGMA synchronous=NORMAL")
    owner = os.fsencode(folder).decode("utf-8", "backslashreplace")
    with writing(connection, stop):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if not version and not tables:
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?)", (owner,))
            connection.execute(f"PRAGMA user_version={VERSION}")
            return ""
        if version not in (VERSION, _OTHER_WORDS):
            return "is no index of this version of clew (delete it, or name another place)"
        (other,) = connection.execute("SELECT folder FROM about").fetchone()
        if other != owner:
            return f"is the index of {other} (name another place)"
        if version == _OTHER_WORDS:
            connection.execute("DELETE FROM passages")
            connection.execute("DELETE FROM files")
            connection.execute(f"PRAGMA user_version={VERSION}")
        return ""


def _patiently(connection: sqlite3.Connection, statement: str, stop: threading.Event) -> None:
    """Execute it as soon as no other process is writing."""
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or stop.wait(_PATIENCE / 10):
                raise
        else:
            return
