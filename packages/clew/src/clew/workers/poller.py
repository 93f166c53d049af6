"""When a worker looks at its store: now and then, and at once when the store tells of news."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

import anyio

from clew.agent.wake_times import WakeTimes
from clew.concurrency.tasks import one_error
from clew.core.stores import RunInfo
from clew.stores.interface import Notifies
from clew.stores.locks import SharedStore, queue_of, release_quietly
from clew.support.errors import ConfigError, StoreError
from clew.workers.backoff import Backoff
from clew.workers.config import WorkerConfig
from clew.workers.priorities import priority_of, waiting_since
from clew.workers.worker_log import WorkerLog

LOG: Final = logging.getLogger("clew")

_STORE: Final = 5.0  # seconds at most from one try to the next at a store that fails
_TRIES: Final = 5  # who looks whether a worker is alive has the claim of its name for an instant


@dataclass(frozen=True, slots=True)
class PollInterval:
    """Seconds from one look to the next: at most, and at least.

    `share` times what a look took is the least too, so that looking stays cheap.
    """

    max_seconds: float = 0.1
    min_seconds: float = 0.0
    share: float = 5.0


class Poller:
    """Calls a worker's `look` while it serves; the worker is known to others by its name."""

    def __init__(
        self, store: SharedStore, config: WorkerConfig, events: WorkerLog, leaving: anyio.Event,
        pace: PollInterval = PollInterval(),
    ) -> None:  # fmt: skip
        self.store = store
        self.config = config
        self.events = events
        self.leaving = leaving
        self.backlog = False
        """Whether `look` has something to do for which it need not ask the store."""
        self._pace = pace
        self._queued: dict[str, tuple[str, int]] = {}
        """The queue and the priority of each run that was due."""
        self._pauses = Backoff()
        self._asked = -pace.max_seconds
        self._took = 0.0
        self._times = WakeTimes(store)
        self._wake = anyio.Event()

    def wake(self) -> None:
        """Have it look soon: something may be due."""
        self._wake.set()

    @property
    def fresh(self) -> bool:
        """Whether the store was asked just now."""
        return anyio.current_time() - self._asked < max(self._pace.max_seconds, self._min_seconds)

    @property
    def _min_seconds(self) -> float:
        return max(self._pace.min_seconds, self._pace.share * self._took)

    @contextmanager
    def timed(self) -> Generator[None]:
        """Count what is done meanwhile as a question to the store."""
        began = anyio.current_time()
        yield
        self._asked = anyio.current_time()
        self._took = self._asked - began

    async def due(self) -> list[RunInfo]:
        """The runs of the queue that are due, in the order in which they are to be taken up."""
        due, known = [*await self.store.due(), *await self._times.woken()], self._queued
        self._queued = queued = {
            run.run_id: known.get(run.run_id) or (queue_of(run), priority_of(run)) for run in due
        }
        mine = [run for run in due if queued[run.run_id][0] == self.config.queue]
        return sorted(mine, key=lambda run: waiting_since(run, queued[run.run_id][1]))

    @asynccontextmanager
    async def named(self) -> AsyncGenerator[None]:
        """Hold the claim on the worker's name.

        Raises `ConfigError` where another worker has it, `StoreError` where the store cannot be
        used.
        """
        name = f"worker:{self.config.name}"
        for _ in range(_TRIES):
            if await self.store.claim(name):
                break
            await anyio.sleep(0.1)
        else:
            called = repr(self.config.name)
            message = f"there is a worker {called} at this store: choose another name"
            raise ConfigError(message)
        try:
            await self.store.due()
            yield
        finally:
            await release_quietly(self.store, name)

    async def poll(
        self,
        look: Callable[[], Awaitable[bool | None]],
        known: Callable[[str], bool],
        how: str = "",
    ) -> None:
        """Call `look` until told to leave, or idle.

        `look` says whether anything is left to do here, None where it did not ask. News of `known`
        runs are no reason to look. `how` is added to what is told at the beginning.
        """
        where = f"{self.config.name} serves the queue {self.config.queue!r}"
        self.events.tell("serving", text=where + how)
        with one_error():
            async with anyio.create_task_group() as group:
                group.start_soon(self._await_leaving)
                if isinstance(self.store, Notifies):
                    group.start_soon(self._listen, self.store, known)
                await self._poll(look)
                group.cancel_scope.cancel()

    async def _await_leaving(self) -> None:
        await self.leaving.wait()
        self.wake()

    async def _listen(self, store: Notifies, known: Callable[[str], bool]) -> None:
        """Look as soon as the store tells that something was written; it is looked at anyhow."""
        while True:
            try:
                async with store.wakes() as woken:
                    async for run_id in woken:
                        if not known(run_id):
                            self.wake()
            except StoreError as error:
                LOG.info("the store tells of nothing now (%s)", error)
            await anyio.sleep(self._pace.max_seconds)

    async def _poll(self, look: Callable[[], Awaitable[bool | None]]) -> None:
        quiet = 0
        while not self.leaving.is_set():
            try:
                left = await look()
            except StoreError as error:
                seconds = self._pauses.failed("", anyio.current_time(), max_delay=_STORE)
                again = f"it is looked at again in {seconds:.0f} s"
                self.events.warn("failed", "", f"{error} ({again})")
                with anyio.move_on_after(seconds):
                    await self.leaving.wait()
                quiet = 0
                continue
            self._pauses.forget("")
            quiet = quiet + 1 if left is False else 0
            if self.config.until_idle and quiet > 1:  # once, a claim may have been tried elsewhere
                return
            await self._wait_for_news()

    async def _wait_for_news(self) -> None:
        """Wait for news, or for the time of the next look, which is not to come at once."""
        with anyio.move_on_after(max(self._pace.max_seconds, self._min_seconds)):
            await self._wake.wait()
        self._wake = anyio.Event()
        rest = self._asked + self._min_seconds - anyio.current_time()
        if not self.backlog and rest > 0:
            with anyio.move_on_after(rest):
                await self.leaving.wait()
