"""Opening the SQLite file of a store, and what its errors mean to people."""

import logging
import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Final

from clew.stores.refusals import (
    LOCKED,
    NO_DESCRIPTORS,
    NO_ROOM,
    descriptors_spent,
    failed,
    newer,
    older,
)
from clew.stores.sqlite.heads import MARK, SUFFIX, Heads, has_lines
from clew.stores.sqlite.labels import LABELS
from clew.stores.sqlite.listing import OPEN_RUNS, STOPPED_RUNS
from clew.stores.sqlite.migrate import is_older, migrate
from clew.stores.sqlite.notices import NOTICES
from clew.stores.sqlite.page_reader import rebuilt, unreadable
from clew.support.errors import StoreBusyError, StoreDamagedError, StoreError
from clew.support.private_files import make_file, make_folder

LOG: Final = logging.getLogger("clew")

VERSION: Final = 8
"""Version of the tables, kept in the file as `user_version`: more than any file of before has."""

_OURS: Final = int.from_bytes(b"clew")  # the file's application_id

# The page size must be set before the first table. A commit writes whole pages, to the log and
# later to the file, so small ones are less to write, to check and to sync: against 16 KiB a step
# costs 0.05 ms less, and with 500 runs at once, which end on as many pages, a tenth of the time.
# What is longer than a page goes to further ones, which it fills: a step of 1.7 kB takes 1.75 kB;
# with 1 to 4 KiB they would be half empty (2.05 kB). The price: 1 MB in a blob takes 6 ms, not 1.
_PAGE: Final = "PRAGMA page_size = 512"
_LOG_BYTES: Final = 4 << 20
"""How long the log gets before it is folded into the file, which waits for the disk: as long as
SQLite's default, which counts pages and has pages of 4 KiB in mind."""


# `entries` is a rowid table: one WITHOUT ROWID would move bodies over a quarter page to overflow
# pages. AUTOINCREMENT: the id of a message that was taken from the inbox is not given again.
# IF NOT EXISTS: another process may have been faster. `forks` says which run a fork shares its
# first lines with, how many, and which run has line 1; `uses`, which run has which blob;
# `open_runs` has those that did not stop, and `stopped_runs` those that did, when and how; `labels`
# which run has which label; `notices` up to where of a run others were told.
_TABLES: Final = f"""
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL,
    indexed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS entries (
    key INTEGER PRIMARY KEY, at INTEGER NOT NULL, epoch INTEGER NOT NULL,
    hash BLOB NOT NULL, mark BLOB, body BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS blobs (digest TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL, body BLOB NOT NULL, mark BLOB
);
CREATE INDEX IF NOT EXISTS inbox_of_run ON inbox (number);
CREATE TABLE IF NOT EXISTS forks (
    number INTEGER PRIMARY KEY, base INTEGER NOT NULL, shared INTEGER NOT NULL,
    root INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS uses (
    number INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (number, digest)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uses_of_blob ON uses (digest);
{OPEN_RUNS};
{STOPPED_RUNS};
{LABELS};
{NOTICES};
PRAGMA application_id = {_OURS};
PRAGMA user_version = {VERSION};
"""

_COLUMNS: Final = """
    SELECT tables.name, columns.name, columns.type, columns.pk
    FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns"""
"""The columns of each table: a changed byte may make another of one, and SQLite sees no fault."""

SQLITE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises here: of a damaged file even its error message may be no text."""

_UNWRITABLE: Final = "cannot be opened for writing: change its rights or name another store"

_SAVE: Final = "save it with `clew records export --archive` and import that into a new store"

_RESTORE: Final = "Put all files of the store back from a copy"

UNMARKED: Final = (
    ". It did not note whose a run is, so none is marked as yours: look at those that shall go on "
    "(clew show RUN), then trust them one by one (clew resume RUN --trust-origin)"
)

_MEANING: Final = {
    sqlite3.SQLITE_AUTH: f"is damaged and is only read: {_SAVE}",
    sqlite3.SQLITE_FULL: NO_ROOM,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_NOTADB: "is no store of clew but some other file: name another store",
    sqlite3.SQLITE_CORRUPT: "is damaged: restore a copy, or save what is left with "
    "`clew records export --archive`, or with `.recover` of sqlite3 where that says the same",
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_IOERR: "cannot be read or written (a full or failing disk, a quota): make "
    "room and resume, nothing that was recorded is lost",
}

_KIND: Final = {
    sqlite3.SQLITE_BUSY: StoreBusyError,
    sqlite3.SQLITE_CORRUPT: StoreDamagedError,
}

# What SQLite says where it may not make the two files that stand beside an open store. It then
# reads one that is `immutable`: nobody is writing to a store that has no log.
_MAYBE_READABLE: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


def connect(path: Path, patience: float) -> sqlite3.Connection:
    """Open the store's file, making it with its folder if need be. Raises `StoreError`.

    `patience` is how long to wait for another process's lock, in seconds. A file that may only be
    read is opened for reading: whoever writes to it is told.
    """
    try:
        make_folder(path.parent)
        _refuse_remains(path)
    except OSError as error:
        raise failed(path, error) from error
    _warn_of_network(path.parent.resolve())
    with suppress(OSError):  # it is there; or cannot be, which SQLite tells
        make_file(path)  # and what SQLite makes beside it gets its rights
    try:
        return _open(path, patience)
    except SQLITE_ERRORS as error:
        code = error_code(error)
        if code == sqlite3.SQLITE_CORRUPT and (why := unreadable(path, _OURS)):
            LOG.warning("%s %s. What is left can be read: %s", path, why, _SAVE)
            return rebuilt(path, _TABLES, why)
        if code == sqlite3.SQLITE_NOTADB and _remains(path):
            message = f"{path} is damaged: it is no database any more. {_RESTORE}"
            raise StoreDamagedError(message) from error
        readable = code in _MAYBE_READABLE and not descriptors_spent()
        if not readable or not os.access(path, os.R_OK) or log_of(path).exists():
            raise explain(path, error) from error
    try:
        return _open(path, patience, "?mode=ro&immutable=1")
    except SQLITE_ERRORS as error:
        raise explain(path, error) from error


@cache
def _warn_of_network(folder: Path) -> None:
    """Say, once a process, that a folder lies on a network file system."""
    if kind := network_type(folder, mount_table()):
        LOG.warning(
            "%s is on a network file system (%s), where SQLite can lose entries: keep the store on "
            "a local disk, or use postgresql://…",
            folder,
            kind,
        )


def _open(path: Path, patience: float, how: str = "") -> sqlite3.Connection:
    """The file, prepared. Raises `sqlite3.Error` and `StoreError`."""
    uri = f"{path.absolute().as_uri()}{how}"
    connection = sqlite3.connect(
        uri, timeout=0, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        _prepare(connection, path, patience)
    except BaseException:
        connection.close()
        raise
    return connection


def close_as_it_is(connection: sqlite3.Connection, path: Path) -> None:
    """Close the file, and leave its log: only who may write folds it, and that one is not last."""
    with suppress(*SQLITE_ERRORS):
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as other:
            other.execute("SELECT 1 FROM sqlite_master").fetchone()
            connection.close()
    connection.close()


def identity(path: Path) -> tuple[int, int] | None:
    """What tells the file from another that has its place since; None where there is none.

    SQLite goes on in a file that was removed, and whatever it writes is lost.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def sibling(path: Path, suffix: str) -> Path:
    """A file that stands beside a store: of a link beside what that leads to, as SQLite has it."""
    real = path.resolve()
    return real.with_name(f"{real.name}{suffix}")


def log_of(path: Path) -> Path:
    """The write-ahead log: while it is there, the file alone does not say all."""
    return sibling(path, "-wal")


def explain(path: Path, error: Exception) -> Exception:
    """Turn an error of SQLite into ours, with what to do about it; leave any other as it is."""
    if isinstance(error, OverflowError):
        return StoreError(f"{path} cannot hold a number of this size: {error}")
    if not isinstance(error, SQLITE_ERRORS):
        return error
    code = error_code(error)
    kind = _KIND.get(code, StoreError)
    if code == sqlite3.SQLITE_CANTOPEN and descriptors_spent():
        return kind(f"{path} {NO_DESCRIPTORS}")
    return kind(f"{path} {_MEANING.get(code, f'cannot be used ({error}): open it anew')}")


def error_code(error: Exception) -> int:
    """SQLite's primary error code; 0 for the binding's own errors, except for a text that is none.

    The binding cannot decode such a text of a row, or of an error message that quotes the schema.
    """
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    undecoded = isinstance(error, sqlite3.OperationalError)  # any other of these has a code
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT if undecoded else 0)
    return code & 0xFF


def lost_file(path: Path) -> bool:
    """Whether a store was here: its file is gone or empty, and what stands beside it is not."""
    try:
        return (not path.exists() or path.stat().st_size == 0) and bool(_remains(path))
    except OSError:
        return False


def _remains(path: Path) -> list[Path]:
    """The files that only a store which was written to has beside it."""
    log, heads = log_of(path), sibling(path, SUFFIX)
    remains = [log] if log.exists() and log.stat().st_size > 0 else []
    return [*remains, heads] if heads.is_file() and has_lines(heads) else remains


def _refuse_remains(path: Path) -> None:
    """Raise `StoreDamagedError` for a store whose file is lost: SQLite would delete its log."""
    if lost_file(path):
        files = " and ".join(map(str, _remains(path)))
        message = (
            f"{path} is missing or empty, and {files} tell of runs in it: put all files of the "
            f"store back from a copy, or delete {files} to begin a new store"
        )
        raise StoreDamagedError(message)


def _prepare(connection: sqlite3.Connection, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            _check(connection, path)
            version = _number(connection, "user_version")
            if not version:
                _make(connection, path)
            elif version < VERSION:
                _bring_up(connection, path)
            elif _columns() - set(connection.execute(_COLUMNS)):
                raise sqlite3.OperationalError("no schema of a store")
            break
        except sqlite3.OperationalError as error:
            # SQLite's own wait does not cover two processes that turn one new file to WAL at once.
            busy = error_code(error) == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
    connection.execute("PRAGMA synchronous = NORMAL")
    pages = _LOG_BYTES // _number(connection, "page_size")
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: its plain fsync stops at the drive's cache


@cache
def _columns() -> frozenset[tuple[str, str, str, int]]:
    """What `_COLUMNS` finds in a store that is whole."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_TABLES)
        return frozenset(connection.execute(_COLUMNS))


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what some other program, or a later clew, wrote."""
    version = _number(connection, "user_version")
    empty = _number(connection, "schema_version") == 0
    if not empty and _number(connection, "application_id") != _OURS:
        raise StoreError(f"{path} is a database of another program: name another store")
    if version > VERSION:
        raise newer(path, version, VERSION)


def _make(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of an empty file."""
    connection.execute(_PAGE)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    if Heads(sibling(path, SUFFIX), path).begin():
        connection.execute(MARK)
    connection.execute("COMMIT")


def _bring_up(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file of an older clew to these tables. Raises `StoreError` if it cannot be written.

    What is neither these tables nor older ones is damaged.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        version, present = _number(connection, "user_version"), set(connection.execute(_COLUMNS))
        if version < VERSION:  # nobody was faster
            if not is_older(present, _columns()):
                raise sqlite3.OperationalError("no schema of a store")
            migrate(connection, _TABLES, present, _columns())
        connection.execute("COMMIT")
    except BaseException as error:
        connection.rollback()
        if isinstance(error, sqlite3.OperationalError) and error_code(error) in _MAYBE_READABLE:
            raise older(path, _number(connection, "user_version"), VERSION) from error
        raise
    unmarked = any(name == "mark" for _, name, *_ in _columns() - present)
    LOG.warning(
        "%s was of an older format (version %d), and is brought to that of this clew%s",
        path,
        version,
        UNMARKED if unmarked else "",
    )


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    row: tuple[int] = connection.execute(f"PRAGMA {pragma}").fetchone()
    return row[0]


MOUNTS: Final = Path("/proc/self/mounts")

_NETWORK: Final = re.compile(
    r"(nfs|smb|cifs|ncp|afs|9p|ceph|gluster|lustre|beegfs|gpfs|orangefs|pvfs|davfs|coda|gfs)\w*"
    r"|fuse\.(sshfs|glusterfs\S*|ceph\S*|davfs\S*|s3fs|rclone|gcsfuse|goofys|mount-s3|smb\S*|nfs\S*"
    r"|curlftpfs|juicefs|moosefs|mfs|seaweedfs|lizardfs|blobfuse\S*|onedriver|google-drive\S*)"
)
"""Types of network file systems as the kernel names them."""


def network_type(path: Path, table: str) -> str:
    """The type of the network file system that holds an absolute path; "" for a local one.

    `table` is the text of the kernel's mount table: device, mount point, type, options.
    """
    fs_type, depth = "", -1
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[1]))
        if path.is_relative_to(point) and len(point.parts) >= depth:
            fs_type, depth = fields[2], len(point.parts)  # a later mount covers an earlier one
    return fs_type if _NETWORK.fullmatch(fs_type) else ""


def mount_table() -> str:
    """The kernel's mount table; "" where there is none."""
    try:
        return MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
