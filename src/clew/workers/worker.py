"""A worker: it looks what is due in its queue, claims it, and carries it, several runs at once."""

import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.abc

from clew.core.agent import Agent
from clew.core.errors import ConfigError, FencedError, ModelError, StoreError, one_error
from clew.core.events import Entry, Thought
from clew.core.interfaces import Notifies, RunInfo
from clew.core.journal import load
from clew.core.trajectory import Trajectory
from clew.stores.file_locks import stops
from clew.workers.backoff import Pauses
from clew.workers.driver import QUEUE, OnWorkerEvent, ignore_event, own_name
from clew.workers.gate import Gate
from clew.workers.locks import Shared, claim, fingerprint_of, let_go, queue_of
from clew.workers.run_one import Agents, carry
from clew.workers.worker_log import WorkerLog, described

LOG: Final = logging.getLogger("clew")

LOOK: Final = 0.1
"""Seconds from one look at the store to the next: so long waits a run whose worker was killed."""

_SHARE: Final = 5.0  # times what a look took: the least pause to the next, so that it stays cheap
_STORE: Final = 5.0  # seconds at most from one try to the next at a store that fails


@dataclass(frozen=True, slots=True)
class Orders:
    """How a worker is to work; `serving.Serving` says what each means."""

    agents: Agents
    queue: str = QUEUE
    at_once: int = 8
    name: str = field(default_factory=own_name)
    until_idle: bool = False
    take_over: bool = False
    tell: OnWorkerEvent = ignore_event

    def __post_init__(self) -> None:
        """Refuse what can only be a mistake."""
        if self.at_once < 1:
            message = f"at_once is {self.at_once}: give 1 or more"
            raise ConfigError(message)
        if not self.queue or not self.name:
            message = "a queue and a worker need names: leave them out for the usual ones"
            raise ConfigError(message)


class _Moves:
    """A listener that knows whether a run got on."""

    def __init__(self) -> None:
        self.thought = False

    def token(self, text: str) -> None:
        """A piece of a reply is not yet a thought."""

    def entry(self, entry: Entry) -> None:
        """A thought was recorded: the model answers."""
        self.thought = self.thought or isinstance(entry.event, Thought)


class Worker:
    """One worker over a store; `serve` is to be called once.

    `working` are the runs at hand. What else it keeps is what it saw when it last looked, and can
    be lost: what is due stands in the store.
    """

    def __init__(self, store: Shared, orders: Orders) -> None:
        self.store = store
        self.orders = orders
        self.working: set[str] = set()
        self._waiting: deque[RunInfo] = deque()
        self._elsewhere: set[str] = set()
        self._over: set[str] = set()
        self._queues: dict[str, str] = {}
        self._settled: dict[str, int] = {}
        self._foreseen: set[str] = set()
        self._voice = WorkerLog(orders.tell)
        self._pauses = Pauses()
        self._gate = Gate()
        self._looked = -1.0
        self._took = 0.0
        self._wake = anyio.Event()
        self._leaving = anyio.Event()

    def look(self) -> None:
        """Have it look soon: something may be due."""
        self._waiting.clear()
        self._wake.set()

    async def serve(self, leaving: anyio.Event) -> None:
        """Work until told to leave, or idle; then leave each run where its step ends.

        Cancelled, it breaks off: what was not recorded is lost, and the runs are open. Raises
        `ConfigError` where another worker has its name, `StoreError` where the store cannot be
        used to begin with.
        """
        self._leaving = leaving
        name = f"worker:{self.orders.name}"
        if not await self.store.claim(name):
            message = f"there is a worker {self.orders.name!r} at this store: choose another name"
            raise ConfigError(message)
        try:
            await self._look(first=True)
            self._voice.tell(
                "serving", text=f"{self.orders.name} serves the queue {self.orders.queue!r}"
            )
            with one_error():
                async with anyio.create_task_group() as group:
                    group.start_soon(self._told_to_leave)
                    if isinstance(self.store, Notifies):
                        group.start_soon(self._hear, self.store)
                    await self._go_on(group)
                    group.cancel_scope.cancel()
        finally:
            await let_go(self.store, name)

    async def _told_to_leave(self) -> None:
        await self._leaving.wait()
        self._wake.set()

    async def _hear(self, store: Notifies) -> None:
        """Look as soon as the store tells that something was written; it is looked at anyhow."""
        while True:
            try:
                async with store.wakes() as woken:
                    async for run_id in woken:
                        if run_id not in self.working and run_id not in self._elsewhere:
                            self._wake.set()
            except StoreError as error:
                LOG.info("the store tells of nothing now (%s)", error)
            await anyio.sleep(LOOK)

    async def _go_on(self, group: anyio.abc.TaskGroup) -> None:
        quiet = 0
        while not self._leaving.is_set():
            fresh = await self._look()
            begun = await self._take(group)
            quiet = quiet + 1 if fresh and not begun and not self.working else 0
            if self.orders.until_idle and quiet > 1:  # once, a claim may have been tried elsewhere
                return
            await self._pause()
        while self.working:
            await self._woken()

    async def _pause(self) -> None:
        """Wait for news, or for the time of the next look, which is not to come at once."""
        with anyio.move_on_after(max(LOOK, _SHARE * self._took)):
            await self._woken()
        rest = self._looked + _SHARE * self._took - anyio.current_time()
        if not self._waiting and rest > 0:
            with anyio.move_on_after(rest):
                await self._leaving.wait()

    async def _woken(self) -> None:
        await self._wake.wait()
        self._wake = anyio.Event()

    async def _look(self, *, first: bool = False) -> bool:
        """Ask the store what is due, where a hand is free and there is nothing to go on with.

        Says whether it was asked.
        """
        now = anyio.current_time()
        known = self._waiting and now - self._looked < max(LOOK, _SHARE * self._took)
        full = len(self.working) >= self.orders.at_once
        if known or full or self._pauses.rests("", now, 0):
            return False
        try:
            due = await self.store.due()
        except StoreError as error:
            if first:
                raise
            seconds = self._pauses.failed("", now, most=_STORE)
            self._voice.warn("failed", "", f"{error} (it is looked at again in {seconds:.0f} s)")
            return False
        self._pauses.forget("")
        self._elsewhere.clear()
        self._waiting = deque(filter(self._ours, due))
        there = {run.run_id for run in due}
        self._queues = {key: name for key, name in self._queues.items() if key in there}
        self._settled = {key: seq for key, seq in self._settled.items() if key in there}
        if first and self.orders.take_over:
            self._over = {run.run_id for run in self._waiting}
        self._looked = anyio.current_time()
        self._took = self._looked - now
        return True

    def _ours(self, run: RunInfo) -> bool:
        queue = self._queues.get(run.run_id)
        if queue is None:
            queue = self._queues[run.run_id] = queue_of(run)
        return queue == self.orders.queue

    async def _take(self, group: anyio.abc.TaskGroup) -> bool:
        """Claim and begin what waits, while a hand is free; say whether anything was begun."""
        begun = False
        while self._waiting and len(self.working) < self.orders.at_once:
            run = self._waiting.popleft()
            now = anyio.current_time()
            if run.run_id in self.working or self._pauses.rests(run.run_id, now, run.entries):
                continue
            try:
                lock = await self._claimed(run)
            except StoreError as error:
                self._fail(run.run_id, error)
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
        with suppress(
            Exception
        ):  # whatever is wrong with it: that is told when the run is due here
            await self.orders.agents(await load(self.store, run.run_id))

    async def _claimed(self, run: RunInfo) -> str | None:
        """Claim a run if it is still due: the lock to release in the end."""
        if self._settled.get(run.run_id) == run.entries and not await self._spoken_to(run):
            return None
        over = run.run_id in self._over
        self._over.discard(run.run_id)
        lock = await claim(self.store, run.run_id, take_over=over)
        if lock is None:
            return None
        due = False
        try:
            since = await self.store.read(run.run_id, run.entries)
            ended = stops((since[-1] if since else run.last).body)
            due = not ended or await self._spoken_to(run)
        finally:
            if not due:  # another worker was faster
                await let_go(self.store, lock)
        return lock if due else None

    async def _spoken_to(self, run: RunInfo) -> bool:
        return bool(await self.store.inbox(run.run_id))

    async def _work(self, run: RunInfo, lock: str) -> None:
        """Carry one run; whatever becomes of it, the worker goes on."""
        moves = _Moves()
        try:
            await self._carry(run, moves)
        except FencedError as error:
            self._pauses.fenced(run.run_id, anyio.current_time(), run.entries)
            self._voice.warn("lost", run.run_id, str(error))
        except ConfigError as error:
            self._refuse(run.run_id, str(error))
        except (ModelError, StoreError) as error:
            self._fail(run.run_id, error, moved=moves.thought)
        except Exception as error:
            LOG.exception("run %s: a part of its agent failed", run.run_id)
            self._fail(run.run_id, error, moved=moves.thought)
        finally:
            await let_go(self.store, lock)
            self.working.discard(run.run_id)
            self._wake.set()

    async def _carry(self, run: RunInfo, moves: _Moves) -> None:
        record = await load(self.store, run.run_id)
        if record.stop is not None and not await self._spoken_to(run):
            self._settled[run.run_id] = len(record)  # what came after the stop changed nothing
            return
        agent = await self.orders.agents(record)

        async def found(_: Trajectory) -> Agent:
            return agent

        self._voice.tell("taken", run.run_id, record.goal)
        leaving = self._leaving.is_set
        done = await carry(
            found, self.store, run.run_id, listener=moves, leaving=leaving, gate=self._gate
        )
        self._pauses.forget(run.run_id)
        if done.stop is None:
            self._voice.tell("left", run.run_id, "for other workers")
        else:
            self._settled[run.run_id] = len(done)
            self._voice.tell("ended", run.run_id, done.stop.status)

    def _fail(self, run_id: str, error: Exception, *, moved: bool = False) -> None:
        seconds = self._pauses.failed(run_id, anyio.current_time(), moved=moved)
        again = "" if self.orders.until_idle else f" (it is tried again in {seconds:.0f} s)"
        self._voice.warn("failed", run_id, f"{described(error)}{again}")

    def _refuse(self, run_id: str, why: str) -> None:
        """Leave a run to others, and say why once: it may be true of thousands."""
        self._pauses.failed(run_id, anyio.current_time())
        self._voice.refuse(run_id, why)
