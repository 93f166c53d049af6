"""A worker: it looks what is due in its queue, claims it, and has it carried, several at once."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio
import anyio.abc

from clew.agent.foreign import family, trust
from clew.agent.wake_times import is_woken
from clew.concurrency.tasks import one_error
from clew.core.journal import load
from clew.core.stores import RunInfo
from clew.stores.listing import stops
from clew.stores.locks import SharedStore, claim, fingerprint_of, release_quietly
from clew.support.errors import StoreError
from clew.support.resources import resources
from clew.workers.backoff import Backoff
from clew.workers.config import OnWorkerEvent, WorkerConfig
from clew.workers.day_budget import DayBudget
from clew.workers.poller import Poller
from clew.workers.run_one import RunOutcome
from clew.workers.worker_log import WorkerLog


class RunExecutor(Protocol):
    """What carries the runs that a worker has claimed: its own process, or others."""

    async def carry(self, run: RunInfo, lock: str, worker: "Worker") -> RunOutcome:
        """Carry a run until it stops, or its step ends after the worker was told to leave.

        `lock` is to be released, and `worker.taken` called.
        """
        ...

    async def prepare(self, run: RunInfo) -> None:
        """Make the agent of a run that another worker has, should it come to this one."""
        ...


class Worker:
    """One worker over a store; `serve` is to be called once.

    `working` are the runs at hand. What else it keeps is what it saw when it last looked, and can
    be lost: what is due stands in the store.
    """

    def __init__(
        self, store: SharedStore, config: WorkerConfig, carrier: RunExecutor,
        on_event: OnWorkerEvent,
        leaving: anyio.Event,
    ) -> None:  # fmt: skip
        self.store = store
        self.config = config
        self.leaving = leaving
        self.working: set[str] = set()
        self._carrier = carrier
        self._waiting: deque[RunInfo] = deque()
        self._elsewhere: set[str] = set()
        self._over: set[str] = set()
        self._take_over = config.take_over
        self._settled: dict[str, int] = {}
        self._foreseen: set[str] = set()
        self._events = WorkerLog(on_event)
        self._poller = Poller(store, config, self._events, leaving)
        self._pauses = Backoff()
        self._budget = DayBudget(store, config, self._events)

    async def serve(self) -> None:
        """Run until shutdown is requested or the queue is empty; each run stops after its step.

        Cancelled, it breaks off: what was not recorded is lost, and the runs are open. Raises as
        `work` does.
        """
        async with self._poller.named(), self._budgeted(), resources():
            with one_error():
                async with anyio.create_task_group() as group:

                    async def look() -> bool | None:
                        return await self._look(group)

                    await self._poller.poll(look, self._is_known)

    async def may_step(self) -> bool:
        """Whether the queue has something left to spend today. Raises `StoreError`."""
        return await self._budget.allows()

    @asynccontextmanager
    async def _budgeted(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await self._budget.release()

    def taken(self, run_id: str, goal: str) -> None:
        """Tell that a run was taken up."""
        self._events.tell("taken", run_id, goal)

    def _is_known(self, run_id: str) -> bool:
        return run_id in self.working or run_id in self._elsewhere

    async def _look(self, group: anyio.abc.TaskGroup) -> bool | None:
        """Begin what is due, while a hand is free; say whether anything is at work, or was begun.

        The store is asked where there is nothing to go on with; None says that it was not.
        """
        ask = len(self.working) < self.config.at_once and not (self._waiting and self._poller.fresh)
        if ask:
            await self._ask()
        begun = await self._take(group)
        self._poller.backlog = bool(self._waiting)
        return begun or bool(self.working) if ask else None

    async def _ask(self) -> None:
        with self._poller.timed():
            due = await self._poller.due()
        self._elsewhere.clear()
        self._waiting = deque(due)
        here = {run.run_id for run in due}
        self._settled = {key: seq for key, seq in self._settled.items() if key in here}
        if self._take_over:
            self._over, self._take_over = here, False

    async def _take(self, group: anyio.abc.TaskGroup) -> bool:
        """Claim and begin what waits, while a hand is free; say whether anything was begun."""
        begun = False
        if self._waiting and not await self.may_step():
            self._waiting.clear()
        while self._waiting and len(self.working) < self.config.at_once:
            run = self._waiting.popleft()
            now = anyio.current_time()
            if run.run_id in self.working or self._pauses.rests(run.run_id, now, run.entries):
                continue
            try:
                lock = await self._claimed(run)
            except StoreError as error:
                self._fail(run.run_id, str(error))
                continue
            if lock is None:
                self._elsewhere.add(run.run_id)
                await self._foresee(run)
            else:
                self.working.add(run.run_id)
                group.start_soon(self._work, run, lock)
                begun = True
        return begun

    async def _foresee(self, run: RunInfo) -> None:
        """Make the agent of a run that another works on: what that takes, a killed worker's run
        need not wait for.
        """
        if self.working or (mark := fingerprint_of(run)) in self._foreseen:
            return
        self._foreseen.add(mark)
        with suppress(Exception):  # what is wrong with it is told when the run is due here
            await self._carrier.prepare(run)

    async def _claimed(self, run: RunInfo) -> str | None:
        """Claim a run if it is still due: the lock to release in the end."""
        seen = self._settled.get(run.run_id) == run.entries and not is_woken(run.last)
        if seen and not await self._spoken_to(run):
            return None
        over = run.run_id in self._over
        self._over.discard(run.run_id)
        lock = await claim(self.store, run.run_id, take_over=over)
        if lock is None:
            return None
        due = False
        try:
            last = (await self.store.read(run.run_id, run.entries) or [run.last])[-1]
            due = not stops(last.body) or is_woken(last) or await self._spoken_to(run)
        finally:
            if not due:  # another worker was faster
                await release_quietly(self.store, lock)
        return lock if due else None

    async def _spoken_to(self, run: RunInfo) -> bool:
        return bool(await self.store.inbox(run.run_id))

    async def _work(self, run: RunInfo, lock: str) -> None:
        """Have one run carried; whatever becomes of it, the worker goes on."""
        try:
            if not self.config.trust_origin or await self._trusted(run, lock):
                self._settle(run, await self._carrier.carry(run, lock, self))
        finally:
            self.working.discard(run.run_id)
            self._poller.wake()

    async def _trusted(self, run: RunInfo, lock: str) -> bool:
        """Take a run that came from outside for one's own; False, told, where that cannot be."""
        try:
            record = await load(self.store, run.run_id)
            if record.foreign:
                await trust(self.store, *await family(self.store, record))
        except StoreError as error:
            await release_quietly(self.store, lock)
            self._fail(run.run_id, str(error))
            return False
        return True

    def _settle(self, run: RunInfo, outcome: RunOutcome) -> None:
        """Tell what became of a run, and see that it is not taken up again to no avail."""
        run_id, now = run.run_id, anyio.current_time()
        match outcome.what:
            case "lost":
                self._pauses.fenced(run_id, now, run.entries)
                self._events.warn("lost", run_id, outcome.text)
            case "refused":
                self._pauses.failed(run_id, now)
                self._events.refuse(run_id, outcome.text)
            case "failed":
                self._fail(run_id, outcome.text, moved=outcome.moved)
            case "left":
                self._pauses.forget(run_id)
                self._events.tell("left", run_id, outcome.text)
            case "ended":
                self._pauses.forget(run_id)
                self._settled[run_id] = outcome.entries  # what came after the stop changed nothing
                if outcome.text:
                    self._events.tell("ended", run_id, outcome.text)

    def _fail(self, run_id: str, why: str, *, moved: bool = False) -> None:
        seconds = self._pauses.failed(run_id, anyio.current_time(), moved=moved)
        again = "" if self.config.until_idle else f" (it is tried again in {seconds:.0f} s)"
        self._events.warn("failed", run_id, f"{why}{again}")
