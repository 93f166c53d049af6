"""One worker of the Temporal driver: advances the runs that Temporal hands it, and looks around.

Temporal hands out activities and notices that a worker died. Of what happens in the store it knows
nothing: so each worker looks now and then for runs that are due, and tells their workflows.
"""

import random
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.abc
from temporalio import activity

from clew import ConfigError, StoreError, Trajectory
from clew.agent.approvals import cancel
from clew.concurrency.tasks import one_error
from clew.core.journal import load
from clew.interfaces import RunInfo
from clew.stores.listing import summary
from clew.stores.locks import SharedStore, claim, release_quietly
from clew.support.resources import Resources
from clew.workers import Agents, OnWorkerEvent, WorkerConfig
from clew.workers.backoff import Backoff
from clew.workers.gate import RunGate
from clew.workers.poller import Poller, PollInterval
from clew.workers.run_one import RunOutcome, carry_claimed, describe
from clew.workers.worker_log import WorkerLog
from clew_cluster.temporal.messages import ADVANCE, CANCEL, Due, Standing, Task
from clew_cluster.temporal.server import Workflows

_PACE: Final = PollInterval(max_seconds=0.25, min_seconds=0.05, share=20.0)
_BEAT: Final = 2.0  # seconds from one sign of life to the next
_TOGETHER: Final = 32  # so many workflows are begun at the same time
_UNCLAIMED: Final = 2.0  # seconds after which a run that nobody has any more is told of again
_QUEUED: Final = 10.0  # and one that nobody has had yet: it may only wait for its turn
_WHILE: Final = 5.0  # seconds that workflows have to end once a worker leaves
_LAST: Final = 100  # so many of them are waited for
_RARELY: Final = 60.0  # seconds from one telling of the same to the next, at most


@dataclass(slots=True)
class _AtHand:
    """A run that is being advanced here."""

    ended: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    standing: Standing = field(default_factory=lambda: Standing("left"))


@dataclass(slots=True)
class _Told:
    """What a workflow was told last: a run with so many entries, when, and how long to wait."""

    entries: int
    at: float
    pause: float


class TemporalWorker:
    """One worker over a store, until `leaving` is set.

    `queue` is the task queue of the workers with the same agents, and `held` what the tools of its
    runs hold open: Temporal calls `advance` in tasks of its own, and the runs are in `group`. What
    it knows of others is what it saw when it last looked, and can be lost.
    """

    def __init__(
        self, store: SharedStore, config: WorkerConfig, agents: Agents, workflows: Workflows,
        queue: str, on_event: OnWorkerEvent, leaving: anyio.Event, held: Resources,
        group: anyio.abc.TaskGroup,
    ) -> None:  # fmt: skip
        self.store = store
        self.config = config
        self.agents = agents
        self.workflows = workflows
        self.queue = queue
        self.leaving = leaving
        self.held = held
        self.at_hand: dict[str, _AtHand] = {}
        self.events = WorkerLog(on_event)
        self.poller = Poller(store, config, self.events, leaving, _PACE)
        self._group = group
        self._gate = RunGate()
        self._told: dict[str, _Told] = {}
        self._refused: set[str] = set()
        self._tried: set[str] = set()
        self._over = deque[tuple[float, str]](maxlen=_LAST)
        self._pauses = Backoff()
        self._take_over = config.take_over

    # ------------------------------------------------------------ what Temporal asks for

    @activity.defn(name=ADVANCE)
    async def advance(self, task: Task) -> Standing:
        """Work on a run until that stops, unless somebody is at it; say how it stands.

        Temporal may ask again, here or elsewhere, while this goes on, and may cancel it: the run
        goes on all the same, and who asks for it waits for the same end.
        """
        run = self.at_hand.get(task.run_id)
        if run is None:
            if self.leaving.is_set():
                return Standing("left")
            run = self.at_hand[task.run_id] = _AtHand()
            self._group.start_soon(self._carry, task, run)
        while not run.ended.is_set():
            activity.heartbeat()
            with anyio.move_on_after(_BEAT):
                await run.ended.wait()
        if run.standing.after == "over":
            self._over.append((anyio.current_time(), task.run_id))
        return run.standing

    @activity.defn(name=CANCEL)
    async def cancel(self, run_id: str) -> None:
        """Have a run stop, whose workflow somebody cancelled."""
        await cancel(run_id, why="its workflow was cancelled", store=self.store)

    def abandon(self) -> None:
        """Break off what is at hand; other workers go on with it."""
        for run in self.at_hand.values():
            run.scope.cancel()

    async def see_off(self) -> None:
        """Wait, for a while, until the workflows of runs that have just come to their ends do."""
        recent = [run_id for at, run_id in self._over if at > anyio.current_time() - _WHILE]
        with anyio.move_on_after(_WHILE):
            async with anyio.create_task_group() as together:
                for run_id in recent:
                    together.start_soon(self.workflows.ended, run_id)

    async def _carry(self, task: Task, run: _AtHand) -> None:
        try:
            with self.held.owned(), run.scope:
                run.standing = await self._claim_and_carry(task)
        finally:
            del self.at_hand[task.run_id]
            run.ended.set()
            self.poller.wake()

    async def _claim_and_carry(self, task: Task) -> Standing:
        run_id = task.run_id
        try:
            lock = await self._claimed(run_id, over=task.over)
        except StoreError as error:
            return self._fail(run_id, str(error), moved=False)
        if lock is None:
            return Standing("claimed")

        def taken(record: Trajectory) -> None:
            self.events.tell("taken", run_id, record.goal)

        outcome = await carry_claimed(
            self.agents, self.store, run_id, lock,
            gate=self._gate, leaving=self.leaving.is_set, taken=taken,
            accept_change=self.config.accept_change, listen=self.config.listen,
        )  # fmt: skip
        return self._settled(run_id, outcome)

    async def _claimed(self, run_id: str, *, over: bool) -> str | None:
        """Claim a run; who only looks at a claim has it for an instant, so it is asked again."""
        for _ in range(5):
            if (lock := await claim(self.store, run_id, take_over=over)) is not None:
                return lock
            await anyio.sleep(0.1)
        return None

    def _settled(self, run_id: str, outcome: RunOutcome) -> Standing:
        """Tell what became of a run: the worker's listener, and Temporal."""
        match outcome.what:
            case "lost":
                self.events.warn("lost", run_id, outcome.text)
                return Standing("claimed")
            case "refused":
                self._refused.add(run_id)
                self.events.refuse(run_id, outcome.text)
                return Standing("refused")
            case "failed":
                return self._fail(run_id, outcome.text, moved=outcome.moved)
            case "left":
                self.events.tell("left", run_id, outcome.text)
                return Standing("left")
            case "ended" if outcome.text:
                self.events.tell("ended", run_id, outcome.text)
            case _:
                pass
        stop = None if outcome.record is None else outcome.record.stop
        if stop is None:
            return Standing("left")
        return Standing("held" if stop.status == "held" else "over", stop.status, stop.wake)

    def _fail(self, run_id: str, why: str, *, moved: bool) -> Standing:
        self._tried.add(run_id)
        self.events.warn("failed", run_id, f"{why} (Temporal has it tried again)")
        return Standing("failed", moved=moved)

    # ------------------------------------------------------------ looking around

    async def serve(self) -> None:
        """See to it that what is due has workflows that know it, until told to leave, or idle."""
        await self.poller.poll(
            self.look, self.at_hand.__contains__, f" through Temporal, as {self.queue!r}"
        )

    async def look(self) -> bool:
        """Tell the workflows of runs that are due; say whether any is left here.

        At the first look of one that takes over, what others have at hand is taken from them.
        """
        with self.poller.timed():
            due = {run.run_id: run for run in await self.poller.due()}
        self._told = {run_id: told for run_id, told in self._told.items() if run_id in due}
        self._refused &= due.keys()
        over, self._take_over = self._take_over, False
        new = [run for run in due.values() if over or self._wants_telling(run)]
        random.shuffle(new)  # each worker that looks finds the same ones
        for at in range(0, len(new), _TOGETHER):
            with one_error():
                async with anyio.create_task_group() as together:
                    for run in new[at : at + _TOGETHER]:
                        together.start_soon(self._tell, run, over)
        return bool(self.at_hand) or await self._any_free(due)

    def _wants_telling(self, run: RunInfo) -> bool:
        """Whether the workflow of a run is to be told of it, as far as can be seen from here."""
        run_id, now = run.run_id, anyio.current_time()
        if run_id in self.at_hand or self._pauses.rests(run_id, now, 0):
            return False
        told = self._told.get(run_id)
        if told is None or now >= told.at + told.pause:
            return True
        if told.entries == run.entries:
            return False
        self._told[run_id] = _Told(run.entries, now, _UNCLAIMED)  # somebody gets on with it
        ends = summary(run)
        return ends is not None and ends.stop is not None

    async def _tell(self, run: RunInfo, over: bool) -> None:  # noqa: FBT001 - a task group calls it
        """Tell the workflow of a run whose agent is here and that is due."""
        run_id = run.run_id
        try:
            record = await load(self.store, run_id)
            words = record.stop is not None
            if words and not await self._is_due(record):
                self._tried.add(run_id)  # what came after its stop changed nothing
                self._note(run)
                return
            await self.agents(record)
        except ConfigError as error:
            self._refused.add(run_id)
            self._note(run)
            self.events.refuse(run_id, str(error))
            return
        except Exception as error:  # noqa: BLE001 - a damaged record, or part, stops no other run
            self._tried.add(run_id)
            seconds = self._pauses.failed(run_id, anyio.current_time())
            again = f"it is looked at again in {seconds:.0f} s"
            self.events.warn("failed", run_id, f"{describe(error)} ({again})")
            return
        self._pauses.forget(run_id)
        if over or words:
            await self.workflows.tell(record, Due(self.queue, words, over))
        elif run_id not in self._told:
            await self.workflows.begin(record, self.queue)
        elif self._has_room(run) and await self._free(run_id):
            await self.workflows.tell(record, Due(self.queue))
        self._note(run)

    def _has_room(self, run: RunInfo) -> bool:
        """Whether a run that nobody has would come here at once: else it only waits for its turn.

        One that was never taken up does so as long as there is work.
        """
        return len(self.at_hand) < (self.config.at_once if run.entries > 1 else 1)

    async def _is_due(self, record: Trajectory) -> bool:
        """Whether a run that stopped has words to hear, or a time that has come."""
        wake = 0 if record.stop is None else record.stop.wake
        return 0 < wake <= time.time() * 1000 or bool(await self.store.inbox(record.run_id))

    async def _free(self, run_id: str) -> bool:
        """Whether nobody has claimed a run. For that moment, it is claimed here."""
        lock = await claim(self.store, run_id)
        if lock is not None:
            await release_quietly(self.store, lock)
        return lock is not None

    def _note(self, run: RunInfo) -> None:
        """Remember that a workflow was told, more rarely each time that nothing comes of it."""
        told, now = self._told.get(run.run_id), anyio.current_time()
        same = told is not None and told.entries == run.entries
        first = _UNCLAIMED if run.entries > 1 else _QUEUED
        pause = min(2 * told.pause, _RARELY) if told is not None and same else first
        self._told[run.run_id] = _Told(run.entries, now, pause)

    async def _any_free(self, due: Iterable[str]) -> bool:
        """Whether a run is due that this worker could have, and has not tried."""
        if not self.config.until_idle:
            return True
        for run_id in due:
            if run_id not in self._refused | self._tried and await self._free(run_id):
                return True
        return False
