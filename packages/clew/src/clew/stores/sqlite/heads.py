"""The last durable entry of each run, in a file of its own beside the store: `runs.sqlite.heads`.

SQLite drops what stands behind a damaged frame of its write-ahead log without an error, and an
older copy of its file is as good as the file to it. A run that lost its last entries that way
would repeat their effects. So each append with a barrier leaves a line in this file: once it is
committed, and before its caller goes on to the effect. A store that does not have what stands here
is behind: it has lost entries.

A line is `CHECKSUM SEQ HASH "RUN"`; the last line of a run counts. SEQ 0 says that the run was
forgotten, no HASH that it may have gone on behind SEQ, and nobody knows (`witness`). Lines are only
appended, each by one call of the system, so that processes need no lock.
The file is begun with the store, with a line of no run, and synced then. Later lines are not: a
killed process loses none, and a power cut that takes the last ones leaves a store that is ahead of
them, which is no damage. A file that is missing says nothing.
"""

import logging
import os
import stat
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

LOG: Final = logging.getLogger("clew")

SUFFIX: Final = ".heads"

MARK: Final = "CREATE VIEW IF NOT EXISTS has_heads AS SELECT 1"
"""This view stands in a store that has the file since it was begun, and all its runs in it. So a
file that is missing is no file that never was: stores of before have neither."""

RECENT: Final = 64
"""So many of the last lines are held against a store when it is opened: processes may have written
theirs in another order than they committed."""

_LINE: Final = 80  # bytes of a line, about
_SLACK: Final = 1 << 20
"""A file gets so many bytes longer than twice what it needs before it is written anew."""


class Head(msgspec.Struct, frozen=True):
    """The last durable entry of a run; `seq` is 0 for a run that was forgotten."""

    run_id: str
    seq: int
    hash: bytes = b""

    @property
    def doubtful(self) -> bool:
        """Whether the run may have gone on behind this entry, and what it did is lost."""
        return not self.hash


class Heads:
    """The file of one store."""

    def __init__(self, path: Path, store: Path) -> None:
        self.path = path
        self._store = store
        self._descriptor: int | None = None
        self._told = False
        self._lines: dict[bytes, bytes] = {}  # the last line of each run, by its name
        self._identity: tuple[int, int] | None = None
        self._read = 0  # so many bytes of that file are in `_lines`

    def note(self, heads: Iterable[Head]) -> bool:
        """Add lines. False where that fails, which is said once: the store itself is whole."""
        data = b"".join(map(_line, heads))
        try:
            if os.fstat(self._write(data)).st_nlink == 0:  # somebody removed it, or wrote it anew
                self.close()
                self._write(data)
        except OSError as error:
            self.close()
            if not self._told:
                self._told = True
                LOG.warning(
                    "%s cannot be written (%s): if the store is damaged, nobody will see it",
                    self.path,
                    error.strerror,
                )
            return False
        return True

    def begin(self) -> bool:
        """Have the file there, on the disk, with its first line; False where that cannot be."""
        try:
            os.fsync(self._opened())
            _sync_folder(self.path.parent)
        except OSError:
            return False
        finally:
            self.close()
        return True

    def missing(self) -> bool:
        """Whether there is no such file that can be looked at, or nothing in it."""
        with suppress(OSError):
            status = self.path.stat()
            return status.st_size == 0 or not stat.S_ISREG(status.st_mode)
        return True

    def of(self, run_id: str) -> Head | None:
        """The last durable entry of a run; None where nothing is known."""
        self._read_on()
        line = self._lines.get(msgspec.json.encode(run_id))
        head = None if line is None else _head(line)
        return head if head is not None and head.seq else None

    def recent(self) -> list[Head]:
        """The last entries of the runs that were written last."""
        lines: dict[bytes, bytes] = {}
        _sort_in(self._bytes(RECENT * _LINE), lines)
        return _heads(lines.values())

    def recently_damaged(self) -> bool:
        """Whether one of the last lines is damaged, or cut off."""
        return _damaged(self._bytes(RECENT * _LINE)) > 0

    def all(self) -> list[Head]:
        """The last durable entry of every run."""
        self._read_on()
        return _heads(self._lines.values())

    def unreadable(self) -> int:
        """How many lines of the file are damaged, or cut off; 1 for a file that cannot be read."""
        data = self._bytes()
        return _damaged(data) if data or self.missing() else 1

    def compact(self) -> None:
        """Write the file anew where most of it is of no use any more.

        What others append meanwhile is brought along: they look whether the file is still there
        when they have written, and this looks for new lines once it no longer is.
        """
        with suppress(OSError):
            if self.path.stat().st_size < _SLACK:
                return
            lines = FIRST + b"".join(map(_line, self.all()))
            if self._read < 2 * len(lines) + _SLACK:
                return
            draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            with self.path.open("rb") as before:
                before.seek(self._read)
                descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                try:
                    draft.chmod(self._rights())
                    os.write(descriptor, lines)
                    os.fsync(descriptor)  # or a power cut could leave an empty file in its place
                finally:
                    os.close(descriptor)
                draft.replace(self.path)
                self.close()
                self._write(before.read())

    def close(self) -> None:
        """Let go of the file; whoever writes next opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _bytes(self, limit: int = 0) -> bytes:
        """The lines of the file, or as many of the last as are whole in so many bytes."""
        data = b""
        for _ in range(2):  # once more where somebody is just adding a line
            with suppress(OSError), self.path.open("rb") as file:
                skipped = max(0, os.fstat(file.fileno()).st_size - limit) if limit else 0
                file.seek(skipped)
                data = file.read()
                data = data.partition(b"\n")[2] if skipped else data
            if data.endswith(b"\n"):
                break
        return data

    def _write(self, data: bytes) -> int:
        """Add to the file; returns its descriptor."""
        os.write(descriptor := self._opened(), data)
        return descriptor

    def _opened(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            there = self.path.exists()
            self._descriptor = os.open(self.path, flags, 0o600)
            if not there:
                self.path.chmod(self._rights())
            if os.lseek(self._descriptor, 0, os.SEEK_END):
                os.lseek(self._descriptor, -1, os.SEEK_END)
                ends_in_newline = os.read(self._descriptor, 1) == b"\n"
                if not ends_in_newline:
                    os.write(self._descriptor, b"\n")  # behind a line that was cut off
            else:
                os.write(self._descriptor, FIRST)
        return self._descriptor

    def _rights(self) -> int:
        """Those of the store: whoever may write there may write here."""
        return self._store.stat().st_mode & 0o666

    def _read_on(self) -> None:
        """Sort in the lines that were added since; all where another file has its place."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                if identity != self._identity or status.st_size < self._read:
                    self._identity, self._read, self._lines = identity, 0, {}
                file.seek(self._read)
                data = file.read()
        except OSError:  # there is none, or it may not be read
            self._identity, self._read, self._lines = None, 0, {}
            return
        self._read += _sort_in(data, self._lines)


def _line(head: Head) -> bytes:
    body = b"%d %b %b" % (head.seq, head.hash.hex().encode(), msgspec.json.encode(head.run_id))
    return b"%08x %b\n" % (zlib.crc32(body), body)


FIRST: Final = _line(Head("", 0))
"""What a file begins with: one that is empty has lost it."""


def has_lines(path: Path) -> bool:
    """Whether more is in a file of heads than what it was begun with. Raises `OSError`."""
    with path.open("rb") as file:
        return bool(file.read(RECENT * _LINE).replace(FIRST, b""))


def _head(line: bytes) -> Head | None:
    """What a line says; None for one that is damaged."""
    checksum, _, body = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(body):
        return None
    seq, hash_, name = body.split(b" ", 2)
    return Head(msgspec.json.decode(name, type=str), int(seq), bytes.fromhex(hash_.decode()))


def _damaged(data: bytes) -> int:
    """How many lines are not what was written; one without its end is not read."""
    *lines, cut = data.split(b"\n")
    return sum(bool(line) and _head(line) is None for line in lines) + bool(cut)


def _sync_folder(folder: Path) -> None:
    """Have the names of its files on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sort_in(data: bytes, lines: dict[bytes, bytes]) -> int:
    """Keep the last whole line of each run by its name; the bytes of all whole lines."""
    end = data.rfind(b"\n") + 1
    for line in data[:end].split(b"\n"):
        name = line.split(b" ", 3)[-1]
        lines.pop(name, None)  # so that they stand in the order of the last lines
        lines[name] = line
    return end


def _heads(lines: Iterable[bytes]) -> list[Head]:
    """What the lines say, without those of forgotten runs, and damaged ones."""
    return [head for line in lines if (head := _head(line)) is not None and head.seq]
