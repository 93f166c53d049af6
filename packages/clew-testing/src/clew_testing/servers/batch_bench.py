"""What local servers of batch interfaces have in common: batches, and how far they are."""

import itertools
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from clew_testing.servers.http_server import (
    CompletionKind,
    Delay,
    Drop,
    Fail,
    ReceivedRequest,
    Say,
    Send,
    Turn,
    to_json,
)

CREATED: Final = 1_800_000_000
"""Unix time in seconds at which these servers' clocks begin; they go by a second a batch."""

Answers: TypeAlias = Callable[[dict[str, Any]], Turn]
"""From the body of a request in a batch to what becomes of it: `Say`, `Fail`, or `Delay`, which is
not done within the batch's time.
"""

Faults: TypeAlias = Callable[[ReceivedRequest], Turn | None]
"""What happens to a request beside being answered: `Fail` (it is not taken), or `Drop` (it is
taken, and nobody hears of it).
"""

Ending: TypeAlias = Literal["", "canceled", "expired"]


@dataclass
class Entry:
    """A request of a batch: its id, and its body."""

    custom_id: str
    body: Any


@dataclass
class Batch:
    """A batch: its requests, and for how many further looks it goes on."""

    id: str
    created: int
    entries: list[Entry]
    looks: int
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    ending: Ending = ""
    results: list[tuple[Entry, Turn | None]] = field(
        default_factory=list[tuple[Entry, Turn | None]]
    )
    """What became of each, None for what was not done; in no order. Empty until it has ended."""
    ended: bool = False


@dataclass
class Bench:
    """All batches of a server, the latest last. `looks` is how often somebody looks at a batch
    before it has ended; `held` batches never end by themselves.
    """

    answers: Answers
    looks: int = 1
    faults: Faults = lambda _: None
    held: bool = False
    batches: list[Batch] = field(default_factory=list[Batch])
    paid: list[Any] = field(default_factory=list[Any])
    """The bodies of all requests that were answered, each of which costs its tokens."""
    seen: list[ReceivedRequest] = field(default_factory=list[ReceivedRequest])
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, entries: Iterable[Entry], prefix: str, **more: Any) -> Batch:
        """A new batch."""
        number = next(self.ids)
        made = Batch(f"{prefix}_{number:04}", CREATED + number, [*entries], self.looks, more)
        self.batches.append(made)
        return made

    def find(self, batch: str) -> Batch | None:
        """The batch of this id."""
        return next((one for one in self.batches if one.id == batch), None)

    def look(self, batch: Batch, refuse: Callable[[Any], Fail | None]) -> None:
        """Somebody looks: a batch may have ended by then."""
        if batch.ended or (self.held and not batch.ending):
            return
        batch.looks -= 1
        if batch.looks <= 0 or batch.ending:
            self._end(batch, refuse)

    def _end(self, batch: Batch, refuse: Callable[[Any], Fail | None]) -> None:
        batch.ended = True
        for entry in batch.entries:
            turn: Turn | None = None
            if batch.ending != "canceled":
                turn = refuse(entry.body) or self.answers(entry.body)
            if isinstance(turn, Delay):
                batch.ending, turn = "expired", None
            if isinstance(turn, Say):
                self.paid.append(entry.body)
            batch.results.append((entry, turn))
        random.Random(batch.id).shuffle(batch.results)  # noqa: S311 - results come in any order


@dataclass(frozen=True)
class Fixed:
    """A kind of completion that has one answer."""

    turn: Turn

    def refuse(self, seen: ReceivedRequest) -> Any:
        del seen
        return self.turn

    def streams(self, seen: ReceivedRequest) -> bool:
        del seen
        return False

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        raise NotImplementedError(say, seen)

    def events(self, say: Say, seen: ReceivedRequest) -> Iterable[bytes]:
        raise NotImplementedError(say, seen)


def answered(
    bench: Bench, seen: ReceivedRequest, handle: Callable[[ReceivedRequest], Send | Fail]
) -> CompletionKind:
    """The answer to a request, after what the bench's faults make of it."""
    with bench.lock:
        bench.seen.append(seen)
        fault = bench.faults(seen)
        if isinstance(fault, Fail):
            return Fixed(fault)
        answer = handle(seen)
        return Fixed(fault if isinstance(fault, Drop) else answer)


def as_json(value: object) -> Send:
    """A value as a body."""
    return Send(to_json(value))


def as_lines(values: Iterable[object]) -> Send:
    """Values as lines of JSON."""
    return Send(b"".join(to_json(value) + b"\n" for value in values), "application/x-jsonl")


def page(items: list[Batch], after: str, limit: int) -> tuple[list[Batch], bool]:
    """A page of a list that begins with the latest, and whether there is more."""
    latest = items[::-1]
    begin = next((i + 1 for i, one in enumerate(latest) if one.id == after), 0)
    return latest[begin : begin + limit], len(latest) > begin + limit
