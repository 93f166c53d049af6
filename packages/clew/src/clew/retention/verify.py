"""Check whether each run is what was written: `clew records verify`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew.core.contents import Observation
from clew.core.events import AnyEvent, Attempt
from clew.retention.archive_format import one_line
from clew.retention.integrity import EntryError, blobs_of, events, is_blob
from clew.retention.listing import ListedRun, OnRun, Remark, RunListing, RunSource, bases, listed
from clew.stores import Where, store_at
from clew.stores.interface import Witnessed
from clew.support.errors import StoreError, StoreNewerError

EMPTY: Final = "it has no entry: it was cut off, or its worker died before the first"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a run: how many entries are good, and the hash of the last of them.

    `wrong` says what is wrong with entry `seq`, the first that is not what was written (0 if no
    entry can be named). It is "" if all is well, and `newer` if only a later clew can verify the
    run. With an expected hash, `expected` is the number of the entry that has it, or 0.
    """

    run_id: str
    entries: int = 0
    hash: str = ""
    seq: int = 0
    wrong: str = ""
    expected: int | None = None
    newer: bool = False

    @property
    def ok(self) -> bool:
        """Whether the run is intact, and has the expected hash if one was given."""
        return not self.wrong and self.expected != 0


async def verify(
    run_ids: Sequence[str] | None = None,
    *,
    store: Where = None,
    expect: str = "",
    on_run: OnRun | None = None,
) -> tuple[list[Verification], list[Remark]]:
    """Verify these runs, all by default: one `Verification` each, and what of the store is lost.

    `expect` is the hash (hex) that a run ended with when somebody wrote it down: only that can tell
    a record whose end was cut off whole from one that never went on. Nothing is opened.
    """
    async with store_at(store) as opened:
        listing = await listed(opened, thorough=run_ids is None)
        wanted = list(listing.runs) if run_ids is None else list(run_ids)
        good: set[str] = set()
        verified: list[Verification] = []
        for number, run_id in enumerate(wanted, start=1):
            verified.append(await check(listing, run_id, good, expect.lower()))
            if on_run is not None:
                on_run(number, len(wanted), run_id)
        lost = listing.lost
        if run_ids is not None and isinstance(opened, Witnessed):  # else it is among them
            lost = (*lost, *await opened.remarks())
        return verified, [Remark("", why) for why in lost]


async def check(listing: RunListing, run_id: str, good: set[str], expect: str = "") -> Verification:
    """Check a run; `good` are digests of blobs that were found to be right."""
    starts = {base.seq + 1 for base in bases(listing.runs, run_id)}
    entries, last, passed = 0, "", 0
    try:
        lines = await listing.store.read(run_id)
        if not lines:
            raise EntryError(0, EMPTY)
        children: dict[str, str] = {}
        for line, event in events(lines, starts):
            await check_blobs(listing.store, line.seq, event, good)
            _check_child(listing.runs, line.seq, event, children)
            entries, last = line.seq, line.hash.hex()
            passed = line.seq if last == expect else passed
        if not all(one_line(body) for _, body in await listing.store.inbox(run_id)):
            raise EntryError(0, "a message in its inbox is no compact JSON on one line")
    except (StoreError, TypeError) as error:  # by hand or by damage, values may have another type
        seq = error.seq if isinstance(error, EntryError) else 0
        newer = isinstance(error, StoreNewerError)
        return Verification(
            run_id, entries, last, seq, str(error), passed if expect else None, newer
        )
    return Verification(run_id, entries, last, expected=passed if expect else None)


async def check_blobs(store: RunSource, seq: int, event: AnyEvent, good: set[str]) -> None:
    """Raise `EntryError` unless all blobs of an event are there and right."""
    for digest in blobs_of(event):
        if digest in good:
            continue
        try:
            body = await store.blob(digest)
        except StoreError as error:
            raise EntryError(seq, str(error)) from error
        if not is_blob(digest, body):
            raise EntryError(seq, f"blob {digest!r} was changed after it was written")
        good.add(digest)


def _check_child(
    runs: Mapping[str, ListedRun], seq: int, event: AnyEvent, children: dict[str, str]
) -> None:
    """Raise `EntryError` where a call was made in a run of its own that is not there any more.

    An attempt alone does not say that its sub-run was ever begun; what that took does.
    """
    if isinstance(event, Attempt) and event.child:
        children[event.call] = event.child
    elif isinstance(event, Observation) and event.spent is not None:
        child = children.get(event.call, "")
        if child and child not in runs:
            raise EntryError(seq, f"its sub-run {child!r} is not in this store")
