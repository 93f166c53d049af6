"""Serving a queue with actors: what is due and free is sent, and what came back is told."""

import math
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio

from clew.core.errors import ConfigError, StoreError, one_error
from clew.core.events import Started, decode
from clew.core.interfaces import Notifies, RunInfo
from clew.workers.driver import OnWorkerEvent, Serving
from clew.workers.locks import Shared, claim, let_go, queue_of
from clew.workers.ray.actor import End
from clew.workers.ray.crew import Crew
from clew.workers.worker_log import WorkerLog

LOOK: Final = 0.2
"""Seconds between two looks at the store; five times as long as a look takes, if that is more."""

_PAUSE: Final = (1.0, 60.0)
"""Seconds until a run that failed is tried again: the first time, and at most."""


@dataclass(slots=True)
class _Rest:
    """Why a run that is due is not sent: for some seconds, or until something is new in it.

    `entries` is how long its record is, None until the next look says so.
    """

    entries: int | None
    until: float = math.inf
    pause: float = 0.0


@dataclass
class Service:
    """What a program serves; of runs that are not due it remembers nothing."""

    store: Shared
    crew: Crew
    serving: Serving
    tell: OnWorkerEvent
    leaving: anyio.Event
    _voice: WorkerLog = field(init=False)
    _due: deque[RunInfo] = field(init=False, default_factory=deque[RunInfo])
    _sent: dict[str, int] = field(init=False, default_factory=dict[str, int])
    _rests: dict[str, _Rest] = field(init=False, default_factory=dict[str, _Rest])
    _wake: anyio.Event = field(init=False, default_factory=anyio.Event)

    def __post_init__(self) -> None:
        """It speaks as other workers do."""
        self._voice = WorkerLog(self.tell)

    async def go_on(self) -> None:
        """Serve until told to leave, or idle; then have each run left where its step ends."""
        name = f"worker:{self.serving.name}"
        if not await self.store.claim(name):
            called = repr(self.serving.name)
            raise ConfigError(f"there is a worker {called} at this store: choose another name")
        try:
            serves = f"{self.serving.name} serves the queue {self.serving.queue!r}"
            self._voice.tell("serving", text=serves)
            with one_error():
                async with anyio.create_task_group() as group:
                    group.start_soon(self._told_to_leave)
                    group.start_soon(self._receive)
                    if isinstance(self.store, Notifies):
                        group.start_soon(self._hear, self.store)
                    await self._look_around()
                    group.cancel_scope.cancel()
        finally:
            await let_go(self.store, name)

    async def _look_around(self) -> None:
        over, quiet, trouble, again = self.serving.take_over, 0, "", 0.0
        while not self.leaving.is_set():
            began = anyio.current_time()
            try:
                if fresh := not self._due or began >= again:
                    await self._look()
                    again = began + max(LOOK, 5 * (anyio.current_time() - began))
                sent = await self._send(over=over)
                over, trouble = False, ""
                quiet = quiet + 1 if fresh and self.crew.idle and not sent else 0
            except StoreError as error:  # the database is away: it may come back
                again = began + LOOK
                if str(error) != trouble:
                    trouble = str(error)
                    self._voice.tell("failed", text=trouble)
            if self.serving.until_idle and quiet > 1:  # somebody may have tried a claim
                return
            await self._woken(max(again - anyio.current_time(), 0.01))
        while not self.crew.idle:
            await self._woken(LOOK)

    async def _look(self) -> None:
        """Ask the store what is due, of which whatever there is no room for now is kept a while."""
        due = await self.store.due()
        self._due = deque(run for run in due if queue_of(run) == self.serving.queue)
        here = {run.run_id for run in self._due}
        self._rests = {name: rest for name, rest in self._rests.items() if name in here}

    async def _send(self, *, over: bool) -> bool:
        """Send what is free, as much as there is room for; say whether anything was."""
        sent = False
        while self._due and not self.crew.full and not self.leaving.is_set():
            run = self._due.popleft()
            if self.crew.has(run.run_id) or await self._rest(run):
                continue
            if over or await self._free(run.run_id):
                self._sent[run.run_id] = run.entries
                self.crew.send(run.run_id, over=over)
                self._voice.tell("taken", run.run_id, _goal(run))
                sent = True
        return sent

    async def _free(self, run_id: str) -> bool:
        """Whether nobody has the run: its actor will claim it."""
        if (lock := await claim(self.store, run_id)) is None:
            return False
        await self.store.release(lock)
        return True

    async def _rest(self, run: RunInfo) -> bool:
        """Whether a run is to be left alone for now."""
        if (rest := self._rests.get(run.run_id)) is None:
            return False
        if rest.until < math.inf:
            return anyio.current_time() < rest.until
        if rest.entries is None:
            rest.entries = run.entries
        return rest.entries == run.entries and not await self.store.inbox(run.run_id)

    async def _receive(self) -> None:
        """Take in what comes back."""
        while True:
            end = await self.crew.next()
            self._settle(end, self._sent.pop(end.run_id))
            self._wake.set()

    def _settle(self, end: End, entries: int) -> None:
        """Tell how a run came back, and see that it is not sent again to no avail."""
        run_id, before = end.run_id, self._rests.pop(end.run_id, None)
        if end.open is None:
            # A last word in its inbox may have changed nothing: then it stays due, and is over.
            self._rests[run_id] = _Rest(None)
            self._voice.tell("ended", run_id, end.status)
            return
        if end.open != "left":  # also one that is refused: a word in its inbox keeps it due
            stuck = before is not None and before.entries == entries
            least, most = _PAUSE
            pause = min(before.pause * 2, most) if before is not None and stuck else least
            self._rests[run_id] = _Rest(entries, anyio.current_time() + pause, pause)
        if end.open != "refused" or before is None:  # that is said once
            self._voice.tell(end.open, run_id, end.reason)

    async def _told_to_leave(self) -> None:
        await self.leaving.wait()
        self.crew.tell_to_leave()
        self._wake.set()

    async def _hear(self, store: Notifies) -> None:
        """Look at once when something was written."""
        with suppress(StoreError):  # it is looked now and then all the same
            async with store.wakes() as wakes:
                async for _ in wakes:
                    self._wake.set()

    async def _woken(self, seconds: float) -> None:
        """Wait until something happens, for so long."""
        with anyio.move_on_after(seconds):
            await self._wake.wait()
        self._wake = anyio.Event()


def _goal(run: RunInfo) -> str:
    """What a run is to answer, "" where a newer clew began it."""
    try:
        event = decode(run.first.body)
    except (ValueError, RecursionError):
        return ""
    return event.goal if isinstance(event, Started) else ""
