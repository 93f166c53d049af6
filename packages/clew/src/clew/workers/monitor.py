"""How runs stand: waiting for a worker, working, or how they stopped."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew.agent.labels import load_of
from clew.core.codes import Status
from clew.core.journal import load
from clew.core.stores import RunInfo, Store
from clew.stores import Where, store_at
from clew.stores.interface import Locks
from clew.stores.listing import summary
from clew.stores.locks import claim, queue_of, shared
from clew.support.errors import StoreError
from clew.workers.day_budget import is_spent

Standing: TypeAlias = Literal["waiting", "working", "spent"] | Status
"""The state of a run: waiting for a worker, being worked on, or how it stopped.

"spent" is one that waits for the next day, since its queue has spent what it may in this one.
"""


async def status(run_id: str, *, store: Where = None, owner: str | None = None) -> Standing:
    """The state of a submitted run. Raises `StoreError` if it is unknown.

    With an `owner`, another's run is not found.
    """
    async with store_at(store) as opened:
        state = shared(opened)
        record = await load_of(state, run_id, owner)
        if record.stop is not None and not await state.inbox(run_id):
            return record.stop.status
        return await _claimed(state, run_id, queue_of(record))


async def _claimed(store: Locks, run_id: str, queue: str) -> Literal["waiting", "working", "spent"]:
    """Whether somebody works on a run: whether it can be claimed tells."""
    lock = await claim(store, run_id)
    if lock is None:
        return "working"
    await store.release(lock)
    return "spent" if queue and await is_spent(store, queue) else "waiting"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of a run; "open" is one that has not stopped and is in no queue."""

    run_id: str
    standing: Standing | Literal["open", "unreadable"]
    entries: int
    queue: str
    question: str


class Monitor:
    """Watches the last `max_runs` runs of a store (0: all).

    It keeps what it has read of runs that have not changed since.
    """

    def __init__(self, store: Store, max_runs: int = 0) -> None:
        self._store = store
        self._max_runs = max(max_runs, 0)
        self._stops: dict[str, tuple[int, Status | None]] = {}

    async def rows(self) -> list[RunStatus]:
        """The current state of the runs, last written first."""
        store = self._store
        infos = await store.runs(self._max_runs)
        due = {run.run_id for run in await store.due()} if isinstance(store, Locks) else None
        return [await self._row(info, due) for info in infos]

    async def _row(self, info: RunInfo, due: set[str] | None) -> RunStatus:
        queue = queue_of(info)
        if (run := summary(info)) is None:
            return RunStatus(info.run_id, "unreadable", info.entries, queue, "")
        standing: Standing | Literal["open", "unreadable"] = "unreadable"
        if run.stop is not None and (due is None or info.run_id not in due):
            standing = run.stop.status
        else:
            with suppress(StoreError):  # damaged, or forgotten just now
                standing = await self._due_standing(info, queue)
        return RunStatus(info.run_id, standing, info.entries, queue, run.started.goal)

    async def _due_standing(self, info: RunInfo, queue: str) -> Standing | Literal["open"]:
        """Of a run that may be due."""
        store = self._store
        if not await store.inbox(info.run_id):
            read, stopped = self._stops.get(info.run_id, (0, None))
            if read != info.entries:  # what came after its stop may change nothing
                record = await load(store, info.run_id)
                stopped = record.stop.status if record.stop is not None else None
                self._stops[info.run_id] = (len(record), stopped)
            if stopped is not None:
                return stopped
        if not queue or not isinstance(store, Locks):
            return "open"
        return await _claimed(store, info.run_id, queue)
