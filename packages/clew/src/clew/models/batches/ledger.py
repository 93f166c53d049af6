"""Which requests were handed in, and what became of them: a file that outlives the process.

A batch is written down, with all its requests, before anything of it is sent; that it goes out,
before it does; and its id as soon as there is one. So whichever write was the last, the next
process knows what may have been paid. The prompts are not kept: a run that goes on makes the same
again, and is known by it. Results are kept for as long as a provider keeps them.
"""

import os
import sqlite3
import threading
import time
import uuid
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

import anyio
import msgspec
import platformdirs

from clew.models.batches.interface import Handed, Outcome
from clew.support.errors import ConfigError, ModelError
from clew.support.private_files import make_file, make_folder

VARIABLE: Final = "CLEW_BATCHES"
KEPT: Final = 30 * 86_400.0
"""Seconds for which results are kept: as long as OpenAI does, a day longer than Anthropic."""

VERSION: Final = 2
LOOK: Final = 0.1
"""Seconds between two looks whether another process has handed its batch in."""

_TABLES: Final = """
create table batches (
    id integer primary key, scope text not null, account text not null, model text not null,
    mark text not null unique,
    remote text not null default '', total integer not null, done integer not null default 0,
    begun real not null, sending real, ended real, failed text not null default ''
);
create table requests (
    id integer primary key, batch integer not null references batches, scope text not null,
    run text not null, digest text not null, number integer not null,
    kind text, status integer, body blob, spent integer not null default 0,
    unique (scope, run, digest, number)
);
create index requests_of on requests (batch);
"""

_CANCELED: Final = "create table if not exists canceled (mark text primary key, at real not null)"
"""Batches that somebody had canceled, until a run has looked what was done of them. A table of its
own: an older clew that has the file open knows nothing of it."""

_FROM_1: Final = """
create table newer (
    id integer primary key, scope text not null, account text not null, model text not null,
    mark text not null unique,
    remote text not null default '', total integer not null, done integer not null default 0,
    begun real not null, sending real, ended real, failed text not null default ''
);
insert into newer
    select id, scope, '', model, mark, remote, total, done, begun, sending, ended, failed
    from batches;
drop table batches;
alter table newer rename to batches
"""
"""Version 1 did not note with which key a batch was handed in."""


class BatchRow(msgspec.Struct, frozen=True):
    """A batch of the ledger; `remote` is its id at the provider ("": unknown), `account` a digest
    of the key that it was handed in with ("": unknown). Times are Unix time in seconds, None for
    what has not happened.
    """

    id: int
    scope: str
    account: str
    model: str
    mark: str
    remote: str
    total: int
    done: int
    begun: float
    sending: float | None
    ended: float | None
    failed: str


class RequestRow(msgspec.Struct, frozen=True):
    """A request of the ledger."""

    id: int
    batch: int
    known: int
    """Whether it is known what became of it, 0 or 1."""


class Wanted(msgspec.Struct, frozen=True):
    """What a run asks for: who it is, and the content's digest."""

    run: str
    digest: str


@contextmanager
def _closed_on_error(db: sqlite3.Connection) -> Generator[None]:
    """Close a file that cannot be used: nobody else will."""
    try:
        yield
    except BaseException:
        db.close()
        raise


class Ledger:
    """The file at `path`, made when it is missing. Raises `ConfigError` where it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            make_folder(path.parent)
            with suppress(FileExistsError):
                make_file(path)
            self._db = sqlite3.connect(
                path, timeout=30, isolation_level=None, check_same_thread=False
            )
            with _closed_on_error(self._db):
                self._db.execute("pragma journal_mode=wal")
                self._db.execute("pragma synchronous=full")
                self._prepare()
        except (OSError, sqlite3.Error) as error:
            message = f"the ledger of batches {path} cannot be used ({error}): name another file"
            raise ConfigError(f"{message} in {VARIABLE}") from error

    def _prepare(self) -> None:
        with self._write() as db:
            (version,) = db.execute("pragma user_version").fetchone()
            if version > VERSION:
                raise ConfigError(
                    f"{self.path} is of a newer clew: update clew, or name another file in "
                    f"{VARIABLE}"
                )
            if version < VERSION:
                for statement in filter(str.strip, (_FROM_1 if version else _TABLES).split(";")):
                    db.execute(statement)
                db.execute(f"pragma user_version={VERSION}")
            db.execute(_CANCELED)
            old = time.time() - KEPT
            db.execute("delete from canceled where at < ?", (old,))
            ended = "select id from batches where ended < ?"
            db.execute(f"delete from requests where batch in ({ended})", (old,))  # noqa: S608 - no data is in it
            db.execute("delete from batches where ended < ?", (old,))

    @contextmanager
    def _write(self) -> Generator[sqlite3.Connection]:
        """A transaction. Raises `ModelError`, and nothing is written."""
        with self._lock:
            try:
                self._db.execute("begin immediate")
                try:
                    yield self._db
                except BaseException:
                    self._db.execute("rollback")
                    raise
                self._db.execute("commit")
            except sqlite3.Error as error:
                raise self._failed(error) from error

    def _read(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise self._failed(error) from error

    def _failed(self, error: sqlite3.Error) -> ModelError:
        return ModelError(f"the ledger of batches {self.path} failed ({error}): resume the run")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # ------------------------------------------------------------ requests

    def requests(self, scope: str, run: str, digest: str) -> list[RequestRow]:
        """What the run asked so, and nobody has told it yet, or it may have lost again.

        First what is known, then what is out: one that was cancelled as it was written down stands
        before another, paid one.
        """
        rows = self._read(
            "select requests.id, batch, kind is not null from requests"
            " join batches on batches.id = batch"
            " where requests.scope = ? and run = ? and digest = ? and not spent"
            " order by kind is null, remote = '', sending is null, number",
            *(scope, run, digest),
        )
        return [RequestRow(*row) for row in rows]

    def outcome(self, request: int) -> Outcome | None:
        """What became of a request, None where that is not known."""
        rows = self._read("select id, kind, status, body from requests where id = ?", request)
        if not rows or rows[0][1] is None:
            return None
        return Outcome(str(rows[0][0]), *rows[0][1:])

    def spend(self, request: int) -> None:
        """Give the outcome to nobody again."""
        with self._write() as db:
            db.execute("update requests set spent = 1, body = null where id = ?", (request,))

    # ------------------------------------------------------------- batches

    def begin(
        self, scope: str, account: str, model: str, wanted: Sequence[Wanted]
    ) -> tuple[BatchRow, list[int]]:
        """Write a batch down that will be handed in: itself, and the ids of its requests."""
        mark = uuid.uuid4().hex[:16]
        with self._write() as db:
            batch = db.execute(
                "insert into batches (scope, account, model, mark, total, begun)"
                " values (?, ?, ?, ?, ?, ?)",
                (scope, account, model, mark, len(wanted), time.time()),
            ).lastrowid
            ids = [
                db.execute(
                    "insert into requests (batch, scope, run, digest, number)"
                    " select ?1, ?2, ?3, ?4, coalesce(max(number), 0) + 1 from requests"
                    " where scope = ?2 and run = ?3 and digest = ?4",
                    (batch, scope, each.run, each.digest),
                ).lastrowid
                for each in wanted
            ]
        return self.batch(cast("int", batch)), cast("list[int]", ids)

    def batch(self, batch: int) -> BatchRow:
        """A batch as it stands. Raises `ModelError` where it is forgotten."""
        if rows := self._read("select * from batches where id = ?", batch):
            return BatchRow(*rows[0])
        raise ModelError(f"{self.path} has batch {batch} no more: resume the run to ask again")

    def batches(self) -> list[BatchRow]:
        """All of them, the latest first."""
        return [BatchRow(*row) for row in self._read("select * from batches order by id desc")]

    def sending(self, batch: int) -> None:
        """The batch goes out now: from here on it may be there."""
        with self._write() as db:
            db.execute("update batches set sending = ? where id = ?", (time.time(), batch))

    def sent(self, batch: int, remote: str) -> None:
        """It is there, by this id."""
        with self._write() as db:
            db.execute("update batches set remote = ? where id = ?", (remote, batch))

    def cancel(self, row: BatchRow) -> None:
        """The provider does no more of it; what was done, a run may still ask for."""
        with self._write() as db:
            db.execute("insert or ignore into canceled values (?, ?)", (row.mark, time.time()))

    def canceled(self) -> set[str]:
        """The marks of those batches."""
        return {mark for (mark,) in self._read("select mark from canceled")}

    def advanced(self, batch: int, done: int) -> None:
        """So many of its requests are done."""
        with self._write() as db:
            db.execute("update batches set done = ? where id = ?", (done, batch))

    def forget(self, batch: int) -> None:
        """It was never handed in, or is gone: its requests are asked anew."""
        with self._write() as db:
            db.execute("delete from requests where batch = ?", (batch,))
            db.execute("delete from batches where id = ?", (batch,))

    def handed(self, row: BatchRow) -> Handed:
        """What to look for where nobody knows whether it was handed in."""
        known = {
            remote for (remote,) in self._read("select remote from batches where remote <> ''")
        }
        return Handed(row.mark, row.sending or row.begun, row.total, frozenset(known))

    def store(self, outcomes: Iterable[tuple[int, Outcome]]) -> None:
        """What became of requests, by their ids; what is known of one stays."""
        with self._write() as db:
            db.executemany(
                "update requests set kind = ?, status = ?, body = ? where id = ? and kind is null",
                [(it.kind, it.status, it.body, request) for request, it in outcomes],
            )

    def end(self, row: BatchRow, failed: str = "") -> None:
        """All that came of it is stored."""
        with self._write() as db:
            db.execute(
                "update requests set kind = 'lost', status = 0, body = ?"
                " where batch = ? and kind is null",
                (failed.encode(), row.id),
            )
            done = "update batches set ended = ?, failed = ?, done = ? where id = ?"
            db.execute(done, (time.time(), failed, row.total, row.id))

    @asynccontextmanager
    async def handing_in(self) -> AsyncGenerator[None]:
        """Be the only one, of all processes, who hands in or looks for what was handed in.

        A killed process is in nobody's way: the lock is one of SQLite's, in a file beside.
        """
        lock = sqlite3.connect(f"{self.path}.lock", timeout=0, isolation_level=None)
        try:
            while True:
                try:
                    lock.execute("begin exclusive")
                    break
                except sqlite3.OperationalError:
                    await anyio.sleep(LOOK)
            yield
        finally:
            lock.close()


_LEDGERS: Final[dict[Path, Ledger]] = {}
_LEDGERS_LOCK: Final = threading.Lock()


def ledger_path(path: str | Path | None) -> Path:
    """Where a ledger lies; None: at `$CLEW_BATCHES`, or in the user's data folder."""
    usual = platformdirs.user_data_path("clew", appauthor=False) / "batches.sqlite"
    return Path(path or os.environ.get(VARIABLE) or usual).expanduser().resolve()


def ledger_at(path: str | Path | None) -> Ledger:
    """The ledger of a file, one in each process. Raises `ConfigError`."""
    where = ledger_path(path)
    with _LEDGERS_LOCK:
        if where not in _LEDGERS:
            _LEDGERS[where] = Ledger(where)
        return _LEDGERS[where]
