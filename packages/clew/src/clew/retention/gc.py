"""Delete runs by age, size and status: `clew records gc`."""

import heapq
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, get_args

from clew.core.codes import Status
from clew.core.journal import Clock, foreign_entries, wall_clock
from clew.core.stores import Store
from clew.retention.integrity import blobs_of, events
from clew.retention.listing import ListedRun, OnRun, Remark, RunState, bases, families, known
from clew.stores import Where, store_at
from clew.stores.interface import Deletes, Locks
from clew.stores.locks import claim
from clew.stores.user_store import unguarded
from clew.support.errors import ConfigError, StoreError

STATUSES: Final[tuple[RunState, ...]] = (*get_args(Status), "open")
"""The statuses by which runs can be chosen."""

STOPPED: Final[tuple[RunState, ...]] = tuple(s for s in STATUSES if s not in {"held", "open"})
"""The default: runs on which nobody works and that wait for nobody."""

OVERHEAD: Final = 32  # bytes of a line beside its body and hash, about


@dataclass(frozen=True, slots=True)
class GcReport:
    """What was deleted (or would be, in a dry run), its size in bytes, and what was kept.

    `kept` are chosen runs that are still needed; `failed` those that the store could not delete.
    Sub-runs go, and stay, with their root; they are named only if they were deleted.
    """

    removed: tuple[str, ...]
    bytes: int
    kept: tuple[Remark, ...] = ()
    failed: tuple[Remark, ...] = ()


async def gc(
    *,
    older: float | None = None,
    keep_under: int | None = None,
    status: Collection[RunState] | None = None,
    store: Where = None,
    dry_run: bool = False,
    on_run: OnRun | None = None,
    clock: Clock = wall_clock,
) -> GcReport:
    """Forget the runs that were last written more than `older` seconds ago, the oldest first.

    With `keep_under` only as many as it takes until the store has at most so many bytes; with
    `status` only runs that ended so (`STOPPED` by default). At least one of the three must be
    given. A run stays while a fork that stays shares its lines, while a worker has claimed it, and
    while a message waits in its inbox. Raises `ConfigError` where the store cannot forget.
    """
    if older is None and keep_under is None and status is None:
        message = "say what may go: an age, a size or a status"
        raise ConfigError(message)
    async with store_at(store) as opened:
        if not isinstance(opened, Deletes):
            name = type(unguarded(opened)).__name__
            message = f"{name} cannot forget runs: it has no `forget` and `size`"
            raise ConfigError(message)
        runs = {info.run_id: known(info) for info in await opened.runs()}
        runs = {run_id: await _own(opened, runs, run) for run_id, run in runs.items()}
        before = float("inf") if older is None else clock() - older * 1000
        chosen, kept = _chosen(runs, STOPPED if status is None else status, before)
        sweep = _Sweep(opened, opened, runs, chosen, keep_under, on_run, kept=kept)
        if dry_run:
            sweep.weights = await _weights(opened, runs, await opened.size())
        return await sweep.run()


async def _own(store: Store, runs: dict[str, ListedRun], run: ListedRun) -> ListedRun:
    """The run, as one of no family where it came from outside, and the one it names did not."""
    parent = run.parent if run.parent in runs else ""
    if not parent or not await foreign_entries(store, run.run_id):
        return run
    return run if await foreign_entries(store, parent) else replace(run, parent="")


def _chosen(
    runs: dict[str, ListedRun], status: Collection[RunState], before: float
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The families whose root ended so, and of which nothing was written since.

    A sub-run whose root is gone is taken up by nobody: it goes whatever became of it. Also says
    which roots would go but for a sub-run, and why.
    """
    by_reason: dict[str, list[str]] = {}
    kept: dict[str, str] = {}
    for root, members in families(runs).items():
        lonely = bool(runs[root].parent)
        if not lonely and runs[root].standing not in status:
            continue
        if runs[root].standing == "unreadable" or runs[root].at >= before:
            continue
        unread = [member for member in members if runs[member].standing == "unreadable"]
        since = [member for member in members if runs[member].at >= before]
        if unread:
            kept[root] = f"run {unread[0]!r}, which says that it serves it, cannot be read"
        elif since:
            kept[root] = f"run {since[0]!r}, which says that it serves it, was written to since"
        else:
            by_reason[root] = members
    return by_reason, kept


@dataclass(slots=True)
class _Weights:
    """What a run takes: the bytes of its own lines, the blobs it names, and how many name each.

    `scale` is what the store really takes for a byte of all that.
    """

    lines: dict[str, int] = field(default_factory=dict[str, int])
    blobs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    named: Counter[str] = field(default_factory=Counter[str])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    scale: float = 1.0

    def without(self, run_id: str) -> int:
        """Take a run out; how many bytes go with it."""
        going = self.lines[run_id]
        for digest in self.blobs[run_id]:
            self.named[digest] -= 1
            going += 0 if self.named[digest] else self.sizes[digest]
        return round(going * self.scale)


async def _weights(store: Store, runs: dict[str, ListedRun], full: int) -> _Weights:
    """Weigh every run, for a dry run: blobs go only with the last run that has them."""
    weights = _Weights()
    for run_id, run in runs.items():
        lines = await store.read(run_id)
        own = lines[run.base.seq :] if run.base else lines
        weights.lines[run_id] = sum(len(line.body) + len(line.hash) + OVERHEAD for line in own)
        starts = {base.seq + 1 for base in bases(runs, run_id)}
        mine = {line.seq for line in own}
        digests = set[str]()
        with suppress(StoreError):  # of what cannot be read nothing goes
            for line, event in events(lines, starts):
                digests.update(blobs_of(event) if line.seq in mine else ())
        for digest in digests - weights.sizes.keys():
            weights.sizes[digest] = len(await store.blob(digest))
        weights.blobs[run_id] = digests
        weights.named.update(digests)
    if weighed := sum(weights.lines.values()) + sum(weights.sizes.values()):
        weights.scale = full / weighed
    return weights


@dataclass(slots=True)
class _Sweep:
    """One pass over the chosen families, oldest first, each as soon as no fork needs it."""

    store: Store
    prunes: Deletes
    runs: dict[str, ListedRun]
    chosen: dict[str, list[str]]
    keep_under: int | None
    on_run: OnRun | None
    weights: _Weights | None = None
    removed: list[str] = field(default_factory=list[str])
    freed: int = 0
    kept: dict[str, str] = field(default_factory=dict[str, str])
    failed: list[Remark] = field(default_factory=list[Remark])
    sharers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    roots: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for run_id, run in self.runs.items():
            if run.base is not None:
                self.sharers.setdefault(run.base.run_id, set()).add(run_id)
        for root, members in self.chosen.items():
            self.roots |= dict.fromkeys(members, root)

    async def run(self) -> GcReport:
        """Do it; what is still in the way of a fork's base in the end is told."""
        full = await self.prunes.size()
        ready = [(self._age(root), root) for root in self.chosen if not self._forks(root)]
        heapq.heapify(ready)
        while ready and not await self._enough(full):
            _, root = heapq.heappop(ready)
            if await self._remove(root):
                for base in self._drop_family(root):
                    heapq.heappush(ready, (self._age(base), base))
        if self.keep_under is None or not await self._enough(full):
            for root in self.chosen:
                if root in self.runs and (forks := self._forks(root)):
                    fork = min(forks)
                    came = ", which came from outside," * bool(
                        await foreign_entries(self.store, fork)
                    )
                    self.kept[root] = f"its fork {fork!r}{came} stays and shares its lines"
        if self.weights is None:
            self.freed = max(full - await self.prunes.size(), 0)
        kept = tuple(Remark(*one) for one in self.kept.items())
        return GcReport(tuple(self.removed), self.freed, kept, tuple(self.failed))

    def _age(self, root: str) -> int:
        return max(self.runs[member].at for member in self.chosen[root])

    def _forks(self, root: str) -> set[str]:
        """The runs outside of a family that share lines of it."""
        members = self.chosen[root]
        none: set[str] = set()
        return none.union(*(self.sharers.get(member, none) for member in members)) - {*members}

    def _drop_family(self, root: str) -> list[str]:
        """Take a removed family out of the runs; the chosen ones that no fork needs any more."""
        free: list[str] = []
        for member in self.chosen[root]:
            base = self.runs.pop(member).base
            if base is None:
                continue
            self.sharers[base.run_id].discard(member)
            other = self.roots.get(base.run_id)
            if other is not None and other in self.runs and not self._forks(other):
                free.append(other)
        return free

    async def _enough(self, full: int) -> bool:
        if self.keep_under is None:
            return False
        left = full - self.freed if self.weights is not None else await self.prunes.size()
        return left <= self.keep_under

    async def _remove(self, root: str) -> bool:
        """Forget a family, its root first: what a kill leaves of it goes the next time."""
        claims = self.store if isinstance(self.store, Locks) else None
        lock = await claim(claims, root) if claims is not None else None
        if claims is not None and lock is None:
            self.kept[root] = "a worker has claimed it"
            return False
        try:
            if why := await self._needed(root):
                self.kept[root] = why
                return False
            for member in self.chosen[root]:
                if self.weights is not None:
                    self.freed += self.weights.without(member)
                else:
                    await self.prunes.forget(member)
                self.removed.append(member)
        except StoreError as error:
            self.failed.append(Remark(root, str(error)))
            return False
        finally:
            if claims is not None and lock is not None:
                await claims.release(lock)
        if self.on_run is not None:
            self.on_run(len(self.removed), sum(map(len, self.chosen.values())), root)
        return True

    async def _needed(self, root: str) -> str:
        """Why a family is not done with after all; somebody may have written meanwhile."""
        for member in self.chosen[root]:
            if await self.store.inbox(member):
                return "a message waits in its inbox"
            if await self.store.read(member, self.runs[member].entries):
                return "it was written to just now"
        return ""
