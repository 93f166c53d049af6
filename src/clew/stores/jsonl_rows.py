"""How the JSONL store writes a run down: rows of JSON, and when an append counts as written.

A row is an entry, or `{"epoch": n, "store": version}`: somebody took the run up. The first row of a
fork says what it shares: `{"epoch": 1, "store": 2, "base": run, "shared": seq}`. An append of
several rows is whole when its last one is: each says how many `more` follow. Whatever stands after
the last whole append is torn: its writer died, or the disk was full.
"""

import hashlib
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

from clew.errors import StoreDamagedError, StoreError
from clew.protocols import Append, Base, Line
from clew.stores.refusals import newer

VERSION: Final = 2
"""Version of the rows. A file says the oldest that knows all of it: 1 unless it is a fork's."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A row of a run's file; `taken` names the inbox messages that leave with its append.

    A field of another name is damage: a later version of this format says so in a row before.

    A row without `seq` opens an epoch and says which version of this format is written from here;
    the lines up to `shared` are those of the run `base`.
    """

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
        """The row as everybody else knows it. Raises `StoreError` where its hash is none."""
        try:
            digest = bytes.fromhex(self.hash)
        except ValueError as error:
            raise _no_hash(self.seq) from error
        if digest.hex() != self.hash:  # capitals, or spaces
            raise _no_hash(self.seq)
        return Line(self.seq, self.at, self.epoch, bytes(self.event), digest)


def _no_hash(seq: int) -> StoreDamagedError:
    return StoreDamagedError(f"entry {seq} was changed after it was written: its hash is none")


class Message(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A row of a run's inbox; `hash` is over number and event (older files have none)."""

    id: int
    event: msgspec.Raw
    hash: str = ""


class Record(msgspec.Struct):
    """What the rows up to byte `end` of a file come to; `tail` are the last bytes before that.

    The digests `named` stand somewhere before byte `searched`.
    """

    end: int = 0
    tail: bytes = b""
    searched: int = 0
    named: set[str] = msgspec.field(default_factory=set[str])
    epoch: int = 0
    base: Base | None = None
    first: Line | None = None
    last: Line | None = None
    taken: tuple[int, ...] = ()

    @property
    def head(self) -> int:
        """Number of the last line, 0 when there is none."""
        if self.last is not None:
            return self.last.seq
        return 0 if self.base is None else self.base.seq

    def add(self, rows: list[Row], end: int, place: object) -> None:
        """Take in a whole append that ends at byte `end` of the file at `place`.

        Raises `StoreDamagedError`, and takes nothing in, where it cannot stand there.
        """
        last = rows[-1]
        if not last.seq:
            if last.epoch != self.epoch + 1:
                why = f" (epoch {last.epoch} cannot follow epoch {self.epoch})"
                raise _damaged(place, end, self.head, why)
            self.base = self.base or base_of(last)
            self.epoch = last.epoch
        else:
            lines = [row.line() for row in rows]
            self.first = self.first or lines[0]
            self.last = lines[-1]
            self.taken += last.taken
        self.end = end


R = TypeVar("R", Row, Message)

_row = msgspec.json.Decoder(Row)
_message = msgspec.json.Decoder(Message)


def base_of(row: Row) -> Base | None:
    """What a fork shares, where this row says so."""
    return Base(row.base, row.shared) if row.shared else None


def write_epoch(epoch: int, base: Base | None = None) -> bytes:
    """The row that says a run was taken up, or made as a fork."""
    if base is None:
        row = Row(epoch, store=1)
    else:
        row = Row(epoch, store=VERSION, base=base.run_id, shared=base.seq)
    return msgspec.json.encode(row) + b"\n"


def write_append(append: Append) -> bytes:
    """The rows of an append. Raises `StoreError` if an event is not compact JSON."""
    rows = bytearray()
    last = len(append.lines) - 1
    for place, line in enumerate(append.lines):
        row = Row(
            epoch=line.epoch,
            seq=line.seq,
            at=line.at,
            hash=line.hash.hex(),
            event=msgspec.Raw(line.body),
            more=last - place,
            taken=append.taken if place == last else (),
        )
        rows += _checked(msgspec.json.encode(row), line.body, _row)
    return bytes(rows)


def write_message(number: int, body: bytes) -> bytes:
    """The row of an inbox message. Raises `StoreError` if the event is not compact JSON."""
    message = Message(number, msgspec.Raw(body), _hash(number, body))
    return _checked(msgspec.json.encode(message), body, _message)


def appends(data: bytes, start: int, place: object) -> Iterator[tuple[list[Row], int]]:
    """Each whole append in `data`, with the byte after it, where `data` begins at byte `start`.

    Raises `StoreError` at a row that is whole but unreadable, or was written by a newer clew.
    """
    rows: list[Row] = []
    seq = 0
    for raw, end in _rows(data):
        rows.append(_read(raw, _row, place, start + end, seq))
        seq = rows[-1].seq or seq
        if rows[-1].store > VERSION:
            raise newer(place, rows[-1].store, VERSION)
        if len(rows) > 1 and (rows[-1].more != rows[-2].more - 1 or not rows[-1].seq):
            raise _damaged(place, start + end, seq, " (it is no part of the append before)")
        if not rows[-1].more:
            yield rows, start + end
            rows = []


def messages(data: bytes, place: object) -> tuple[list[Message], int]:
    """The whole messages in an inbox file, and the byte after them. Raises `StoreError`."""
    found = [(_read(raw, _message, place, end), end) for raw, end in _rows(data)]
    for message, end in found:
        if message.hash and message.hash != _hash(message.id, bytes(message.event)):
            raise _damaged(place, end, why=" (the message was changed after it was written)")
    return [message for message, _ in found], found[-1][1] if found else 0


def _rows(data: bytes) -> Iterator[tuple[bytes, int]]:
    start = 0
    while (end := data.find(b"\n", start) + 1) > 0:
        yield data[start:end], end
        start = end


def _read(raw: bytes, decoder: msgspec.json.Decoder[R], place: object, end: int, seq: int = 0) -> R:
    """The row, which stands behind entry `seq` where that was read too.

    What would be written otherwise is damage as well: a field that is there twice, a hash in
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


def _checked(raw: bytes, body: bytes, decoder: msgspec.json.Decoder[R]) -> bytes:
    """The row as bytes, if it would be read back as it is meant."""
    try:
        same = bytes(decoder.decode(raw).event) == body and b"\n" not in raw
    except (msgspec.MsgspecError, RecursionError):
        same = False
    if not same:
        raise StoreError("an event must be compact JSON on one line: encode it with clew.events")
    return raw + b"\n"
