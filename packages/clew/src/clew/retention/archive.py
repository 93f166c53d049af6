"""Writing runs into an archive: `clew records export --archive`."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from clew.core.contents import Observation
from clew.core.events import Attempt
from clew.core.journal import wall_clock
from clew.core.stores import Line
from clew.retention.archive_format import (
    VERSION,
    Archive,
    LastLine,
    Missing,
    Section,
    encoded,
    written,
)
from clew.retention.integrity import blobs_of, events, is_blob
from clew.retention.listing import OnRun, Remark, RunListing, RunSource, bases, complete, listed
from clew.stores import Where, store_at
from clew.support.errors import StoreError
from clew.support.private_files import new_file


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported, its size in bytes, and what could not be: runs, and other losses.

    A run that was exported without some of its blobs is in both.
    """

    runs: tuple[str, ...]
    bytes: int
    unreadable: tuple[Remark, ...] = ()


async def export_runs(
    to: Path | str | BinaryIO,
    run_ids: Sequence[str] | None = None,
    *,
    store: Where = None,
    on_run: OnRun | None = None,
) -> Exported:
    """Export these runs, by default all, into an archive: a new file, or a binary stream.

    The bases of forks, the roots of sub-runs and all their sub-runs are included. Runs that cannot
    be read or verified are left out and named, here and in the archive. The file appears once it is
    complete. Raises `ConfigError` if it exists.
    """
    async with store_at(store) as opened:
        listing = await listed(opened, thorough=run_ids is None)
        wanted = complete(listing.runs, listing.runs if run_ids is None else run_ids)
        if not isinstance(to, str | Path):
            return await _write(listing, wanted, to, on_run)
        return await _write_file(listing, wanted, Path(to), on_run)


async def _write_file(
    listing: RunListing, wanted: Sequence[str], path: Path, on_run: OnRun | None
) -> Exported:
    with new_file(path) as file:
        return await _write(listing, wanted, file, on_run)


async def _write(
    listing: RunListing, wanted: Sequence[str], file: BinaryIO, on_run: OnRun | None
) -> Exported:
    size = file.write(encoded(Archive(VERSION, wall_clock())))
    done: list[str] = []
    unreadable = [Remark("", why) for why in listing.lost]
    left_out: set[str] = set()
    for number, run_id in enumerate(wanted, start=1):
        try:
            section = await section_of(listing, run_id, left_out)
            size += file.write(written(section))
            done.append(run_id)
            if section.lost:
                unreadable.append(Remark(run_id, lost_blobs(section.lost)))
        except (StoreError, TypeError) as error:  # by damage, values may have another type
            unreadable.append(Remark(run_id, str(error)))
            left_out.add(run_id)
        if on_run is not None:
            on_run(number, len(wanted), run_id)
    missing = tuple(Missing(told.run_id, told.why) for told in unreadable)
    size += file.write(encoded(LastLine(len(done), missing)))
    return Exported(tuple(done), size, tuple(unreadable))


async def section_of(listing: RunListing, run_id: str, left_out: set[str]) -> Section:
    """A run with all that belongs to it, verified. Raises `StoreError`.

    So it does for one that goes on in a sub-run which is `left_out`: taken up without its record,
    that would do everything again.
    """
    store, run = listing.store, listing.runs[run_id]
    lines, inbox = await _snapshot(store, run_id)
    if not lines:
        message = f"run {run_id!r} has no entry"
        raise StoreError(message)
    shared = run.base.seq if run.base is not None else 0
    starts = {base.seq + 1 for base in bases(listing.runs, run_id)}
    section = Section(run_id, run.base, lines[shared:], inbox=[body for _, body in inbox])
    children: dict[str, str] = {}
    for line, event in events(lines, starts):
        if isinstance(event, Attempt) and event.child:
            children[event.call] = event.child
        elif isinstance(event, Observation):
            children.pop(event.call, None)
        for digest in blobs_of(event) if line.seq > shared else ():
            if digest not in section.blobs and digest not in section.lost:
                await _fetch_blob(store, digest, section)
    if lost := sorted(left_out.intersection(children.values())):
        message = f"run {run_id!r} goes on in its sub-run {lost[0]!r}, which is left out"
        raise StoreError(message)
    return section


async def _fetch_blob(store: RunSource, digest: str, section: Section) -> None:
    """Add a blob to the section, or to what it lost: the run is kept without that payload."""
    with suppress(StoreError, TypeError):  # by damage, it may be a text
        body = await store.blob(digest)
        if is_blob(digest, body):
            section.blobs[digest] = body
            return
    section.lost.add(digest)


def lost_blobs(digests: Iterable[str]) -> str:
    """What is told of a run that is kept without some of its blobs."""
    names = sorted(digests)
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"it is kept without blob {names[0]!r}{more}, which is lost or damaged"


async def _snapshot(store: RunSource, run_id: str) -> tuple[list[Line], list[tuple[int, bytes]]]:
    """Lines and inbox of one moment: a message is in one of them, and not in both."""
    lines = await store.read(run_id)
    while True:
        inbox = await store.inbox(run_id)
        more = await store.read(run_id, len(lines))
        if not more:
            return lines, inbox
        lines += more
