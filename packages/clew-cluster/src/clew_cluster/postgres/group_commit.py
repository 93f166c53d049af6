"""Group commit: what is ready together, of whatever runs of this process, goes in one call.

While one group is committed the next one gathers. A group with a barrier waits for the server's
disk, and whatever was committed before it is then on the disk too; the others do not wait.
"""

import asyncio
import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

import psycopg

from clew import StoreError
from clew.concurrency.uncut import Uncut
from clew.interfaces import Append, Line
from clew.stores.listing import digests_of, status_after
from clew.stores.refusals import refusal, unknown_run
from clew_cluster.postgres.connection import (
    Connection,
    Packed,
    StoreConnections,
    can_retry,
    explain,
    lost,
)

MAX_BATCH: Final = 500
"""Appends in a group."""

_BYTES: Final = 16 << 20  # of a group's lines and blobs, about
_TRIES: Final = 5
_WAKE: Final = 7_900  # bytes of a notification; the server takes fewer than 8,000

_CALL: Final = (
    "SELECT append(%b,%b,%b,%b,%b,%b, %b,%b,%b,%b,%b,%b,%b, %b,%b,%b, %b,%b, %b,%b, %b,%b,%b)"
)
_HEAD_AND_ENTRY: Final = """
    SELECT runs.epoch, runs.head, seq, at, entries.epoch, body, hash FROM runs
    LEFT JOIN entries ON entries.number = runs.number AND seq = %s WHERE run_id = %s"""

_TEXT, _BYTEA, _INT = 25, 17, 20  # the server's numbers of its types


class _PendingAppend:
    """An append on its way into a commit, and what became of it."""

    __slots__ = ("append", "done", "error", "quiet", "size")

    def __init__(self, append: Append, link: StoreConnections) -> None:
        self.append = append
        self.done: asyncio.Future[None] = link.loop.create_future()
        self.error: Exception | None = link.unsure()
        self.quiet = False
        bodies = sum(len(line.body) for line in append.lines)
        self.size = bodies + sum(map(len, append.blobs.values()))

    def tell(self) -> None:
        """Wake the task that waits, unless it was cancelled."""
        if not self.done.done():
            self.done.set_result(None)


class Commits:
    """The one writer of a store; whoever appends waits until it has settled that."""

    def __init__(self, link: StoreConnections) -> None:
        self._link = link
        self._waiting: list[_PendingAppend] = []
        self._writer: asyncio.Task[None] | None = None
        self._connection: Connection | None = None

    async def append(self, append: Append) -> bool:
        """Commit an append whole, or raise `StoreError`; carried out whoever is cancelled."""
        mine = _PendingAppend(append, self._link)
        self._waiting.append(mine)
        if (
            self._writer is None
        ):  # it begins with the loop's next turn: whoever is ready comes along
            self._writer = asyncio.create_task(self._write_all())
        uncut, ended = Uncut(), mine.done  # which a wait for itself alone would cancel
        await uncut.wait(lambda: asyncio.wait([ended]))
        if mine.error is not None:
            raise mine.error
        uncut.raise_kept()
        return mine.quiet

    async def close(self) -> None:
        """Commit what waits and let go of the connection."""
        while self._writer is not None:
            await asyncio.wait([self._writer])
        await self._drop()

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                group = self._next_group()
                try:
                    await self._settle(group)
                finally:
                    for one in group:
                        one.tell()
        except asyncio.CancelledError:
            await self._drop()
            raise
        finally:
            self._writer = None
            left, self._waiting = self._waiting, []
            for one in left:  # the process is being ended
                one.tell()

    def _next_group(self) -> list[_PendingAppend]:
        """What goes together: of each run one append, and no more than one call can well take."""
        group: dict[str, _PendingAppend] = {}
        later: list[_PendingAppend] = []
        room = _BYTES
        for one in self._waiting:
            fits = len(group) < MAX_BATCH and (room >= one.size or not group)
            if fits and one.append.run_id not in group:
                group[one.append.run_id] = one
                room -= one.size
            else:
                later.append(one)
        self._waiting = later
        # Rows are locked in this order, so that two processes never wait for each other.
        return sorted(group.values(), key=lambda one: one.append.run_id)

    async def _settle(self, group: Sequence[_PendingAppend]) -> None:
        """Commit these appends together and leave with each what became of it."""
        until, unsure, tries = self._link.deadline(), False, 0
        while True:
            connection: Connection | None = None
            try:
                connection = await self._connected(until)
                written = await self._write(connection, [one.append for one in group])
                for one, waiting in zip(group, written, strict=True):
                    one.error, one.quiet = None, waiting is False
                    if waiting is None:
                        one.error = await self._refused(connection, one.append, unsure=unsure)
                return
            except StoreError as error:  # the server did not come back
                for one in group:
                    one.error = self._link.unsure() if unsure else error
                return
            except (psycopg.Error, UnicodeError, struct.error) as error:
                if connection is not None and lost(error, connection):
                    # It may have been committed. Whether it was shows when it is made again: it
                    # cannot follow itself, and the lines that it finds in its place are its own.
                    unsure = True
                    await self._drop()
                elif can_retry(error) and tries < _TRIES:
                    tries += 1
                elif len(group) == 1:
                    group[0].error = self._explain(error)
                    return
                else:
                    for one in group:
                        await self._settle([one])
                    return

    def _explain(self, error: psycopg.Error | UnicodeError | struct.error) -> StoreError:
        if isinstance(error, struct.error):
            return StoreError(f"{self._link.address.redacted} cannot hold a number of this size")
        return explain(self._link.address, error)

    async def _connected(self, until: float) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = await self._link.connect(until)
        return self._connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _write(self, connection: Connection, appends: Sequence[Append]) -> list[bool | None]:
        """What waits in the inbox of each run; None where the append was refused."""
        channel = self._link.address.schema
        cursor = connection.cursor(binary=True)
        await cursor.execute(_CALL, _arguments(appends, channel), prepare=True)
        row = await cursor.fetchone()
        outcomes: list[bool | None] = row[0] if row else []
        return outcomes

    async def _refused(
        self, connection: Connection, append: Append, *, unsure: bool
    ) -> StoreError | None:
        """Why it was refused; None where it is there, from a commit nobody heard the end of."""
        last = append.lines[-1] if append.lines else None
        seq = last.seq if last is not None else 0
        row = await (await connection.execute(_HEAD_AND_ENTRY, (seq, append.run_id))).fetchone()
        if row is None:
            return unknown_run(append.run_id)
        epoch, head, *line = row
        if unsure and last is not None and line[0] is not None and Line(*line) == last:
            return None
        return refusal(append, epoch, head) or StoreError(
            f"run {append.run_id!r} is being written by another worker: stop here"
        )


def _gapless(append: Append) -> bool:
    """Whether the lines of an append follow each other, and there are any."""
    first = append.lines[0].seq if append.lines else 0
    return first > 0 and all(line.seq == seq for seq, line in enumerate(append.lines, first))


def _arguments(appends: Sequence[Append], channel: str) -> tuple[Packed, ...]:
    """The arguments of the call, each list as one array."""
    lines = [(index, line) for index, one in enumerate(appends, 1) for line in one.lines]
    outside = [int(one.outside) for one in appends for _ in one.lines]
    blobs = [(index, *blob) for index, one in enumerate(appends, 1) for blob in one.blobs.items()]
    labels = [
        (index, digest)
        for index, one in enumerate(appends, 1)
        if one.lines and one.lines[0].seq == 1
        for digest in digests_of(one.lines[0].body)
    ]
    taken = [(index, id_) for index, one in enumerate(appends, 1) for id_ in one.taken]
    # No run has -1 lines: what is not gapless is refused, and the words are those for its run.
    heads = [one.lines[0].seq - 1 if _gapless(one) else -1 for one in appends]
    return (
        _array(_TEXT, [one.run_id.encode() for one in appends]),
        _numbers([one.epoch for one in appends]),
        _numbers(heads),
        _numbers([head + len(one.lines) for head, one in zip(heads, appends, strict=True)]),
        _array(_TEXT, [status_after(one).encode() for one in appends]),
        _numbers([one.lines[-1].at if one.lines else 0 for one in appends]),
        _numbers([index for index, _ in lines]),
        _numbers([line.seq for _, line in lines]),
        _numbers([line.at for _, line in lines]),
        _numbers([line.epoch for _, line in lines]),
        _array(_BYTEA, [line.hash for _, line in lines]),
        _array(_BYTEA, [line.body for _, line in lines]),
        _numbers(outside),
        _numbers([index for index, _, _ in blobs]),
        _array(_TEXT, [digest.encode() for _, digest, _ in blobs]),
        _array(_BYTEA, [body for _, _, body in blobs]),
        _numbers([index for index, _ in taken]),
        _numbers([id_ for _, id_ in taken]),
        _numbers([index for index, _ in labels]),
        _array(_BYTEA, [digest for _, digest in labels]),
        Packed(b"\1" if any(one.barrier for one in appends) else b"\0"),
        Packed(channel.encode()),
        _array(_TEXT, list(wakes(one.run_id for one in appends))),
    )


def wakes(run_ids: Iterable[str]) -> Iterable[bytes]:
    """Run ids as the texts of notifications: JSON arrays, each as long as one may be."""
    ids: list[str] = []
    room = _WAKE
    for run_id in run_ids:
        need = len(json.dumps(run_id)) + 2
        if need > room and ids:
            yield json.dumps(ids).encode()
            ids, room = [], _WAKE
        if need <= room:  # one that is longer is not told: these are hints
            ids.append(run_id)
            room -= need
    if ids:
        yield json.dumps(ids).encode()


def _array(kind: int, items: Sequence[bytes]) -> Packed:
    """A list in the server's binary form of an array."""
    if not items:
        return Packed(struct.pack("!iiI", 0, 0, kind))
    parts = [struct.pack("!iiIii", 1, 0, kind, len(items), 1)]
    for item in items:
        parts += (len(item).to_bytes(4), item)
    return Packed(b"".join(parts))


def _numbers(items: Sequence[int]) -> Packed:
    """A list of integers in the server's binary form of an array."""
    if not items:
        return Packed(struct.pack("!iiI", 0, 0, _INT))
    flat: list[Any] = [0] * (2 * len(items))
    flat[::2], flat[1::2] = [8] * len(items), items
    return Packed(struct.pack(f"!iiIii{'iq' * len(items)}", 1, 0, _INT, len(items), 1, *flat))
