"""A store for people: one readable file per run, and the files that belong to it.

- `FOLDER/RUN.jsonl`: the record, as `jsonl_rows` writes it. Characters that no file name may have
  stand in RUN as %XX.
- `FOLDER/inbox/RUN.jsonl`: whatever was posted to the run.
- `FOLDER/blobs/SHA256`: a blob.
- `FOLDER/locks/RUN.lock`: held for the moment of one append or opening, never for a whole run, so
  that a worker which is frozen, but alive, can be fenced off.
"""

import os
import tempfile
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import FileIO
from pathlib import Path
from string import hexdigits
from typing import Final
from urllib.parse import quote, unquote

import anyio
from filelock import FileLock, Timeout

from clew.errors import StoreError
from clew.protocols import Append, Base, Line, RunInfo
from clew.stores.jsonl_rows import (
    Record,
    appends,
    base_of,
    messages,
    write_append,
    write_epoch,
    write_message,
)
from clew.stores.refusals import (
    failed,
    known_run,
    locked,
    lost_base,
    missing_blob,
    no_base,
    refusal,
    unknown_run,
)

_PAUSE: Final = 0.005  # seconds between two tries to get a lock


class JsonlStore:
    """Keeps each run in a file of its own under `folder`, which is made if it is missing.

    Made for reading with eyes and line tools: a listing reads every file. Files are read and
    written on the event loop's own thread; another process's lock is waited for, up to `patience`
    seconds. Raises `StoreError` when the folder cannot be used.
    """

    def __init__(self, folder: Path, patience: float = 5.0) -> None:
        self.folder = folder
        self.patience = patience
        self._records: dict[str, Record] = {}
        with _told(folder):
            for part in ("inbox", "blobs", "locks"):
                (folder / part).mkdir(parents=True, exist_ok=True)

    async def create(self, run_id: str, base: Base | None = None) -> int:
        path = self._file(run_id)
        base = None if base is None else self._resolved(base)
        with await self._locked(run_id), _told(path):
            try:
                path.touch(exist_ok=False)
            except FileExistsError as error:
                raise known_run(run_id) from error
            return self._take_up(run_id, base)

    async def open(self, run_id: str) -> int:
        with await self._locked(run_id), _told(self._file(run_id)):
            return self._take_up(run_id)

    async def append(self, append: Append) -> bool:
        rows = write_append(append)
        lock = await self._locked(append.run_id, shield=True)
        with lock, _told(self._file(append.run_id)):
            record = self._record(append.run_id)
            if (refused := refusal(append, record.epoch, record.head)) is not None:
                raise refused
            for digest, body in append.blobs.items():
                self._keep(digest, body)
            _write(self._file(append.run_id), record.end, rows, sync=append.barrier)
            return not self._inbox(append.run_id).exists()

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        found, base = self._own(run_id, after)
        while found and base is not None and base.seq > after:
            self._shared(run_id, base)
            lines, further = self._own(base.run_id, after)
            found = [line for line in lines if line.seq <= base.seq] + found
            run_id, base = base.run_id, further
        return found

    async def blob(self, digest: str) -> bytes:
        path = self._blob(digest)
        with _told(path):
            try:
                return path.read_bytes()
            except FileNotFoundError as error:
                raise missing_blob(digest) from error

    async def post(self, run_id: str, body: bytes) -> None:
        path = self._inbox(run_id)
        with await self._locked(run_id), _told(path):
            self._record(run_id)
            path.touch()
            waiting, end = messages(path.read_bytes(), path)
            number = waiting[-1].id + 1 if waiting else 1
            _write(path, end, write_message(number, body), sync=True)
            _sync_folder(path.parent)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        path = self._inbox(run_id)
        with _told(path):
            record = self._record(run_id)
            if not path.exists():
                return []
            waiting, _ = messages(path.read_bytes(), path)
        return [(one.id, bytes(one.event)) for one in waiting if one.id not in record.taken]

    async def runs(self) -> list[RunInfo]:
        found: list[RunInfo] = []
        with _told(self.folder):
            for path in self.folder.glob("*.jsonl"):
                run_id = unquote(path.name.removesuffix(".jsonl"))
                record = self._record(run_id)
                if record.first is not None and record.last is not None:
                    first = self._first(run_id, record) or record.first
                    found.append(RunInfo(run_id, record.head, first, record.last, record.base))
        return sorted(found, key=lambda run: run.last.at, reverse=True)

    async def close(self) -> None:
        """Nothing stays open between two calls."""

    def _file(self, run_id: str) -> Path:
        return self.folder / f"{quote(run_id, safe=' ')}.jsonl"

    def _inbox(self, run_id: str) -> Path:
        return self.folder / "inbox" / f"{quote(run_id, safe=' ')}.jsonl"

    def _lock_file(self, run_id: str) -> Path:
        return self.folder / "locks" / f"{quote(run_id, safe=' ')}.lock"

    def _blob(self, digest: str) -> Path:
        if not set(digest) <= set(hexdigits):  # it is about to be a file name
            raise missing_blob(digest)
        return self.folder / "blobs" / digest

    async def _locked(self, run_id: str, *, shield: bool = False) -> AbstractContextManager[object]:
        """The run's lock; what is done under it awaits nothing."""
        lock = FileLock(self._lock_file(run_id))
        with anyio.move_on_after(self.patience, shield=shield), _told(self._file(run_id)):
            while True:
                with suppress(Timeout):
                    return lock.acquire(blocking=False)
                await anyio.sleep(_PAUSE)
        raise locked(self._file(run_id))

    def _take_up(self, run_id: str, base: Base | None = None) -> int:
        record = self._record(run_id)
        epoch = record.epoch + 1
        _write(self._file(run_id), record.end, write_epoch(epoch, base), sync=True)
        _sync_folder(self.folder)
        return epoch

    def _resolved(self, base: Base) -> Base:
        """The base as the run's that wrote its last line, which is then safe on the disk."""
        with _told(self._file(base.run_id)):
            record = self._record(base.run_id)
            if not 1 <= base.seq <= record.head:
                raise no_base(base, record.head)
            while (further := record.base) is not None and base.seq <= further.seq:
                record = self._shared(base.run_id, further)
                base = Base(further.run_id, base.seq)
            _sync(self._file(base.run_id))
        return base

    def _shared(self, run_id: str, base: Base) -> Record:
        """The record of the run that a fork shares lines with. Raises `StoreError` if it is gone.

        Each wrote the last shared line itself, so that from fork to fork the numbers fall.
        """
        path = self._file(base.run_id)
        with _told(path):
            if not path.exists():
                raise lost_base(run_id, base)
            record = self._record(base.run_id)
        if not (0 if record.base is None else record.base.seq) < base.seq <= record.head:
            raise lost_base(run_id, base)
        return record

    def _first(self, run_id: str, record: Record) -> Line | None:
        """Line 1, or None where the run that has it is gone: a listing tells what it can."""
        with suppress(StoreError):
            while record.base is not None:
                run_id, record = record.base.run_id, self._shared(run_id, record.base)
            return record.first
        return None

    def _own(self, run_id: str, after: int) -> tuple[list[Line], Base | None]:
        """The lines in the run's own file, and what it shares."""
        path = self._file(run_id)
        with _told(path):
            data = self._data(run_id, 0)
        rows = [row for rows, _ in appends(data, 0, path) for row in rows]
        base = next(filter(None, map(base_of, rows)), None)
        return [row.line() for row in rows if row.seq > max(after, 0)], base

    def _record(self, run_id: str) -> Record:
        """What the run's file says now; only what is new in it is read."""
        record = self._records.setdefault(run_id, Record())
        data = self._data(run_id, record.end)
        for rows, end in appends(data, record.end, self._file(run_id)):
            record.add(rows, end)
        return record

    def _data(self, run_id: str, start: int) -> bytes:
        try:
            with self._file(run_id).open("rb") as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError as error:
            raise unknown_run(run_id) from error

    def _keep(self, digest: str, body: bytes) -> None:
        """Write a blob durably, unless it is there: under another name first, so never in part."""
        path = self._blob(digest)
        if path.exists():
            return
        descriptor, draft = tempfile.mkstemp(dir=path.parent)
        os.close(descriptor)
        try:
            _write(Path(draft), 0, body, sync=True)
            Path(draft).replace(path)
        except OSError:
            Path(draft).unlink()
            raise
        _sync_folder(path.parent)


@contextmanager
def _told(path: Path) -> Generator[None, None, None]:
    """The operating system's errors come out as `StoreError`."""
    try:
        yield
    except OSError as error:
        raise failed(path, error) from error


def _write(path: Path, end: int, data: bytes, *, sync: bool) -> None:
    """Write `data` at byte `end`, over whatever torn remains stand there: all of it or nothing."""
    with FileIO(path, "r+") as file:
        file.truncate(end)
        file.seek(end)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            if sync:
                os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def _sync(file: Path) -> None:
    """Make what was written to a file durable."""
    with FileIO(file, "r+") as opened:
        os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system lets a folder be opened (not on Windows)."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
