"""Folders of JSON lines, in which clew once kept runs, read so that they can be imported.

- `FOLDER/RUN.jsonl`: a record. Characters that no file name may have stand in RUN as %XX.
- `FOLDER/inbox/RUN.jsonl`: whatever was posted to the run.
- `FOLDER/blobs/SHA256`: a blob.

A row is an entry, or `{"epoch": n, "store": version}`: somebody took the run up. The first row of a
fork says what it shares: `{"epoch": 1, "store": 2, "base": run, "shared": seq}`. An append of
several rows is whole when its last one is: each says how many `more` follow. Whatever stands after
the last whole append is torn: its writer died, or the disk was full.
"""

import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import hexdigits
from typing import Final, TypeVar
from urllib.parse import quote, unquote

import msgspec

from clew.core.errors import ConfigError, StoreDamagedError, StoreError
from clew.core.interfaces import Base, Line, RunInfo
from clew.retention.archive import section_of
from clew.retention.archive_format import End, Missing, Section
from clew.retention.listing import Known, Listing, complete, known
from clew.stores.refusals import lost_base, missing_blob, newer, unreadable

VERSION: Final = 2
"""The last version of the rows. A file says the oldest that knows all of it."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A row of a run's file; `taken` names the inbox messages that left with its append."""

    epoch: int
    seq: int = 0
    at: int = 0
    hash: str = ""
    event: msgspec.Raw = msgspec.Raw()
    more: int = 0
    taken: tuple[int, ...] = ()
    store: int = 0
    base: str = ""
    shared: int = 0

    def line(self) -> Line:
        """The row as a line of a record. Raises `StoreDamagedError` where its hash is none."""
        try:
            digest = bytes.fromhex(self.hash)
        except ValueError:
            digest = b""
        if not digest or digest.hex() != self.hash:  # capitals, or spaces
            message = f"entry {self.seq} was changed after it was written: its hash is none"
            raise StoreDamagedError(message)
        return Line(self.seq, self.at, self.epoch, bytes(self.event), digest)


class Message(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A row of a run's inbox; `hash` is over number and event (older files have none)."""

    id: int
    event: msgspec.Raw
    hash: str = ""


@dataclass(slots=True)
class Record:
    """What the whole appends of a run's file hold; `torn` bytes stand behind them."""

    base: Base | None = None
    epoch: int = 0
    lines: list[Line] = field(default_factory=list[Line])
    taken: tuple[int, ...] = ()
    torn: int = 0

    @property
    def last(self) -> int:
        """Number of the last line of its own, 0 where there is none."""
        return self.lines[-1].seq if self.lines else 0

    def wrote(self, seq: int) -> bool:
        """Whether the line with this number is the run's own, and not shared."""
        return (self.base.seq if self.base else 0) < seq <= self.last

    def add(self, rows: list[Row], place: object, end: int) -> None:
        """Take in an append that ends at byte `end`. Raises `StoreDamagedError`."""
        last = rows[-1]
        if last.seq:
            self.lines += [row.line() for row in rows]
            self.taken += last.taken
            return
        if last.epoch != self.epoch + 1:
            why = f" (epoch {last.epoch} cannot follow epoch {self.epoch})"
            raise _damaged(place, end, self.last, why)
        if last.shared:
            self.base = self.base or Base(last.base, last.shared)
        self.epoch = last.epoch


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The runs of a folder, which is only read."""

    folder: Path

    def ids(self) -> list[str]:
        """All runs that have a file."""
        return sorted(unquote(path.stem) for path in self.folder.glob("*.jsonl"))

    def known(self, run_id: str) -> Known:
        """What a listing tells of a run; nothing where its file is damaged."""
        try:
            record = self._record(run_id)
        except StoreError:
            return Known(run_id)
        if not (lines := record.lines):
            return Known(run_id)
        return known(RunInfo(run_id, lines[-1].seq, lines[0], lines[-1], record.base))

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        """The lines of a run over `after`, those that it shares before its own."""
        record = self._record(run_id)
        found = record.lines
        while (base := record.base) is not None:
            try:
                record = self._record(base.run_id)
            except StoreError as error:
                raise lost_base(run_id, base) from error
            if not record.wrote(base.seq):  # so that the numbers fall, and no ring is followed
                raise lost_base(run_id, base)
            found = [line for line in record.lines if line.seq <= base.seq] + found
        return [line for line in found if line.seq > after]

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        """What waits for the run. Raises `StoreDamagedError` where messages are lost."""
        messages, _ = self._messages(run_id)
        taken = self._record(run_id).taken
        if taken != tuple(one.id for one in messages[: len(taken)]):
            message = (
                f"{self._inbox(run_id)} is damaged: it has not the messages that the record took: "
                "restore a copy"
            )
            raise StoreDamagedError(message)
        return [(one.id, bytes(one.event)) for one in messages[len(taken) :]]

    async def blob(self, digest: str) -> bytes:
        """The blob with this hex SHA-256."""
        path = self.folder / "blobs" / digest
        if not set(digest) <= set(hexdigits) or not path.exists():  # a digest, and no path
            raise missing_blob(digest)
        return _content(path)

    def torn(self, run_id: str) -> int:
        """Bytes of writes that were cut off: behind the record, and behind the inbox."""
        return self._record(run_id).torn + self._messages(run_id)[1]

    def _record(self, run_id: str) -> Record:
        path, record, end = self._file(run_id), Record(), 0
        data = _content(path)
        for rows, end in _appends(data, path):
            record.add(rows, path, end)
        record.torn = len(data) - end
        return record

    def _messages(self, run_id: str) -> tuple[list[Message], int]:
        """The messages that were ever posted, and how many bytes behind them are torn."""
        path, found, end = self._inbox(run_id), list[Message](), 0
        data = _content(path) if path.exists() else b""
        for raw, end in _rows(data):
            one = _read(raw, _message, path, end)
            if one.hash and one.hash != _hash(one.id, bytes(one.event)):
                raise _damaged(path, end, why=" (the message was changed after it was written)")
            found.append(one)
        return found, len(data) - end

    def _file(self, run_id: str) -> Path:
        return self.folder / f"{quote(run_id, safe=' ')}.jsonl"

    def _inbox(self, run_id: str) -> Path:
        return self.folder / "inbox" / f"{quote(run_id, safe=' ')}.jsonl"


def holds_runs(place: Path) -> bool:
    """Whether this is such a folder, or the file of a run in one. Raises `OSError`."""
    if place.is_dir():
        return True
    with place.open("rb") as file:
        try:
            return _row.decode(file.readline()).store > 0
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return False


async def read_folder(place: Path) -> AsyncIterator[Section | End]:
    """The runs of a folder, or the one that a file in it holds with those that it needs.

    Each stands behind what it needs; what could not be read whole is in the `End`. Raises
    `ConfigError` where there are none.
    """
    folder, runs, wanted = _selected(place)
    listing, left_out, torn = Listing(folder, runs), set[str](), list[Missing]()
    for run_id in wanted:
        try:
            section = await section_of(listing, run_id, left_out)
            if section.lost:
                raise missing_blob(min(section.lost))
            if cut := folder.torn(run_id):
                why = f"{cut:,} bytes behind entry {section.lines[-1].seq} are no whole entry"
                torn.append(Missing(run_id, f"its end was cut off: {why}"))
        except StoreError as error:
            left_out.add(run_id)
            section = Section(run_id, wrong=str(error))
        yield section
    yield End(len(wanted), tuple(torn))


def _selected(place: Path) -> tuple[RunFolder, dict[str, Known], list[str]]:
    """The folder, all its runs, and the ids of those to read in their order."""
    whole = place.is_dir()
    folder = RunFolder(place if whole else place.parent)
    runs = {run_id: folder.known(run_id) for run_id in folder.ids()}
    if not runs:
        message = f"{place} holds no runs: name an archive, or a folder with files RUN.jsonl"
        raise ConfigError(message)
    return folder, runs, complete(runs, runs if whole else [unquote(place.stem)])


R = TypeVar("R", Row, Message)

_row = msgspec.json.Decoder(Row)
_message = msgspec.json.Decoder(Message)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def _appends(data: bytes, place: object) -> Iterator[tuple[list[Row], int]]:
    """Each whole append in `data`, with the byte after it.

    Raises `StoreDamagedError` at a row that is whole and cannot be read.
    """
    rows: list[Row] = []
    seq = 0
    for raw, end in _rows(data):
        rows.append(_read(raw, _row, place, end, seq))
        seq = rows[-1].seq or seq
        if rows[-1].store > VERSION:
            raise newer(place, rows[-1].store, VERSION)
        if len(rows) > 1 and (rows[-1].more != rows[-2].more - 1 or not rows[-1].seq):
            raise _damaged(place, end, seq, " (it is no part of the append before)")
        if not rows[-1].more:
            yield rows, end
            rows = []


def _rows(data: bytes) -> Iterator[tuple[bytes, int]]:
    start = 0
    while (end := data.find(b"\n", start) + 1) > 0:
        yield data[start:end], end
        start = end


def _read(raw: bytes, decoder: msgspec.json.Decoder[R], place: object, end: int, seq: int = 0) -> R:
    """The row, which stands behind entry `seq` where that was read too.

    What clew would have written otherwise is damage as well: a field that is there twice, a hash in
    capitals, a number that begins with 0.
    """
    try:
        row = decoder.decode(raw)
        same = msgspec.json.encode(row) + b"\n" == raw
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _damaged(place, end, seq) from error
    if not same:
        raise _damaged(place, end, seq)
    return row


def _damaged(place: object, end: int, seq: int = 0, why: str = "") -> StoreDamagedError:
    """What is wrong with the row that ends at byte `end`; it stands behind entry `seq`, if any."""
    behind = f", behind entry {seq}" if seq else ""
    return StoreDamagedError(
        f"{place} is damaged in the line that ends at byte {end}{behind}{why}: mend it or restore "
        "a copy"
    )


def _hash(number: int, body: bytes) -> str:
    return hashlib.blake2b(b"%d " % number + body, digest_size=16).hexdigest()
