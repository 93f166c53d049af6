"""One worker of the DBOS driver: carries the runs whose tickets DBOS hands it, and looks around.

DBOS hands out tickets, and does not notice that a worker died. So each worker holds the claim
`worker:NAME`, which ends with its connection, and looks now and then for tickets in the hands of
workers whose claim is free, and for runs that are due and have no ticket.
"""

import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio

from clew import ConfigError, StoreError, Trajectory
from clew.concurrency.tasks import one_error
from clew.core.journal import load
from clew.interfaces import RunInfo
from clew.stores.locks import claim
from clew.support.resources import Resources
from clew.workers import Agents, OnWorkerEvent, WorkerConfig
from clew.workers.backoff import FIRST, MAX_DELAY, Backoff
from clew.workers.gate import RunGate
from clew.workers.poller import Poller, PollInterval
from clew.workers.run_one import RunOutcome, carry_claimed, describe
from clew.workers.worker_log import WorkerLog
from clew_cluster.dbos.dbos_queue import Tickets, Workflow
from clew_cluster.postgres.store import PostgresStore

LOG: Final = logging.getLogger("clew")

_SOON: Final = 0.25
_PACE: Final = PollInterval(max_seconds=1.0, min_seconds=_SOON, share=20.0)
_PACE_UNTIL_IDLE: Final = PollInterval(max_seconds=_SOON, min_seconds=_SOON, share=20.0)

_KEPT: Final = timedelta(days=1)
"""So long DBOS keeps tickets that are over."""

_SWEEP: Final = 600.0  # seconds from one deletion of old tickets to the next

_TOGETHER: Final = 32
"""So many runs are looked into at the same time."""


class DbosWorker:
    """One worker over a store, until `leaving` is set.

    `carrying` are the runs at hand, with their tickets, and `refused` those whose agent is not
    here; `held` is what their tools hold open: DBOS calls `advance` in tasks of its own. What it
    knows of others is what it saw when it last looked, and can be lost.
    """

    def __init__(
        self, store: PostgresStore, config: WorkerConfig, agents: Agents, tickets: Tickets,
        version: str, on_event: OnWorkerEvent, leaving: anyio.Event, held: Resources,
    ) -> None:  # fmt: skip
        self.store = store
        self.config = config
        self.agents = agents
        self.tickets = tickets
        self.version = version
        self.leaving = leaving
        self.held = held
        self.carrying: dict[str, str] = {}
        self.refused: set[str] = set()
        self.events = WorkerLog(on_event)
        pace = _PACE_UNTIL_IDLE if config.until_idle else _PACE
        self.poller = Poller(store, config, self.events, leaving, pace)
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._swept = -_SWEEP
        self._known: set[str] = set()
        self._take_over = config.take_over
        self._over: set[str] = set()
        self._stray: set[str] = set()
        self._missing: set[str] = set()
        self._pauses = Backoff()
        self._gate = RunGate()

    async def serve(self) -> None:
        """See to it that what is due has tickets, until told to leave, or idle."""
        how = f" through DBOS, version {self.version!r}"
        await self.poller.poll(self.look, self._is_known, how)

    async def advance(self, run_id: str, tries: int, ticket: str) -> str:
        """Honour a ticket: work on its run until that stops; say what became of it."""
        if self.leaving.is_set():
            return await self._requeue(run_id, ticket)
        if run_id in self.carrying:
            return "twice"
        self.carrying[run_id] = ticket
        try:
            with self.held.owned(), anyio.CancelScope() as self._scopes[run_id]:
                return await self._claim_and_carry(run_id, tries, ticket)
            return "broken off"  # and still due: a worker that looks around finds it
        finally:
            del self.carrying[run_id], self._scopes[run_id]

    def abandon(self) -> None:
        """Cancel current work; other workers can resume these runs."""
        for scope in self._scopes.values():
            scope.cancel()

    async def _claim_and_carry(self, run_id: str, tries: int, ticket: str) -> str:
        lock = await self._claimed(run_id)
        if lock is None:
            return "claimed"

        def taken(record: Trajectory) -> None:
            self.events.tell("taken", run_id, record.goal)

        outcome = await carry_claimed(
            self.agents, self.store, run_id, lock,
            gate=self._gate, leaving=self.leaving.is_set, taken=taken,
            accept_change=self.config.accept_change, listen=self.config.listen,
        )  # fmt: skip
        return await self._settle(run_id, outcome, tries, ticket)

    async def _settle(self, run_id: str, outcome: RunOutcome, tries: int, ticket: str) -> str:
        """Tell what became of a run, and write another ticket where it is still due."""
        match outcome.what:
            case "lost":
                self.events.warn("lost", run_id, outcome.text)
            case "refused":
                self._refuse(run_id, outcome.text)
            case "failed":
                tries = 0 if outcome.moved else tries
                return await self._retry_later(run_id, tries, ticket, outcome.text)
            case "left":
                return await self._requeue(run_id, ticket)
            case "ended" if outcome.text:
                self.events.tell("ended", run_id, outcome.text)
                return outcome.text
            case "ended":
                return "over"
        return outcome.what

    async def _claimed(self, run_id: str) -> str | None:
        """Claim a run; who only looks at a claim has it for an instant, so it is asked again."""
        for _ in range(5):
            lock = await claim(self.store, run_id, take_over=run_id in self._over)
            if lock is not None:
                self._over.discard(run_id)
                return lock
            await anyio.sleep(0.1)
        return None

    async def _requeue(self, run_id: str, ticket: str) -> str:
        """Write a new ticket, which another worker gets: this one takes no more."""
        try:
            seq = len(await load(self.store, run_id))
            await self.tickets.write(run_id, seq, version=self.version, beside=ticket)
        except StoreError as error:  # a worker that looks around finds the run
            LOG.warning("run %s: %s", run_id, error)
        self.events.tell("left", run_id, "for other workers")
        return "left"

    async def _retry_later(self, run_id: str, tries: int, ticket: str, why: str) -> str:
        """Have a run tried again later; later each time, as long as no thought comes of it."""
        try:
            seq, pause = (
                len(await load(self.store, run_id)),
                min(FIRST * 2.0 ** min(tries, 16), MAX_DELAY),
            )
            await self.tickets.write(
                run_id, seq, version=self.version, tries=tries + 1, pause=pause, beside=ticket
            )
        except StoreError as error:  # a worker that looks around finds the run, if it is due
            self.events.warn("failed", run_id, f"{why} (and no ticket could be written: {error})")
        else:
            self.events.warn("failed", run_id, f"{why} (it is tried again in {pause:.0f} s)")
        return "failed"

    # ------------------------------------------------------------ looking around

    def _is_known(self, run_id: str) -> bool:
        """Whether a run had a ticket at the last look: one was begun, ruled on, or spoken to."""
        return run_id in self._known or run_id in self.carrying

    async def look(self) -> bool:
        """See to it that each due run has a ticket that is honoured; say whether any is left here.

        At the first look of one that takes over, what others have at hand is taken from them.
        """
        with self.poller.timed():
            tickets = await self.tickets.open()
            # asked after the tickets: what has none now had none then
            due = {run.run_id: run for run in await self.poller.due()}
        self.refused &= due.keys()
        now = anyio.current_time()
        resting = {run_id for run_id in due if self._pauses.rests(run_id, now, 0)} | self.refused
        lost = {ticket.run_id: ticket for ticket in await self._lost(tickets)}
        await self.tickets.withdraw([ticket for run, ticket in lost.items() if run not in due])
        known = self._known = {ticket.run_id for ticket in tickets} | self.carrying.keys()
        if self._take_over:
            self._over |= {run for run in due if run in lost or run not in known}
        await self._renew_all(
            [run for run in due.values()
             if run.run_id not in resting and (run.run_id in lost or run.run_id not in known)],
            lost,
        )  # fmt: skip
        self._take_over = False
        await self._sweep()
        resting |= self.refused | {run for run in due if self._pauses.rests(run, now, 0)}
        elsewhere = self._runs_of_others(tickets) - lost.keys() | resting
        return bool(self.carrying or self._missing or due.keys() - elsewhere)

    async def _sweep(self) -> None:
        """Have DBOS forget old tickets, now and then."""
        if (now := anyio.current_time()) > self._swept + _SWEEP:
            self._swept = now
            await self.tickets.forget((datetime.now(UTC) - _KEPT).isoformat())

    def _runs_of_others(self, tickets: Iterable[Workflow]) -> set[str]:
        """Runs that wait for another try, or that another worker has."""
        held = {t.run_id for t in tickets if t.held and t.executor != self.config.name}
        return held | {ticket.run_id for ticket in tickets if ticket.status == "DELAYED"}

    async def _lost(self, tickets: Sequence[Workflow]) -> list[Workflow]:
        """Tickets that nobody can be counted on to honour.

        What only looks like one is left until the next look: after a restart of the database each
        worker takes its claim again, and a ticket may have been handed out this very moment.
        """
        mine = self.config.name
        others = {ticket.executor for ticket in tickets if ticket.held} - {mine}
        free = {name for name in others if await self._free(f"worker:{name}")}
        gone = others if self._take_over else free & self._missing
        self._missing = free - gone
        strays = [
            ticket
            for ticket in tickets
            if (ticket.held and ticket.executor == mine and ticket.id not in self.carrying.values())
            or (ticket.status == "ENQUEUED" and ticket.version != self.version)
        ]
        still = [ticket for ticket in strays if ticket.id in self._stray]
        self._stray = {ticket.id for ticket in strays}
        lost = [ticket for ticket in tickets if ticket.held and ticket.executor in gone]
        waiting = [t for t in tickets if t.status == "ENQUEUED" and t.version == self.version]
        room = self.config.at_once - len(self.carrying) - len(lost) - len(waiting)
        return lost + still[: max(room, 0)]

    async def _renew_all(self, runs: Sequence[RunInfo], lost: Mapping[str, Workflow]) -> None:
        """Write new tickets, some at a time. Each worker that looks finds the same ones missing:
        they begin at different places, and leave out those that another has written meanwhile.
        """
        parts = [runs[at : at + _TOGETHER] for at in range(0, len(runs), _TOGETHER)]
        random.shuffle(parts)
        for part in parts:
            if self.leaving.is_set():
                return
            first = {run.run_id: run.entries for run in part if run.run_id not in lost}
            written = await self.tickets.written(first)
            with one_error():
                async with anyio.create_task_group() as together:
                    for run in part:
                        there = written.get(run.run_id)
                        if there is None or not there.open:
                            new = run.entries if there is None and run.run_id in first else 0
                            together.start_soon(self._renew, run.run_id, lost.get(run.run_id), new)

    async def _renew(self, run_id: str, ticket: Workflow | None, new: int) -> None:
        """Write a new ticket for a run whose agent is here and that nobody is at work on.

        At the entry `new` it has none, if it still ends there.
        """
        try:
            record = await load(self.store, run_id)
            if record.stop is not None and not await self.store.inbox(run_id):
                return  # it stopped meanwhile
            await self.agents(record)
        except ConfigError as error:
            self._refuse(run_id, str(error))
            return
        except Exception as error:  # noqa: BLE001 - a damaged record, or part, stops no other run
            seconds = self._pauses.failed(run_id, anyio.current_time())
            self.events.warn(
                "failed", run_id, f"{describe(error)} (it is looked at again in {seconds:.0f} s)"
            )
            return
        self._pauses.forget(run_id)
        if run_id in self._over or await self._free(run_id):
            await self.tickets.withdraw([ticket] if ticket else [])
            seq = len(record)
            await self.tickets.write(run_id, seq, version=self.version, new=seq == new)

    async def _free(self, name: str) -> bool:
        """Whether nobody holds a claim."""
        lock = await claim(self.store, name)
        if lock is None:
            return False
        await self.store.release(lock)
        return True

    def _refuse(self, run_id: str, why: str) -> None:
        """Leave a run to others, and say why once: it may be true of thousands."""
        self.refused.add(run_id)
        self.events.refuse(run_id, why)
