"""Bringing the runs of an archive into a store: `clew records import`."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from clew.core.stores import Append, Line, Store
from clew.retention.archive_format import LastLine, Section, read_archive
from clew.retention.integrity import EntryError, blobs_of, event_of, is_blob
from clew.retention.listing import Remark
from clew.stores import Owns, Where, store_at
from clew.stores.user_store import unguarded
from clew.support.errors import ConfigError, RunExistsError, RunNotFoundError, StoreError

MAX_EPOCHS: Final = 10_000
"""More openings than this no run has: an archive that says so was not written by clew."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported, what was there already with the same entries, and what was not imported.

    `complete` says that the archive was, with all its runs; `missing` is what its writer could not
    read; `unsaid` are imported runs whose waiting messages were left out.
    """

    runs: tuple[str, ...]
    there: tuple[str, ...] = ()
    refused: tuple[Remark, ...] = ()
    missing: tuple[Remark, ...] = ()
    complete: bool = True
    unsaid: tuple[str, ...] = ()


async def import_runs(
    source: Path | str | BinaryIO,
    *,
    store: Where = None,
    on_run: Callable[[int, str], None] | None = None,
) -> Imported:
    """Import the runs of an archive, each in one append, with its id and hashes.

    Each run is verified first. A run that is there with the same entries is skipped, so you can
    repeat an interrupted import; one that is there with different entries is refused, and the
    others are imported. The next worker of a run gets an epoch that no entry has. What is
    imported came from outside: nothing in it is believed until it is trusted, and what waited in an
    inbox is left out. Raises `ConfigError` where the store cannot tell it from the user's own.
    """
    async with aclosing(_sections(source)) as sections:
        return await _bring_all(sections, store, on_run)


async def _sections(source: Path | str | BinaryIO) -> AsyncGenerator[Section | LastLine]:
    """What the source holds. Raises `ConfigError` where it cannot be read."""
    if not isinstance(source, str | Path):
        for section in read_archive(source, "the archive"):
            yield section
        return
    path = Path(source)
    try:
        for section in _archive(path):
            yield section
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}): name an archive"
        raise ConfigError(message) from error


def _archive(path: Path) -> Iterator[Section | LastLine]:
    with path.open("rb") as file:
        yield from read_archive(file, path)


async def _bring_all(
    sections: AsyncIterator[Section | LastLine],
    store: Where,
    on_run: Callable[[int, str], None] | None,
) -> Imported:
    runs: list[str] = []
    unsaid: list[str] = []
    there: list[str] = []
    refused: list[Remark] = []
    section = await anext(sections, None)  # so that no store is made for what is no archive
    async with store_at(store) as opened:
        while isinstance(section, Section):
            try:
                new = await import_run(section, opened)
                (runs if new else there).append(section.run_id)
                if new and section.inbox:
                    unsaid.append(section.run_id)
            except StoreError as error:
                refused.append(Remark(section.run_id, str(error)))
            if on_run is not None:
                on_run(len(runs) + len(there) + len(refused), section.run_id)
            section = await anext(sections, None)
        await anext(sections, None)  # raises where anything stands behind the end
    missing = section.unreadable if isinstance(section, LastLine) else ()
    return Imported(
        tuple(runs),
        tuple(there),
        tuple(refused),
        tuple(Remark(one.run_id, one.why) for one in missing),
        complete=isinstance(section, LastLine)
        and section.runs == len(runs) + len(there) + len(refused),
        unsaid=tuple(unsaid),
    )


async def import_run(section: Section, store: Store) -> bool:
    """Bring a run; False where it is there already. Raises `StoreError` where it cannot come."""
    if not isinstance(store, Owns):
        message = (
            f"{type(unguarded(store)).__name__} takes no archive: it has no `foreign`, `adopt`"
        )
        raise ConfigError(message)
    if section.wrong:
        raise StoreError(section.wrong)
    run_id = section.run_id
    _verify(section, await _last_shared(section, store))
    try:
        await store.create(run_id, section.base)
    except RunExistsError:
        if await _is_there(section, store):
            return False
    last = max(line.epoch for line in section.lines)
    while (epoch := await store.open(run_id)) <= last:
        pass
    lines, blobs = tuple(section.lines), section.blobs
    await store.append(
        Append(run_id, epoch, lines, barrier=True, blobs=blobs, alone=True, outside=True)
    )
    return True


async def _last_shared(section: Section, store: Store) -> Line | None:
    """The last of the lines that a fork shares, which must be in the store before it."""
    if (base := section.base) is None:
        return None
    try:
        (line, *_) = await store.read(base.run_id, base.seq - 1)
    except (RunNotFoundError, ValueError) as error:
        message = f"it shares lines 1 to {base.seq} with run {base.run_id!r}: import that one first"
        raise StoreError(message) from error
    return line


def _verify(section: Section, before: Line | None) -> None:
    """Raise `StoreError` unless the run is what was written, and fits behind what it shares."""
    if not section.lines:
        message = f"run {section.run_id!r} has no entry"
        raise StoreError(message)
    for digest, body in section.blobs.items():
        if not is_blob(digest, body):
            message = f"blob {digest!r} was changed after it was written"
            raise StoreError(message)
    first = before.seq + 1 if before is not None else 1
    for seq, line in enumerate(section.lines, start=first):
        event = event_of(line, before, seq, {first})
        for digest in blobs_of(event):
            if digest not in section.blobs and digest not in section.lost:
                raise EntryError(seq, f"blob {digest!r} is not in the archive")
        if not 0 < line.epoch <= MAX_EPOCHS:
            raise EntryError(seq, f"its epoch is {line.epoch}, which no run of clew comes to")
        before = line


async def _is_there(section: Section, store: Store) -> bool:
    """Whether a run that is there has these entries; False where it is empty.

    Raises `StoreError` where it has others.
    """
    shared = section.base.seq if section.base is not None else 0
    entries = await store.read(section.run_id, shared)
    for mine, theirs in zip(section.lines, entries, strict=False):
        if mine != theirs:
            message = f"it is there already with another entry {mine.seq}: import it elsewhere"
            raise StoreError(message)
    if 0 < len(entries) < len(section.lines):
        message = f"it is there already, but ends with entry {entries[-1].seq}: import it elsewhere"
        raise StoreError(message)
    return bool(entries)
