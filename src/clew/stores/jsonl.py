"""A store for people: one readable file per run, and the files that belong to it.

- `FOLDER/RUN.jsonl`: the record, as `jsonl_rows` writes it. Characters that no file name may have
  stand in RUN as %XX.
- `FOLDER/inbox/RUN.jsonl`: whatever was posted to the run.
- `FOLDER/blobs/SHA256`: a blob.
- `FOLDER/locks/claims`: what workers lock to claim a run (`claims`).
- `FOLDER/locks/RUN.lock`: held for the moment of one append or opening, never for a whole run, so
  that a worker which is frozen, but alive, can be fenced off. `FOLDER/blobs.lock` likewise, while
  an old blob is found again or removed.
"""

import importlib
import logging
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from string import hexdigits
from typing import Final
from urllib.parse import quote, unquote

import anyio

from clew.errors import StoreError
from clew.private import make_file, make_folder
from clew.protocols import Append, Base, Line, RunInfo, Store
from clew.stores.claims import FileClaims, stops
from clew.stores.jsonl_files import freshest, place, sync, sync_folder, told, write
from clew.stores.jsonl_forget import DAY, age, forks, named, old
from clew.stores.jsonl_rows import (
    Record,
    appends,
    messages,
    write_append,
    write_epoch,
    write_message,
)
from clew.stores.listing import page
from clew.stores.refusals import (
    known_run,
    locked,
    lost_base,
    lost_messages,
    missing_blob,
    no_base,
    refusal,
    still_shared,
    unknown_run,
)

LOG: Final = logging.getLogger("clew")

_TAIL: Final = 64  # bytes that tell whether the file is still that of the run that was read
_PAUSE: Final = 0.005  # seconds between two tries to get a lock


class JsonlStore:
    """Keeps each run in a file of its own under `folder`, which is made if it is missing.

    Made for reading with eyes and line tools: a listing of all runs reads every file, a page those
    last written. Files are read and written on the event loop's own thread; another process's lock
    is waited for, up to `patience` seconds. Raises `StoreError` when the folder cannot be used.
    """

    def __init__(self, folder: Path | str, patience: float = 5.0) -> None:
        self.folder = folder = Path(folder)
        self.patience = patience
        self._records: dict[str, Record] = {}
        self._warned: set[str] = set()
        self._claims = FileClaims(folder / "locks" / "claims", folder)
        with told(folder):
            for part in ("inbox", "blobs", "locks"):
                make_folder(folder / part)

    async def create(self, run_id: str, base: Base | None = None) -> int:
        if base is None:
            return await self._create(run_id)
        if self._file(run_id).exists():
            raise known_run(run_id)
        with await self._locked(self._resolved(base).run_id):  # it is not forgotten meanwhile
            return await self._create(run_id, self._resolved(base))

    async def open(self, run_id: str) -> int:
        with await self._locked(run_id), told(self._file(run_id)):
            return self._take_up(run_id)

    async def epoch(self, run_id: str) -> int:
        with told(self._file(run_id)):
            return self._record(run_id).epoch

    async def append(self, append: Append) -> bool:
        rows = write_append(append)
        lock = await self._locked(append.run_id, shield=True)
        with lock, told(self._file(append.run_id)):
            record = self._record(append.run_id)
            if (refused := refusal(append, record.epoch, record.head)) is not None:
                raise refused
            for digest, body in append.blobs.items():
                await self._keep(digest, body)
            write(self._file(append.run_id), record.end, rows, sync=append.barrier)
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
        with told(path):
            try:
                return path.read_bytes()
            except FileNotFoundError as error:
                raise missing_blob(digest) from error

    async def post(self, run_id: str, body: bytes) -> None:
        path = self._inbox(run_id)
        with await self._locked(run_id), told(path):
            self._record(run_id)
            with suppress(FileExistsError):
                make_file(path)
            waiting, end = messages(path.read_bytes(), path)
            number = waiting[-1].id + 1 if waiting else 1
            write(path, end, write_message(number, body), sync=True)
            sync_folder(path.parent)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        path = self._inbox(run_id)
        with told(path):
            record = self._record(run_id)
            if not path.exists():
                return []
            waiting, _ = messages(path.read_bytes(), path)
        taken = set(record.taken)
        return [(one.id, bytes(one.event)) for one in waiting if one.id not in taken]

    async def runs(
        self, most: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        enough = most if after is None and not status else 0
        found: list[RunInfo] = []
        with told(self.folder):
            for written, path in freshest(self.folder):
                times = sorted((run.last.at for run in found), reverse=True) if enough else []
                if len(times) >= enough > 0 and times[enough - 1] > written:
                    break  # whatever follows was written before those
                if (info := self._info(path)) is not None:
                    found.append(info)
        found.sort(key=lambda run: run.last.at, reverse=True)
        return page(found, most, after, status)

    async def ids(self, part: str, most: int = 20) -> list[str]:
        with told(self.folder):
            known = sorted(map(self._run_id, self.folder.glob("*.jsonl")))
            for fits in (str.startswith, str.endswith):
                fitting = (run for run in known if fits(run, part))
                if found := [run for run in fitting if self._info(self._file(run)) is not None]:
                    return found[:most]
        return []

    async def claim(self, name: str) -> bool:
        return self._claims.claim(name)

    async def release(self, name: str) -> None:
        self._claims.release(name)

    async def due(self) -> list[RunInfo]:
        return [
            info
            for info in reversed(await self.runs())
            if not stops(info.last.body) or await self._spoken_to(info.run_id)
        ]

    async def forget(self, run_id: str) -> None:
        path = self._file(run_id)
        with await self._locked(run_id), told(path):
            self._record(run_id)
            for fork in forks(self.folder.glob("*.jsonl"), run_id):
                raise still_shared(run_id, self._run_id(fork))
            path.unlink()
            self._inbox(run_id).unlink(missing_ok=True)
            sync_folder(self.folder)
            del self._records[run_id]
        await self._sweep()

    async def size(self) -> int:
        with told(self.folder):
            return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    async def salvage(self) -> tuple[Store, list[str], list[str]] | None:
        listed = [run.run_id for run in await self.runs()]
        files = map(self._run_id, self.folder.glob("*.jsonl"))
        damaged = [run_id for run_id in files if run_id not in listed]  # or without an entry
        return (self, listed + damaged, []) if damaged else None

    async def torn(self, run_id: str) -> int:
        path = self._inbox(run_id)
        with await self._locked(run_id), told(self._file(run_id)):
            record = self._record(run_id)
            data = path.read_bytes() if path.exists() else b""
            there, end = messages(data, path)
            if record.taken != tuple(one.id for one in there[: len(record.taken)]):
                raise lost_messages(path)
            return self._torn(run_id, record) + len(data) - end

    async def close(self) -> None:
        """Nothing but claims stays open between two calls."""
        self._claims.release_all()

    async def _spoken_to(self, run_id: str) -> bool:
        """Whether its inbox holds anything; of a damaged one whoever works on the run is told."""
        try:
            return bool(await self.inbox(run_id))
        except StoreError:  # or the run was forgotten just now, with its inbox
            return self._inbox(run_id).exists()

    async def _create(self, run_id: str, base: Base | None = None) -> int:
        path = self._file(run_id)
        with await self._locked(run_id), told(path):
            try:
                make_file(path)
            except FileExistsError as error:
                raise known_run(run_id) from error
            self._inbox(run_id).unlink(missing_ok=True)  # of one that was not forgotten to the end
            return self._take_up(run_id, base)

    def _run_id(self, file: Path) -> str:
        return unquote(file.name.removesuffix(".jsonl"))

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
        """The run's lock; what is done under it waits for nothing but that of the blobs.

        Its file stays when the run is forgotten: others may be waiting for that very file.
        """
        return await self._lock(self._lock_file(run_id), self._file(run_id), shield=shield)

    async def _lock(
        self, file: Path, what: Path, *, shield: bool = False
    ) -> AbstractContextManager[object]:
        locks = importlib.import_module("filelock")  # dear to import, and most have no such folder
        lock = locks.FileLock(file, mode=0o600)
        with anyio.move_on_after(self.patience, shield=shield), told(what):
            while True:
                with suppress(locks.Timeout):
                    taken: AbstractContextManager[object] = lock.acquire(blocking=False)
                    return taken
                await anyio.sleep(_PAUSE)
        raise locked(what)

    def _take_up(self, run_id: str, base: Base | None = None) -> int:
        record = self._record(run_id)
        if torn := self._torn(run_id, record):
            LOG.warning(
                "run %s: its last write was cut off: %d bytes behind entry %d are passed over",
                run_id, torn, record.head,
            )  # fmt: skip
        epoch = record.epoch + 1
        write(self._file(run_id), record.end, write_epoch(epoch, base), sync=True)
        sync_folder(self.folder)
        return epoch

    def _resolved(self, base: Base) -> Base:
        """The base as the run's that wrote its last line, which is then safe on the disk."""
        with told(self._file(base.run_id)):
            record = self._record(base.run_id)
            if not 1 <= base.seq <= record.head:
                raise no_base(base, record.head)
            while (further := record.base) is not None and base.seq <= further.seq:
                record = self._shared(base.run_id, further)
                base = Base(further.run_id, base.seq)
            sync(self._file(base.run_id))
        return base

    def _shared(self, run_id: str, base: Base) -> Record:
        """The record of the run that a fork shares lines with. Raises `StoreError` if it is gone.

        Each wrote the last shared line itself, so that from fork to fork the numbers fall.
        """
        path = self._file(base.run_id)
        with told(path):
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
        with told(path):
            data = self._data(run_id, 0)
        record, found = Record(), list[Line]()
        for rows, end in appends(data, 0, path):
            record.add(rows, end, path)
            found += [row.line() for row in rows if row.seq > max(after, 0)]
        return found, record.base

    def _record(self, run_id: str) -> Record:
        """What the run's file says now; only what is new in it is read."""
        record = self._records.setdefault(run_id, Record())
        start = record.end - len(record.tail)
        data = self._data(run_id, start)
        if not data.startswith(record.tail):  # another run by this id: that one was forgotten
            record = self._records[run_id] = Record()
            start, data = 0, self._data(run_id, 0)
        new = data[len(record.tail) :] if record.tail else data
        for rows, end in appends(new, record.end, self._file(run_id)):
            record.add(rows, end, self._file(run_id))
        record.tail = data[: record.end - start][-_TAIL:]
        return record

    def _info(self, path: Path) -> RunInfo | None:
        """A run as it is listed; None where it has no entry, or cannot be read."""
        run_id = self._run_id(path)
        record = self._readable(run_id)
        if record is None or record.first is None or record.last is None:
            return None
        first = self._first(run_id, record) or record.first
        return RunInfo(run_id, record.head, first, record.last, record.base)

    def _readable(self, run_id: str) -> Record | None:
        """The record, for a listing, which tells what it can; None, and a warning, for another."""
        try:
            return self._record(run_id)
        except StoreError as error:
            if str(error) not in self._warned and self._file(run_id).exists():
                LOG.warning("run %s is not listed: %s", run_id, error)
                self._warned.add(str(error))
            return None

    def _torn(self, run_id: str, record: Record) -> int:
        return self._file(run_id).stat().st_size - record.end

    def _data(self, run_id: str, start: int) -> bytes:
        try:
            with self._file(run_id).open("rb") as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError as error:
            self._records.pop(run_id, None)
            raise unknown_run(run_id) from error

    async def _keep(self, digest: str, body: bytes) -> None:
        """Have a blob there, durably, and so young that no sweep takes it before it is named."""
        path = self._blob(digest)
        known = age(path)
        if known is None:
            place(path, body)
        elif known > DAY / 2:
            with await self._lock(self.folder / "blobs.lock", path, shield=True):
                if path.exists():
                    os.utime(path)
                else:
                    place(path, body)

    async def _sweep(self) -> None:
        """Remove the old blobs that no run names."""
        with told(self.folder):
            if not (found := old(self.folder / "blobs")):
                return
            used: set[str] = set()
            for path in self.folder.glob("*.jsonl"):
                await anyio.lowlevel.checkpoint()
                record = self._records.setdefault(self._run_id(path), Record())
                with suppress(FileNotFoundError):  # forgotten by somebody else just now
                    used |= named(path, record)
            for path in found:
                if path.name not in used:
                    with await self._lock(self.folder / "blobs.lock", path):
                        if (age(path) or 0) > DAY:  # nobody has found it again meanwhile
                            path.unlink()
