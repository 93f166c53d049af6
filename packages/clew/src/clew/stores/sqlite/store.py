"""The default store: one SQLite file for all runs, many appends to a commit.

A line is committed as it happens, so a killed process loses none of them (WAL, `synchronous`
NORMAL); an append with a barrier is committed with `synchronous` FULL, which syncs the log with all
before it. The database has no second copy of a run's head: it is the last of its lines, read under
the write lock that every append takes first. The file of `heads` has one, against which a run is
held when it is taken up: a store that has lost the end of a run must not repeat its effects.
"""

import logging
import sqlite3
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal, Self, TypeVar

import anyio

from clew.concurrency.uncut import Uncut
from clew.core.stores import Append, Base, Line, RunInfo, Store
from clew.stores.file_locks import FileClaims
from clew.stores.labels import Selection, has_names
from clew.stores.listing import OPEN, is_selected, matching, page
from clew.stores.ownership import MARK_BYTES, mark, user_key
from clew.stores.refusals import (
    changed_since,
    doubtful_end,
    file_replaced,
    known_run,
    lost_entries,
    missing_blob,
    no_base,
    refusal,
    unknown_run,
)
from clew.stores.sqlite.delete import USE, forget, size
from clew.stores.sqlite.file import (
    SQLITE_ERRORS,
    close_as_it_is,
    connect,
    explain,
    identity,
    lost_file,
    sibling,
)
from clew.stores.sqlite.heads import SUFFIX, Head, Heads
from clew.stores.sqlite.labels import add_labels, fill_labels, lacks_labels, share_labels
from clew.stores.sqlite.listing import DUE, LAST, add_run, ended, ids_of, line_of, listing, page_of
from clew.stores.sqlite.marks import mark_lines, unmarked
from clew.stores.sqlite.notices import notified, set_notified
from clew.stores.sqlite.salvage import salvaged
from clew.stores.sqlite.witness import Witness
from clew.support.arguments import check_argument
from clew.support.errors import StoreDamagedError, StoreError

LOG: Final = logging.getLogger("clew")

T = TypeVar("T")

# The lines of a run have the keys (number << 32) + seq: they lie side by side and in order. Those
# that a fork shares have the key of the run that wrote them.
_HEAD: Final = """
    SELECT number, epoch, coalesce((
        SELECT max(key) FROM entries
        WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295
    ) & 4294967295, (SELECT shared FROM forks WHERE forks.number = runs.number), 0)
    FROM runs WHERE run_id = ?"""
_FORK: Final = "SELECT base, shared, root FROM forks WHERE number = ?"
_SHARE: Final = "INSERT INTO forks (number, base, shared, root) VALUES (?, ?, ?, ?)"
_INSERT: Final = "INSERT INTO entries (key, at, epoch, hash, mark, body) VALUES (?, ?, ?, ?, ?, ?)"
# The usual append in one statement, which takes half the time of a transaction around three: a line
# that follows the last of its run, in its epoch, which is open and stays so, while nothing waits in
# the inbox. Whatever it does not take goes the long way, which says why.
_NEXT: Final = """
    INSERT OR IGNORE INTO entries (key, at, epoch, hash, mark, body)
    SELECT (number << 32) + :seq, :at, :epoch, :hash, :mark, :body FROM runs
    WHERE run_id = :run_id AND epoch = :own
        AND EXISTS (SELECT 1 FROM entries WHERE key = (number << 32) + :seq - 1)
        AND EXISTS (SELECT 1 FROM open_runs WHERE open_runs.number = runs.number)
        AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.number = runs.number)"""
_READ: Final = """
    SELECT key, at, epoch, body, hash FROM entries
    WHERE key > ? AND key <= ? ORDER BY key LIMIT ?"""
# One row of nothing for a run whose inbox is empty.
_INBOX: Final = """
    SELECT inbox.id, inbox.body, mark FROM runs LEFT JOIN inbox USING (number)
    WHERE run_id = ? ORDER BY inbox.id"""
_CREATE: Final = "INSERT INTO runs (run_id, epoch, indexed) VALUES (?, 1, 1)"
_KEEP: Final = "INSERT OR IGNORE INTO blobs (digest, body) VALUES (?, ?)"
_BUMP: Final = "UPDATE runs SET epoch = epoch + 1 WHERE number = ?"
_HASH: Final = """
    SELECT hash FROM runs JOIN entries ON key = (number << 32) + ? WHERE run_id = ?"""
_POST: Final = "INSERT INTO inbox (number, body, mark) VALUES (?, ?, ?)"


class Waiting:
    """An append on its way into a commit, and what became of it."""

    __slots__ = ("append", "done", "error", "quiet")

    def __init__(self, append: Append) -> None:
        self.append = append
        self.done: anyio.Event | None = None
        self.error: Exception | None = StoreError("this was not committed")
        self.quiet = False


class Group(threading.local):
    """The appends of one thread's event loop that will share the next commit."""

    def __init__(self) -> None:
        self.gathering = False
        self.waiting: list[Waiting] = []
        self.run_id = ""
        self.others = False

    def watch(self, run_id: str) -> None:
        """Look out, from now on, for appends of other runs than this."""
        self.run_id, self.others = run_id, False

    def alone(self, append: Append) -> bool:
        """Whether no other append is to be expected: none of its run, and of others none came
        since this one was begun or taken up, or since its last barrier.
        """
        self.others |= append.run_id != self.run_id
        alone = append.alone and not self.others
        if append.barrier:
            self.watch(append.run_id)
        return alone


class SqliteStore:
    """Keeps all runs in the SQLite file at `path`, which is created if it is missing.

    Several processes may have it open, and wait up to `patience` seconds for each other. Commits
    run on the event loop's own thread: 0.02 ms, or 0.2 ms with a barrier, against 0.45 to 0.6 ms
    through another thread. An append that has begun completes even if the waiting task is
    cancelled. Raises `StoreError` if the file cannot be used.
    """

    def __init__(self, path: Path | str, patience: float = 5.0) -> None:
        check_argument("path", path, (str, Path), "the path of a file")
        self.path = Path(path)
        self.patience = patience
        self._connection = connect(self.path, patience)
        weakref.finalize(self, self._connection.close)  # who forgets to close it leaves none open
        self._identity = identity(self.path)
        self._claims = FileClaims(sibling(self.path, ".claims"), self.path)
        self._lock = threading.Lock()
        self._group = Group()
        self._durability = "NORMAL"
        self._heads = Heads(sibling(self.path, SUFFIX), self.path)
        self._heads.compact()
        self._key = b""
        self._witness = Witness(self._connection, self.path, self._heads)
        try:
            self._witness.examine()
        except StoreDamagedError:
            close_as_it_is(self._connection, self.path)
            raise
        self._warn_if_behind()

    @staticmethod
    def was_at(path: Path) -> bool:
        """Whether a store was written here whose file is gone, while others of its files are left.

        Opening it raises `StoreDamagedError`.
        """
        return lost_file(path)

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r})"

    def _check_file(self) -> None:
        """Raise `StoreUnreachableError` where the file is no more at its path: who asks for health
        is told, and nothing is begun that would be lost.
        """
        if identity(self.path) != self._identity:
            raise file_replaced(self.path)

    @property
    def location(self) -> Hashable:
        """The file, by whatever name it was opened."""
        return self._identity or self.path

    async def create(self, run_id: str, base: Base | None = None) -> int:
        self._key = self._key or user_key()

        def insert() -> None:
            try:
                number = self._connection.execute(_CREATE, (run_id,)).lastrowid
            except sqlite3.IntegrityError as error:
                raise known_run(run_id) from error
            if (head := self._heads.of(run_id)) is not None:
                raise self._lost(head)
            add_run(self._connection, number or 0)
            if base is not None:
                self._share(number or 0, base)

        self._check_file()
        self._run_alone(self._witness.begin)
        self._within("NORMAL", insert)
        self._group.watch(run_id)
        return 1

    async def open(self, run_id: str) -> int:
        def bump() -> int:
            number, epoch, _ = self._position(run_id)
            self._check_head(run_id)
            self._witness.compare(run_id)
            self._connection.execute(_BUMP, (number,))
            return epoch + 1

        self._check_file()
        self._user_key()
        self._run_alone(self._witness.begin)
        epoch = self._within("NORMAL", bump)
        self._group.watch(run_id)
        return epoch

    async def epoch(self, run_id: str) -> int:
        return self._run_alone(partial(self._position, run_id))[1]

    async def append(self, append: Append) -> bool:
        if append.barrier:
            self._check_file()
        group = self._group
        # Cheaper than the turn of the loop in which others could come along; and waiting for them
        # would march many runs in step, all at work and then all waiting for a model.
        at_once = (group.alone(append) or not append.barrier) and not group.gathering
        if at_once and self._run_alone(partial(self._write_next, append)):
            self._note_heads((append,))
            return True
        mine, uncut = Waiting(append), Uncut()
        group.waiting.append(mine)
        if group.gathering:
            mine.done = anyio.Event()
            await uncut.wait(mine.done.wait)
        elif at_once:
            self._commit_group(group)
        else:
            group.gathering = True
            try:
                await uncut.wait(anyio.lowlevel.checkpoint)  # who is ready shares the disk's wait
            finally:
                self._commit_group(group)
        if mine.error is not None:
            raise mine.error
        uncut.raise_kept()
        return mine.quiet

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return self._run_alone(partial(self._lines, run_id, max(after, 0)))

    async def read_page(self, run_id: str, after: int, limit: int) -> list[Line]:
        return self._run_alone(partial(self._page, run_id, max(after, 0), max(limit, 0)))

    async def blob(self, digest: str) -> bytes:
        def body() -> bytes:
            row: tuple[bytes] | None = self._connection.execute(
                "SELECT body FROM blobs WHERE digest = ?", (digest,)
            ).fetchone()
            if row is None:
                raise missing_blob(digest)
            return row[0]

        return self._run_alone(body)

    async def post(self, run_id: str, body: bytes) -> None:
        def insert() -> None:
            number = self._position(run_id)[0]
            self._connection.execute(_POST, (number, body, self._mark_of(run_id, body)))

        self._check_file()
        self._within("FULL", insert)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        def messages() -> list[tuple[int, bytes]]:
            rows = self._connection.execute(_INBOX, (run_id,)).fetchall()
            if not rows:
                raise self._unknown(run_id)
            if run_id != self._group.run_id:  # whoever reads a run whole asks for this too
                self._check_head(run_id)
            if rows[0][0] is None:
                return []
            return [(id_, body) for id_, body, its in rows if its == self._mark_of(run_id, body)]

        return self._run_alone(messages)

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        self._check_file()
        try:
            return self._run_alone(partial(page_of, self._connection, limit, after, status))
        except StoreError:
            if (rest := await self.salvage()) is None:  # pragma: no cover - mended meanwhile
                raise
            LOG.warning(
                "%s is damaged, and what is left is listed: run `clew records verify`", self.path
            )
            return await rest[0].runs(limit, after, status)

    async def select(
        self, which: Selection, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        try:
            if self._run_alone(partial(lacks_labels, self._connection)):
                self._within("NORMAL", partial(fill_labels, self._connection))
            return self._run_alone(partial(page_of, self._connection, limit, after, status, which))
        except StoreError:  # of a damaged or read-only one: tell what it has
            return page(filter(is_selected(which), await self.runs()), limit, after, status)

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        try:
            return self._run_alone(partial(ids_of, self._connection, part, limit))
        except StoreDamagedError:
            return matching([run.run_id for run in await self.runs()], part, limit)

    async def due(self) -> list[RunInfo]:
        return self._run_alone(partial(listing, self._connection, DUE))

    async def claim(self, name: str) -> bool:
        return self._claims.claim(name)

    async def release(self, name: str) -> None:
        self._claims.release(name)

    async def forget(self, run_id: str) -> None:
        def remove() -> None:
            forget(self._connection, run_id, self._position(run_id)[0])
            self._heads.note([Head(run_id, 0)])  # before the commit: killed here, nothing is missed

        self._within("FULL", remove)

    async def foreign(self, run_id: str) -> int:
        def last() -> int:
            return unmarked(self._connection, self._user_key(), self._position(run_id)[0])

        return self._run_alone(last)

    async def adopt(self, run_id: str, last: Line) -> None:
        def adopt() -> None:
            number = self._position(run_id)[0]
            if last not in self._lines(run_id, last.seq - 1)[:1]:
                raise changed_since(run_id)
            mark_lines(self._connection, self._user_key(), number, last.seq)

        self._within("FULL", adopt)

    async def notified(self, run_id: str) -> int:
        def upto() -> int:
            return notified(self._connection, self._position(run_id)[0])

        return self._run_alone(upto)

    async def set_notified(self, run_id: str, seq: int) -> None:
        def note() -> None:
            set_notified(self._connection, self._position(run_id)[0], seq)

        self._within("FULL", note)

    async def size(self) -> int:
        return self._run_alone(partial(size, self._connection))

    async def salvage(self) -> tuple[Store, list[str], list[str]] | None:
        behind = {head.run_id: str(self._lost(head)) for head in self._run_alone(self._behind)}
        copy = salvaged(self.path, self._run_alone, self._connection, behind)
        if whys := await self.remarks():
            runs = [info.run_id for info in await self.runs()] if copy is None else []
            copy = (self, runs, whys) if copy is None else (*copy[:2], [*copy[2], *whys])
        return copy

    async def remarks(self) -> list[str]:
        return self._run_alone(self._witness.remarks)

    async def __aenter__(self) -> Self:
        """Itself; `async with` closes it in the end."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it, whoever cancels that meanwhile."""
        with anyio.CancelScope(shield=True):
            await self.close()

    async def close(self) -> None:
        """Release the file; the last process to do so merges the write-ahead log into it."""
        self._claims.release_all()
        with self._lock:
            self._connection.close()
            self._heads.close()

    def _user_key(self) -> bytes:
        """The key of the marks, read when it is first needed."""
        self._key = self._key or user_key()
        return self._key

    def _mark_of(self, run_id: str, body: bytes) -> bytes:
        """The mark of a message."""
        return mark(self._user_key(), run_id, b"message " + body)

    def _has(self, head: Head) -> bool:
        row = self._connection.execute(_HASH, (head.seq, head.run_id)).fetchone()
        return row is not None and bool(row[0] == head.hash)

    def _behind(self) -> list[Head]:
        """The runs that have lost their last durable entries, as far as the file can be read."""
        with suppress(*SQLITE_ERRORS):  # of a damaged file, which is told elsewhere
            if not all(map(self._has, self._heads.all())):
                return [head for head in self._heads.all() if not self._has(head)]  # none forgotten
        return []

    def _warn_if_behind(self) -> None:
        """Say that entries are lost: a store loses the last of all, so the last heads tell."""
        with suppress(*SQLITE_ERRORS):
            if all(map(self._has, self._heads.recent())) or not (behind := self._behind()):
                return
            more = f" and {len(behind) - 1:,} more" if len(behind) > 1 else ""
            LOG.warning(
                "%s is damaged: run %r%s %slost %s last entries; `clew records verify` says more",
                self.path,
                behind[-1].run_id,
                more,
                "may have " if all(head.doubtful for head in behind) else "",
                "their" if more else "its",
            )

    def _check_head(self, run_id: str) -> None:
        """Raise `StoreDamagedError` where the run does not have its last durable entry."""
        head = self._heads.of(run_id)
        if head is not None and not self._has(head):
            raise self._lost(head)

    def _lost(self, head: Head) -> StoreDamagedError:
        describe = doubtful_end if head.doubtful else lost_entries
        return describe(head.run_id, head.seq, self._heads.path)

    def _note_heads(self, appends: Iterable[Append]) -> None:
        """Note, once they are committed and before an effect, what may not be lost of them."""
        durable = [(one.run_id, one.lines[-1]) for one in appends if one.barrier]
        if durable:
            self._heads.note(Head(run_id, line.seq, line.hash) for run_id, line in durable)

    def _position(self, run_id: str) -> tuple[int, int, int]:
        """A run's number, epoch and last line's number (0 when it has none)."""
        row: tuple[int, int, int] | None
        row = self._connection.execute(_HEAD, (run_id,)).fetchone()
        if row is None:
            raise self._unknown(run_id)
        return row

    def _unknown(self, run_id: str) -> StoreError:
        """There is no such run, or it was lost."""
        head = self._heads.of(run_id)
        if head is None:
            return unknown_run(run_id)
        return self._lost(head)

    def _fork(self, number: int) -> tuple[int, int, int] | None:
        """What a fork shares: the number of a run, that of a line, and the run with line 1."""
        row: tuple[int, int, int] | None
        row = self._connection.execute(_FORK, (number,)).fetchone()
        return row

    def _share(self, number: int, base: Base) -> None:
        """Let a run begin with lines of another; those belong to the run that wrote them."""
        of, _, head = self._position(base.run_id)
        self._check_head(base.run_id)
        if not 1 <= base.seq <= head:
            raise no_base(base, head)
        root = of
        while (fork := self._fork(of)) is not None:
            root = fork[2]
            if base.seq > fork[1]:
                break
            of = fork[0]
        self._connection.execute(_SHARE, (number, of, base.seq, root))
        share_labels(self._connection, number, root)

    def _lines(self, run_id: str, after: int) -> list[Line]:
        number = self._position(run_id)[0]
        lines = self._part(number, after, LAST)
        while lines and (fork := self._fork(number)) is not None and fork[1] > after:
            number, upto, _ = fork
            lines = self._part(number, after, upto) + lines
        return lines

    def _page(self, run_id: str, after: int, limit: int) -> list[Line]:
        """The first of these lines: what a run shares comes before its own."""
        number, _, head = self._position(run_id)
        parts = [(number, LAST)]
        while (fork := self._fork(number)) is not None and head > fork[1] > after:
            number, upto, _ = fork
            parts.append((number, upto))
        lines = list[Line]()
        for wrote, upto in reversed(parts):
            lines += self._part(wrote, after, upto, limit - len(lines))
        return lines

    def _part(self, number: int, after: int, upto: int, limit: int = -1) -> list[Line]:
        """Lines that a run wrote itself; all with a limit below 0."""
        start = number << 32
        rows = self._connection.execute(_READ, (start + after, start + upto, limit))
        return [line_of(*row) for row in rows]

    def _run_alone(self, work: Callable[[], T]) -> T:
        """Do `work` on the connection, alone; SQLite's errors come out as ours."""
        with self._lock:
            try:
                return work()
            except (*SQLITE_ERRORS, OverflowError) as error:
                raise explain(self.path, error) from error

    def _within(self, durability: Literal["NORMAL", "FULL"], work: Callable[[], T]) -> T:
        """Do `work` in a transaction of its own."""

        def transaction() -> T:
            self._sync(durability)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                result = work()
                self._connection.execute("COMMIT")
            except BaseException:
                self._rollback()
                raise
            return result

        return self._run_alone(transaction)

    def _sync(self, durability: Literal["NORMAL", "FULL"]) -> None:
        """How the next commit is synced; this cannot be changed within a transaction."""
        if durability != self._durability:
            self._connection.execute(f"PRAGMA synchronous = {durability}")
            self._durability = durability

    def _rollback(self) -> None:
        with suppress(sqlite3.Error):  # a closed store has nothing to take back
            self._connection.rollback()

    def _commit_group(self, group: Group) -> None:
        waiting, group.waiting, group.gathering = group.waiting, [], False
        try:
            with self._lock:
                self._settle(waiting)
        finally:
            for one in waiting:
                if one.done is not None:
                    one.done.set()

    def _settle(self, waiting: list[Waiting]) -> None:
        """Commit these appends together and leave with each what became of it."""
        try:
            if len(waiting) == 1 and self._write_next(waiting[0].append):
                waiting[0].error, waiting[0].quiet = None, True
                self._note_heads((waiting[0].append,))
                return
            self._sync("FULL" if any(one.append.barrier for one in waiting) else "NORMAL")
            self._connection.execute("BEGIN IMMEDIATE")
            for one in waiting:
                one.error = self._write(one.append)
            self._connection.execute("COMMIT")
            self._note_heads(one.append for one in waiting if one.error is None)
        except sqlite3.OperationalError as error:
            self._rollback()  # a full disk, a lock: no append is to blame
            for one in waiting:
                one.error = explain(self.path, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the append it is of
            self._rollback()
            if len(waiting) == 1:
                waiting[0].error = explain(self.path, error)
            else:
                for one in waiting:
                    self._settle([one])

    def _write_next(self, append: Append) -> bool:
        """Commit an append of one line and nothing else; False where `_NEXT` does not take it."""
        if len(append.lines) != 1 or append.blobs or append.taken or append.outside:
            return False
        if append.status != OPEN:  # what stopped, or does not say so, is noted beside its lines
            return False
        self._sync("FULL" if append.barrier else "NORMAL")
        (line,) = append.lines
        named, key = append.run_id.encode(), self._key or user_key()
        row = {
            "run_id": append.run_id,
            "seq": line.seq,
            "at": line.at,
            "epoch": line.epoch,
            "hash": line.hash,
            "body": line.body,
            "mark": blake2b(named + b"\0" + line.hash, key=key, digest_size=MARK_BYTES).digest(),
            "own": append.epoch,
        }
        return self._connection.execute(_NEXT, row).rowcount == 1

    def _write(self, append: Append) -> StoreError | None:
        """Write one append into the open transaction; nothing, and why, if it is refused."""
        try:
            number, epoch, head = self._position(append.run_id)
        except StoreError as error:
            return error
        if (refused := refusal(append, epoch, head)) is not None:
            return refused
        start = number << 32
        connection = self._connection
        named, key = append.run_id.encode(), self._key or user_key()
        for line in append.lines:
            of = named + b"\0" + line.hash  # as `mark` has it, which is a call for each line
            own = blake2b(of, key=key, digest_size=MARK_BYTES).digest()
            its = None if append.outside else own
            row = (start + line.seq, line.at, line.epoch, line.hash, its, line.body)
            connection.execute(_INSERT, row)
        for digest, body in append.blobs.items():
            connection.execute(_KEEP, (digest, body))
            connection.execute(USE, (number, digest))
        for message in append.taken:
            connection.execute("DELETE FROM inbox WHERE id = ? AND number = ?", (message, number))
        if append.lines and append.lines[0].seq == 1 and has_names(append.lines[0].body):
            add_labels(connection, number, append.lines[0].body)
        ended(connection, number, append)
        return None
