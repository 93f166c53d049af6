"""What a queue may spend in a day, over all its workers.

What it spent is read off the records, where each step stands before the next is asked for: nothing
is kept beside them that could be lost or be wrong. So a queue is over by what is in flight when it
is spent, and by no more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import anyio

from clew.core.journal import stored, wall_clock
from clew.core.stores import RunInfo
from clew.core.trajectory import Trajectory
from clew.stores.interface import Locks
from clew.stores.listing import stops
from clew.stores.locks import SharedStore, queue_of, release_quietly
from clew.support.errors import StoreError
from clew.workers.config import WorkerConfig
from clew.workers.worker_log import WorkerLog

_DAY: Final = 86_400_000
_PAGE: Final = 64
_SKEW: Final = 60_000
"""Milliseconds by which the clocks of two machines may differ."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens, and US dollars as far as they are known; `unpriced` tokens have no known cost."""

    tokens: int = 0
    cost: float = 0.0
    unpriced: bool = False

    def __add__(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            self.tokens + other.tokens, self.cost + other.cost, self.unpriced or other.unpriced
        )


@dataclass(slots=True)
class _Run:
    """How far a run was read, what it has spent today, and, while it is open, its record."""

    entries: int = 0
    today: Spent = Spent()
    earlier: Spent = Spent()
    record: Trajectory | None = None


@dataclass(slots=True)
class DaySpending:
    """What the runs of a queue have spent since midnight UTC. It reads what is new of each run."""

    store: SharedStore
    queue: str
    now: Callable[[], int] = wall_clock
    _day: int = -1
    _looked: int = 0
    _runs: dict[str, _Run] = field(default_factory=dict[str, _Run])

    async def spent(self) -> Spent:
        """All of it until now. Raises `StoreError`."""
        now = self.now()
        if (day := now - now % _DAY) != self._day:
            self._day, self._looked, self._runs = day, day, {}
        for info in await self._written(max(day, self._looked - _SKEW)):
            run = self._runs.setdefault(info.run_id, _Run())
            if run.entries != info.entries and queue_of(info) == self.queue:
                await self._read(info, run)
        self._looked = now
        return sum((run.today for run in self._runs.values()), Spent())

    async def _written(self, since: int) -> list[RunInfo]:
        """The runs that were written since, of one look at the store: pages could miss some."""
        limit = _PAGE
        while True:
            infos = await self.store.runs(limit)
            if len(infos) < limit or infos[-1].last.at < since:
                return [info for info in infos if info.last.at >= since]
            limit *= 4

    async def _read(self, info: RunInfo, run: _Run) -> None:
        record = run.record or Trajectory(info.run_id)
        try:
            for entry in await stored(self.store, info.run_id, len(record), None):
                record.add(entry)
                if entry.at < self._day:
                    run.earlier = _total(record)
        except StoreError:  # damaged, or forgotten just now: it does not stop the others
            return
        total, earlier = _total(record), run.earlier
        run.today = Spent(total.tokens - earlier.tokens, total.cost - earlier.cost, total.unpriced)
        run.entries = len(record)
        run.record = None if stops(info.last.body) else record


def _total(record: Trajectory) -> Spent:
    total = record.total
    return Spent(total.tokens, total.cost, (total.usage + total.lost).unpriced)


def _lock(queue: str) -> str:
    return f"spent:{queue}"


async def is_spent(store: Locks, queue: str) -> bool:
    """Whether a worker of the queue waits for the next day, since the queue is spent."""
    if await store.claim(_lock(queue)):
        await store.release(_lock(queue))
        return False
    return True


class DayBudget:
    """Whether the queue of a worker may take another step today.

    While it is spent, the worker holds a claim, by which other processes know of it.
    """

    def __init__(
        self, store: SharedStore, config: WorkerConfig, events: WorkerLog,
        now: Callable[[], int] = wall_clock,
    ) -> None:  # fmt: skip
        self._store = store
        self._config = config
        self._events = events
        self._now = now
        self._spending = DaySpending(store, config.queue, now)
        self._lock = anyio.Lock()
        self._until = 0
        self._claimed = False
        self._told_unpriced = False

    async def allows(self) -> bool:
        """Whether a step may begin. Raises `StoreError`."""
        config = self._config
        if config.day_cost is None and config.day_tokens is None:
            return True
        async with self._lock:
            if self._until <= (now := self._now()):
                await self.release()
                self._until = 0
                if (why := self._exceeded(await self._spending.spent())) != "":
                    self._until = now - now % _DAY + _DAY
                    next_day = datetime.fromtimestamp(self._until / 1000, UTC)
                    text = f"{why} today: no step begins before {next_day:%Y-%m-%d %H:%M} UTC"
                    self._events.warn("spent", "", f"the queue {config.queue!r} has spent {text}")
            if self._until and not self._claimed:
                self._claimed = await self._store.claim(_lock(config.queue))
            return not self._until

    async def release(self) -> None:
        """Let go of the claim, if it is held."""
        if self._claimed:
            self._claimed = False
            await release_quietly(self._store, _lock(self._config.queue))

    def _exceeded(self, spent: Spent) -> str:
        """What is spent, or ""."""
        cost, tokens = self._config.day_cost, self._config.day_tokens
        if cost is not None and spent.unpriced and not self._told_unpriced:
            self._told_unpriced = True
            text = "some tokens have no known price: bound them with day_tokens (--day-tokens)"
            self._events.warn("unpriced", "", f"the queue {self._config.queue!r}: {text}")
        if tokens is not None and spent.tokens >= tokens:
            return f"{spent.tokens} of {tokens} tokens"
        if cost is not None and spent.cost >= cost:
            return f"${spent.cost:.4f} of ${cost:.4f}"
        return ""
