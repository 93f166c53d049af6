"""Made-up lines for the contract of stores, and how its checks say what is wrong."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from clew import StoreError
from clew.interfaces import Append, Line, Store

Make: TypeAlias = Callable[[], Awaitable[Store]]
"""Opens the store under test; each call over the same place."""

Check: TypeAlias = Callable[[Make], Awaitable[None]]
"""A part of the contract; raises `AssertionError`, or what the store raised, if it is broken."""


def append(
    run_id: str,
    epoch: int,
    *seqs: int,
    at: int = 0,
    barrier: bool = False,
    blobs: dict[str, bytes] | None = None,
    taken: tuple[int, ...] = (),
) -> Append:
    """An append of made-up lines with these numbers."""
    lines = tuple(
        Line(seq, 1_790_000_000_000 + at, epoch, text_of(run_id, seq), b"#%d" % seq) for seq in seqs
    )
    return Append(run_id, epoch, lines, barrier, blobs or {}, taken)


def text_of(run_id: str, seq: int) -> bytes:
    """The body of a made-up line."""
    return f'"line {seq} of {run_id}"'.replace("\\", "\\\\").encode()


def blob(text: str) -> tuple[bytes, str]:
    """A blob and its digest."""
    return text.encode(), hashlib.sha256(text.encode()).hexdigest()


def texts(**upto: int) -> list[bytes]:
    """The bodies of the made-up lines of several runs, each going on from the one before."""
    lines: list[bytes] = []
    for run_id, last in upto.items():
        lines += [text_of(run_id, seq) for seq in range(len(lines) + 1, last + 1)]
    return lines


async def bodies(store: Store, run_id: str) -> list[bytes]:
    """The bodies of a run's lines."""
    return [line.body for line in await store.read(run_id)]


async def numbers(store: Store, run_id: str) -> list[int]:
    """The sequence numbers a run has."""
    return [line.seq for line in await store.read(run_id)]


async def refused(work: Awaitable[object], what: str, kind: type[StoreError] = StoreError) -> None:
    """Raise `AssertionError` unless `work` raises `kind` with one line of text."""
    try:
        await work
    except StoreError as error:
        told = str(error)
        if not isinstance(error, kind) or not told or "\n" in told:
            raise AssertionError(
                f"{what}: {kind.__name__} of one line expected, {error!r} found"
            ) from error
    else:
        raise AssertionError(f"{what}: {kind.__name__} expected, nothing raised")
