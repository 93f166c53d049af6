"""List runs in pages and by status, and find them by a part of their ids.

A store of your own that reads all its runs anyway needs only `page` and `matching`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec

from clew.core.entries import Entry, decode
from clew.core.events import Started, Stop
from clew.core.journal import stored
from clew.core.stores import Append, RunInfo, Store
from clew.stores.interface import Selects
from clew.stores.labels import Selection, digests_of
from clew.stores.pages import read_page

__all__ = [
    "Selection",
    "Summary",
    "digests_of",
    "entries_after",
    "is_selected",
    "matching",
    "page",
    "runs_with",
    "status_after",
    "status_of",
    "summary",
]

OPEN: Final = "open"
NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})
_PAGE: Final = 200


class _End(msgspec.Struct):
    """What says of a last line whether it is a stop, and which."""

    event: str = ""
    status: str = ""


_end: Final = msgspec.json.Decoder(_End)


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in a listing: its first event, and its stop, or None if it is open."""

    started: Started
    stop: Stop | None


def summary(info: RunInfo) -> Summary | None:
    """The content of a run's first and last line; None if they cannot be read."""
    try:
        first, last = decode(info.first.body), decode(info.last.body)
    except (ValueError, TypeError, RecursionError):  # of a newer clew, or damaged
        return None
    if not isinstance(first, Started):
        return None
    return Summary(first, last if isinstance(last, Stop) else None)


def status_of(body: bytes) -> str:
    """The status of a run whose last line this is: `open`, or the status of its stop."""
    try:
        end = _end.decode(body)
    except (ValueError, TypeError, RecursionError):  # damaged, or no line at all
        return OPEN
    return end.status if end.event == "stop" else OPEN


def stops(body: bytes) -> bool:
    """Whether a line is a stop."""
    return status_of(body) != OPEN


def status_after(append: Append) -> str:
    """The status of a run after an append: what that says, or else its last line."""
    return append.status or (status_of(append.lines[-1].body) if append.lines else OPEN)


def page(
    infos: Iterable[RunInfo], limit: int = 0, after: RunInfo | None = None, status: str = ""
) -> list[RunInfo]:
    """The result of `Store.runs`, from all runs in their order."""
    listed = list(infos)
    if after is not None:
        index = next((at for at, info in enumerate(listed) if info.run_id == after.run_id), None)
        if index is not None:
            listed = listed[index + 1 :]
        else:  # it was forgotten meanwhile
            listed = [info for info in listed if info.last.at < after.last.at]
    if status:
        listed = [info for info in listed if status_of(info.last.body) == status]
    return listed[:limit] if limit else listed


def is_selected(which: Selection) -> Callable[[RunInfo], bool]:
    """Whether a run in a listing is selected, as its first line tells it.

    One whose first line cannot be read has no labels and no owner.
    """
    wanted = {*which.digests}

    def fits(info: RunInfo) -> bool:
        if which.run_id not in {"", info.run_id}:
            return False
        return not wanted or wanted.issubset(digests_of(info.first.body))

    return fits


async def runs_with(
    store: Store,
    limit: int = 0,
    *,
    status: str = "",
    labels: Mapping[str, str] = NO_LABELS,
    owner: str = "",
    run_id: str = "",
    after: RunInfo | None = None,
) -> list[RunInfo]:
    """The runs of a store with these labels, of this owner and this id, last written first.

    `limit` of them, or all; `after` and `status` are as in `Store.runs`. Where few runs fit, a
    store that cannot select them is asked for many.
    """
    if not labels and not owner and not run_id:
        return await store.runs(limit, after, status)
    limit, which = 1 if run_id else limit, Selection(labels, owner, run_id)
    if isinstance(store, Selects):
        return await store.select(which, limit, after, status)
    fits, listed = is_selected(which), list[RunInfo]()
    last = after
    while infos := await store.runs(_PAGE, last, status):
        listed += filter(fits, infos)
        last = infos[-1]
        if len(infos) < _PAGE or 0 < limit <= len(listed):
            break
    return listed[:limit] if limit else listed


async def entries_after(store: Store, run_id: str, after: int, limit: int) -> list[Entry]:
    """The entries of a run behind number `after`, at most `limit`, read without all the others
    where the store can do that (`clew.stores.Pages`).

    To `clew.read` a run takes its record with all contents, which a page of a long one needs not.
    Whose run it is, is not asked: `runs_with` finds those of an owner. Raises `StoreError`.
    """
    lines = await read_page(store, run_id, after, limit)
    return await stored(store, run_id, after, None, lines)


def matching(ids: Iterable[str], part: str, limit: int) -> list[str]:
    """The result of `Store.ids`, from all ids."""
    known: Sequence[str] = sorted(ids)
    begin = [run_id for run_id in known if run_id.startswith(part)]
    return (begin or [run_id for run_id in known if run_id.endswith(part)])[:limit]
