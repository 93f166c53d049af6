"""The interface of stores: where records lie."""

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Line(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored: `body` is the event's JSON, `hash` chains the line to the last one."""

    seq: int
    at: int
    epoch: int
    body: bytes
    hash: bytes


class Append(msgspec.Struct, frozen=True, gc=False):
    """One atomic append to a run, without gaps.

    With `barrier`, it and everything before it are on disk when `append` returns. `blobs` are kept
    once per content, by hex SHA-256; `taken` are ids of inbox messages that the same commit
    removes. `alone` says that no other append of the run is waiting that could share the commit.
    `status` is that of the run with these lines: how it stopped, or "open"; who moves lines of
    which nothing is known leaves it out, and the last line tells (`clew.stores.listing.status_of`).
    Lines from `outside` come from an archive: the store says of them that they are `foreign`.
    """

    run_id: str
    epoch: int
    lines: tuple[Line, ...]
    barrier: bool = False
    blobs: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    taken: tuple[int, ...] = ()
    alone: bool = False
    status: str = ""
    outside: bool = False


class Base(msgspec.Struct, frozen=True):
    """What a fork shares: the lines of the run `run_id` up to and including number `seq`."""

    run_id: str
    seq: int


class RunInfo(msgspec.Struct, frozen=True):
    """A run in a listing: its first line has the goal, its last line the status.

    `base` is what a fork shares; the run it names wrote the last shared line itself.
    """

    run_id: str
    entries: int
    first: Line
    last: Line
    base: Base | None = None


class Store(Protocol):
    """Keeps records. All methods raise `StoreError` with one line that says what to do.

    One worker appends to a run at a time: `open` increases the run's epoch, and an append with an
    older one raises `FencedError`. A failed append leaves nothing behind. Reading never opens a
    run.
    """

    async def create(self, run_id: str, base: Base | None = None) -> int:
        """Create an empty run and return epoch 1; the id must be new.

        With `base` the run's lines are those shared with the base, then its own. Shared lines are
        not copied, and nobody sees them until the run has a line of its own.
        """
        ...

    async def open(self, run_id: str) -> int:
        """Open a run for work: increase and return its epoch."""
        ...

    async def epoch(self, run_id: str) -> int:
        """The current epoch, without opening the run."""
        ...

    async def append(self, append: Append) -> bool:
        """Commit an append as a whole, or raise; its lines must follow the last one stored.

        Shielded from cancellation: it returns, or raises `StoreError`, when the commit is settled.
        True means that the run's inbox is empty, so that the worker need not ask.
        """
        ...

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        """Lines with a sequence number over `after`, in order."""
        ...

    async def blob(self, digest: str) -> bytes:
        """The blob with this hex SHA-256."""
        ...

    async def post(self, run_id: str, body: bytes) -> None:
        """Put an event's JSON into the run's inbox, on disk; anyone may."""
        ...

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        """The messages in the inbox: (id, event's JSON), oldest first."""
        ...

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        """Runs with an entry of their own, last written first: `limit` of them, or all.

        `after` is the end of the previous page. `status` selects runs whose last line is such a
        stop, or no stop (`open`). A page must not cost more if many runs have stopped.
        """
        ...

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        """Sorted ids of runs with an entry that begin with a text, else those that end with it."""
        ...

    async def close(self) -> None:
        """Close files and connections."""
        ...
