"""Whether the lines of a run are what was written, as far as they tell themselves."""

import hashlib
from collections.abc import Collection, Iterator, Sequence

from clew.core.contents import Observation
from clew.core.events import AnyEvent, Changed, Forked, Note, Started, Suspended, Thought
from clew.core.journal import chain, known_event
from clew.core.stores import Line
from clew.support.errors import StoreError, StoreNewerError


class EntryError(StoreError):
    """An entry that is not what was written: its number (0 where none can be named) and why."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"entry {seq}: {why}" if seq else why)
        self.seq = seq


def event_of(line: Line, before: Line | None, seq: int, starts: Collection[int]) -> AnyEvent:
    """The event of the line that is number `seq`, behind the one before. Raises `EntryError`, and
    `StoreNewerError` where a newer clew wrote it.

    `starts` are the numbers with which a fork's own lines begin: there epochs begin anew.
    """
    if line.seq != seq:
        raise EntryError(seq, f"it is missing: entry {line.seq} stands in its place")
    try:
        wanted = chain(before.hash if before else b"", seq, line.at, line.epoch, line.body)
    except TypeError:  # by hand, a value of another type may be put into some stores
        wanted = b""
    if line.hash != wanted:
        raise EntryError(
            seq, "it was changed after it was written, or an entry before it is missing"
        )
    if before is not None and seq not in starts and line.epoch < before.epoch:
        raise EntryError(seq, f"epoch {line.epoch} stands behind epoch {before.epoch}")
    try:
        return known_event(line.body)
    except StoreNewerError as error:
        raise StoreNewerError(f"entry {seq}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise EntryError(seq, f"it is not readable here ({error})") from error


def events(lines: Sequence[Line], starts: Collection[int]) -> Iterator[tuple[Line, AnyEvent]]:
    """Each line of a run with its event, from line 1. Raises `EntryError` at the first bad one."""
    before: Line | None = None
    for seq, line in enumerate(lines, start=1):
        yield line, event_of(line, before, seq, starts)
        before = line


def blobs_of(event: AnyEvent) -> Iterator[str]:
    """The digests of the blobs that an event names."""
    if isinstance(event, Observation):
        yield from filter(None, (event.blob, *(each.blob for each in event.attachments)))
    elif isinstance(event, Thought):
        yield from filter(None, (action.blob for action in event.actions))
        yield from filter(None, (call.blob for call in event.reply.calls))
    elif isinstance(event, Suspended):
        yield from filter(None, (event.blob, *(action.blob for action in event.actions)))
    elif isinstance(event, Started | Forked | Changed) and event.spec.prompt_blob:
        yield event.spec.prompt_blob
    if isinstance(event, Started | Note):
        yield from filter(None, (part.blob for part in event.attachments))


def is_blob(digest: str, body: bytes) -> bool:
    """Whether the body is what the digest says."""
    return hashlib.sha256(body).hexdigest() == digest
