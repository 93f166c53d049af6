"""Whether the file of heads can be believed, and what is done where it cannot.

A log that lost its end is harmless where the heads show that no durable entry was in it: a process
was killed while it wrote. Where the heads are missing, damaged or too old to show that, every run
that has not stopped may have had effects since its last entry. A line of doubt is written for it,
before SQLite writes over the end of its log: the run is refused until a person has looked.

Where the log is whole, nothing is lost: heads that are missing are written anew, and it is said.
"""

import logging
import os
import sqlite3
import struct
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from clew.core.contents import Observation
from clew.core.entries import decode
from clew.core.events import AnyEvent, Attempt, Changed, Forked, Started, Thought
from clew.core.journal import barrier
from clew.stores.sqlite.file import SQLITE_ERRORS, log_of
from clew.stores.sqlite.heads import MARK, Head, Heads
from clew.support.errors import StoreDamagedError

LOG: Final = logging.getLogger("clew")

_MARKED: Final = "SELECT 1 FROM sqlite_master WHERE name = 'has_heads'"
_ENDS: Final = """
    SELECT run_id, key & 4294967295, hash FROM runs JOIN entries ON key = (
        SELECT max(key) FROM entries
        WHERE key BETWEEN number << 32 AND (number << 32) + 4294967295
    )"""
_OPEN_ENDS: Final = f"{_ENDS} WHERE number IN (SELECT number FROM open_runs)"  # noqa: S608 - it is put together from constants
_BEHIND: Final = """
    SELECT body FROM runs JOIN entries
    ON key BETWEEN (number << 32) + ? + 1 AND (number << 32) + 4294967295
    WHERE run_id = ? ORDER BY key"""

_NAMED: Final = 5
"""So many runs are named in a warning."""


class Witness:
    """The heads of a store, as they were when it was opened."""

    def __init__(self, connection: sqlite3.Connection, path: Path, heads: Heads) -> None:
        self._connection, self._path, self._heads = connection, path, heads
        self._log = log_of(path)
        self._marked = False
        self._alone_there = False
        self._anew = ""

    def examine(self) -> None:
        """Say and mend what is wrong. Raises `StoreDamagedError` where doubt cannot be written.

        Damage of the database itself is not told here, but where its runs are read.
        """
        with suppress(*SQLITE_ERRORS):
            self._marked = self._connection.execute(_MARKED).fetchone() is not None
            missing = self._heads.missing()
            lost = missing and self._marked
            if lost or ends_torn(self._log) or self._heads.recently_damaged():
                self._hold_against_log("missing" if lost else self._damage())
            self._alone_there = lost and not frames_of(self._log)
            if lost and not self._alone_there:
                self._anew = self._begin_anew(logging.WARNING)
            elif not (missing or self._marked):
                self._mark()

    def begin(self) -> None:
        """Have heads where there were none, before a run goes on.

        A copy of the database alone has none; it gets none while it is only read.
        """
        if self._alone_there:
            self._alone_there = False
            with suppress(*SQLITE_ERRORS):
                self._begin_anew(logging.INFO)

    def remarks(self) -> list[str]:
        """What is wrong with the file of heads alone, a line each.

        What may well be in order, but is good to know, is only logged.
        """
        remarks = [self._anew] if self._anew else []
        if self._alone_there:
            LOG.warning(
                "%s is not there: this is a copy of the database alone, or the file was removed. "
                "Nothing shows whether entries were lost before; it is begun with the next run",
                self._heads.path,
            )
            return remarks
        if unreadable := self._heads.unreadable():
            remarks.append(
                f"{self._heads.path} is damaged: {unreadable} of its lines cannot be read. It is "
                "written anew where it is deleted: until then losses of the runs in them are not "
                "seen"
            )
        with suppress(*SQLITE_ERRORS):
            if older := [head for head in self._ends(_OPEN_ENDS) if self._lacks(head)]:
                LOG.warning(
                    "%s is older than the store (run %r): a power cut took its end, a process was "
                    "killed as it wrote there, or it was put back from a copy. Then the store may "
                    "have lost entries too: look up what the run did",
                    self._heads.path,
                    older[0].run_id,
                )
        return remarks

    def _damage(self) -> str:
        return "damaged" if self._heads.unreadable() else ""

    def _hold_against_log(self, wrong: str) -> None:
        """Doubt the runs that may have lost entries with the end of the log.

        `wrong` is why the heads are not believed, "" where they are: then they may still be old.
        """
        lost = bool(wrong) and self._frames_lost()
        with self._alone() as alone:
            if not alone or not (ends_torn(self._log) or lost):  # somebody was just writing
                return
            doubted = (
                [*filter(self._may_end, self._ends(_OPEN_ENDS))] if wrong else self._outdated()
            )
            self._doubt([Head(head.run_id, head.seq) for head in doubted])
        if doubted:
            LOG.warning(
                "%s is damaged: its log has lost its end, and %s is %s and cannot show what was in "
                "it. Runs that may have lost entries are not gone on with: %s",
                self._path,
                self._heads.path,
                wrong or "older than the store",
                ", ".join(repr(head.run_id) for head in doubted[:_NAMED]),
            )
        else:
            LOG.warning(
                "%s: its log ends in the midst of a commit, which is passed over; all before is "
                "there",
                self._path,
            )

    def _may_end(self, head: Head) -> bool:
        """Whether no line shows that the run was longer: that says more than a doubt."""
        known = self._heads.of(head.run_id)
        return (known is None or known.seq <= head.seq) and self._may_act(head)

    def _may_act(self, head: Head) -> bool:
        """Whether the run may have had an effect since."""
        return any(map(_allows_effects, self._behind(head.run_id, 0)))

    def _doubt(self, heads: list[Head]) -> None:
        if heads and not (self._heads.note(heads) and self._heads.begin()):
            message = (
                f"{self._path} is damaged: its log has lost its end, and {self._heads.path} cannot "
                "be written. Put all files of the store back from a copy"
            )
            raise StoreDamagedError(message)

    def _frames_lost(self) -> bool:
        """Whether SQLite does not take all frames of the log: one of them is damaged."""
        there = frames_of(self._log)
        taken: int = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
        return 0 <= taken < there  # -1: there is no log

    def compare(self, run_id: str) -> None:
        """Say, of a run that is taken up, that the heads do not have what they should."""
        if not self._lacks(Head(run_id, 0)):
            return
        LOG.warning(
            "%s does not have the last entry of run %r: its process was killed as it wrote there, "
            "or the file is older than the store. Then the store may have lost entries too: look "
            "up what the run did",
            self._heads.path,
            run_id,
        )

    def _lacks(self, head: Head) -> bool:
        """Whether the heads do not have the last durable entry of a run."""
        return any(event is not None and barrier(event) for event in self._since(head.run_id))

    def _outdated(self) -> list[Head]:
        """The ends of open runs of which the heads do not have what they must: they are older.

        A process may be killed between a commit and its line, but not go on from there.
        """
        return [head for head in self._ends(_OPEN_ENDS) if self._went_on(head)]

    def _went_on(self, head: Head) -> bool:
        """Whether a run went on behind a durable entry that the heads do not have."""
        durable = False
        begun: set[str] = set()
        for event in self._since(head.run_id):
            if isinstance(event, Observation) and event.call in begun:
                return True
            if isinstance(event, Thought) and durable:
                return True
            if isinstance(event, Attempt):
                begun.add(event.call)
            durable = durable or (event is not None and barrier(event))
        return False

    def _since(self, run_id: str) -> Iterator[AnyEvent | None]:
        """What a run wrote since its line in the heads; nothing of one that is older than those."""
        known = self._heads.of(run_id)
        if known is not None or self._marked:
            yield from self._behind(run_id, 0 if known is None else known.seq)

    def _behind(self, run_id: str, seq: int) -> Iterator[AnyEvent | None]:
        """What a run itself wrote behind an entry; None for what cannot be read."""
        for (body,) in self._connection.execute(_BEHIND, (seq, run_id)):
            try:
                yield decode(body)
            except (msgspec.MsgspecError, TypeError):  # of a later clew, or damaged
                yield None

    def _begin_anew(self, level: int) -> str:
        """Write the heads anew from what is in the store, of which no loss is known, and say so."""
        if not self._heads.begin():
            self._heads.note([])  # which says why
            return ""
        self._add_missing()
        remark = (
            f"{self._heads.path} was missing or empty, and is begun anew with what is in the "
            "store: entries that were lost before are not seen"
        )
        LOG.log(level, "%s", remark)
        return remark

    def _mark(self) -> None:
        """Note in a store that had no heads so far that it has them, and of all its runs."""
        self._heads.begin()
        self._add_missing(MARK)

    def _add_missing(self, *statements: str) -> None:
        """Have all runs in the heads, unless somebody is just writing.

        Entries that are not on the disk must not stand there: so the log is synced before.
        """
        with self._alone() as alone:
            if alone:
                with suppress(OSError):
                    _sync(self._log)
                known = {head.run_id for head in self._heads.all()}
                ends = self._ends(_ENDS)
                self._heads.note(
                    head for head in ends if head.run_id not in known or self._lacks(head)
                )
                for statement in statements:
                    self._connection.execute(statement)

    def _ends(self, query: str) -> list[Head]:
        """The last entries of runs."""
        return [Head(*row) for row in self._connection.execute(query)]

    @contextmanager
    def _alone(self) -> Generator[bool]:
        """A transaction in which nobody else writes; False where somebody is, or nobody may."""
        (patience,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            yield False
        else:
            try:
                yield True
            finally:
                self._connection.commit()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {patience}")


def _allows_effects(event: AnyEvent | None) -> bool:
    """Whether a run with this entry may act: not one whose tools only read, which they all say.

    A strategy has no tools of its own, but runs of agents that do.
    """
    if isinstance(event, Started):
        effects = [tool.effect for tool in event.spec.tools.values()]
        return not effects or any(effect != "read" for effect in effects)
    return event is None or isinstance(event, (Forked, Changed))


def _sync(log: Path) -> None:
    descriptor = os.open(log, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# The log is a header and frames, a page each; those with the header's salts are of this log, what
# is behind them of an older one. A commit is whole when its last frame says so
# (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
_HEADER: Final = struct.Struct(">II I I 8s 8x")  # magic, version, page size, number, salts
_FRAME: Final = struct.Struct(">I I 8s 8x")  # page, size after a commit, salts


class _Log(NamedTuple):
    """What a log's file has: frames of this log, and whether its end is torn."""

    frames: int
    torn: bool


def ends_torn(log: Path) -> bool:
    """Whether frames, or a part of one, stand behind the last commit of this log."""
    return _look(log).torn


def frames_of(log: Path) -> int:
    """How many whole frames of this log are in its file, whatever SQLite makes of them."""
    return _look(log).frames


def _look(log: Path) -> _Log:
    """Only the log is opened here: closing any other of a store's files would drop the locks that
    SQLite holds on it.
    """
    try:
        with log.open("rb") as file:
            return _seen(file, log.stat().st_size)
    except (OSError, struct.error):  # it was folded into the file just now, or may not be looked at
        return _Log(0, torn=False)


def _seen(file: BinaryIO, size: int) -> _Log:
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return _Log(0, torn=size > 0)
    page, salts = (fields := _HEADER.unpack(head))[2], fields[4]
    step = _FRAME.size + page
    count, rest = divmod(size - _HEADER.size, step)

    def frame(number: int) -> tuple[int, bytes]:
        file.seek(_HEADER.size + number * step)
        _, commit, mine = _FRAME.unpack(file.read(_FRAME.size))
        return commit, mine

    low, high = 0, count  # frames of this log come first: find how many there are
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if frame(middle)[1] == salts else (low, middle)
    if low and not frame(low - 1)[0]:
        return _Log(low, torn=True)
    cut = bool(rest) and low == count and (rest < _FRAME.size or frame(count)[1] == salts)
    return _Log(low, torn=cut)
