"""Which runs there are, also in a damaged store, and which of them belong together."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from clew.core.codes import Status
from clew.core.events import SCHEMA
from clew.core.stores import Base, Line, RunInfo, Store
from clew.stores.interface import Recovers
from clew.stores.listing import summary
from clew.support.errors import ConfigError

RunState: TypeAlias = Status | Literal["open", "unreadable"]
"""The status of a run: how it ended, "open", or "unreadable"."""

_SUB_RUN: Final = re.compile(r"(.+-)\d+\.\d+$")
"""The id of a sub-run; a fork of one for the same run is a sub-run too (a branch of a search)."""

OnRun: TypeAlias = Callable[[int, int, str], None]
"""Told of each run that is done with: how many are, of how many, and its id."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A run and a remark on it; `run_id` is "" for a remark on the whole store."""

    run_id: str
    why: str


@dataclass(frozen=True, slots=True)
class ListedRun:
    """What a listing tells of a run; `parent` is the run that a sub-run serves, "" for none."""

    run_id: str
    entries: int = 0
    at: int = 0
    standing: RunState = "unreadable"
    base: Base | None = None
    parent: str = ""


class RunSource(Protocol):
    """What runs are read from."""

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        """The lines of a run over `after`."""
        ...

    async def blob(self, digest: str) -> bytes:
        """The blob with this hex SHA-256."""
        ...

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        """What waits in the inbox: (id, event's JSON), oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class RunListing:
    """All runs that were found, where to read them, and what is lost beside them."""

    store: RunSource
    runs: Mapping[str, ListedRun]
    lost: tuple[str, ...] = ()


def known(info: RunInfo) -> ListedRun:
    """What the first and last line of a run tell."""
    standing: RunState = "unreadable"
    parent = ""
    if (run := summary(info)) is not None:
        if run.started.schema <= SCHEMA:  # else it is not known here what its entries mean
            standing = "open" if run.stop is None else run.stop.status
        if info.base is None:
            parent = run.started.parent.rpartition(":")[0]
        elif (branch := _SUB_RUN.match(info.run_id)) and info.base.run_id.startswith(branch[1]):
            parent = branch[1].removesuffix("-")  # its own first line is not in a listing
    at = info.last.at
    base = info.base
    if type(at) is not int:  # by hand or by damage, values may have another type
        at, standing = 0, "unreadable"
    if base is not None and type(base.seq) is not int:
        base, standing = None, "unreadable"
    return ListedRun(info.run_id, info.entries, at, standing, base, parent)


async def listed(store: Store, *, thorough: bool) -> RunListing:
    """The runs of a store; `thorough` looks for damage, and then reads what is left."""
    runs = {info.run_id: known(info) for info in await store.runs()}
    salvaged = await store.salvage() if thorough and isinstance(store, Recovers) else None
    if salvaged is None:
        return RunListing(store, runs)
    path, entries, lost = salvaged
    runs = {info.run_id: known(info) for info in await path.runs()}
    more = {run_id: ListedRun(run_id) for run_id in entries if run_id not in runs}
    return RunListing(path, runs | more, tuple(lost))


async def run_ids(store: Store) -> list[str]:
    """The ids of all runs of a store, including those too damaged for its listing."""
    return list((await listed(store, thorough=True)).runs)


def bases(runs: Mapping[str, ListedRun], run_id: str) -> Iterator[Base]:
    """What a run shares, what that shares in turn, and so on; each is followed once."""
    seen: set[str] = set()
    while (one := runs.get(run_id)) is not None and one.base is not None and run_id not in seen:
        seen.add(run_id)
        yield one.base
        run_id = one.base.run_id


def root(runs: Mapping[str, ListedRun], run_id: str) -> str:
    """The run that a sub-run serves in the end; of one whose parent is gone, itself."""
    return _line(runs, run_id)[-1]


def _line(runs: Mapping[str, ListedRun], run_id: str) -> list[str]:
    """A run, the one that it serves, and so on up to the root; each is followed once."""
    line = [run_id]
    while (parent := runs[line[-1]].parent) in runs and parent not in line:
        line.append(parent)
    return line


def families(runs: Mapping[str, ListedRun]) -> dict[str, list[str]]:
    """Each root with its sub-runs behind it."""
    children: dict[str, list[str]] = {}
    for run_id in runs:
        members = children.setdefault(root(runs, run_id), [])
        members.insert(0 if runs[run_id].parent not in runs else len(members), run_id)
    return children


def complete(runs: Mapping[str, ListedRun], wanted: Iterable[str]) -> list[str]:
    """These runs with all that they cannot do without, each behind what it needs.

    A fork needs its bases, a root and its sub-runs need each other: those come first, since who
    takes up a root looks for them. Raises `ConfigError` for a run that is not there.
    """
    family = families(runs)
    ordered: dict[str, None] = {}
    tried: set[str] = set()  # a base that needs its fork, by hand or by damage, is not waited for
    waiting = list(wanted)[::-1]
    while waiting:
        run_id = waiting.pop()
        if run_id in ordered:
            continue
        if run_id not in runs:
            message = f"there is no run {run_id!r} in this store: `clew runs` lists them"
            raise ConfigError(message)
        members = family[root(runs, run_id)]
        needed = {base.run_id for member in members for base in bases(runs, member)}
        missing = [one for one in needed & runs.keys() if one not in ordered and one not in members]
        if missing and run_id not in tried:
            tried.add(run_id)
            waiting += [run_id, *missing]
        else:
            ranks = {m: (-len(_line(runs, m)), len([*bases(runs, m)])) for m in members}
            ordered |= dict.fromkeys(sorted(ranks, key=ranks.__getitem__))
    return list(ordered)
