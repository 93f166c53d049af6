"""One worker of the DBOS driver: carries the runs whose tickets DBOS hands it, and looks around.

DBOS hands out tickets, and does not notice that a worker died. So each worker holds the claim
`worker:NAME`, which ends with its connection, and looks now and then for tickets in the hands of
workers whose claim is free, and for runs that are due and have no ticket.
"""

import logging
import random
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio

from clew.core.agent import Agent
from clew.core.errors import ConfigError, FencedError, ModelError, StoreError, one_error
from clew.core.events import Thought
from clew.core.interfaces import RunInfo
from clew.core.journal import load
from clew.core.trajectory import Trajectory
from clew.stores.postgres.store import PostgresStore
from clew.workers.backoff import FIRST, MOST, Pauses
from clew.workers.dbos.tickets import Ticket, Tickets
from clew.workers.gate import Gate
from clew.workers.locks import claim, let_go, queue_of
from clew.workers.run_one import carry
from clew.workers.worker import Orders
from clew.workers.worker_log import WorkerLog, described

LOG: Final = logging.getLogger("clew")

_TOGETHER: Final = 32
"""So many runs are looked into at the same time."""


class Worker:
    """One worker over a store, until `leaving` is set.

    `carrying` are the runs at hand, with their tickets, and `refused` those whose agent is not
    here. What it knows of others is what it saw when it last looked, and can be lost.
    """

    def __init__(
        self, store: PostgresStore, orders: Orders, tickets: Tickets, version: str,
        leaving: anyio.Event,
    ) -> None:  # fmt: skip
        self.store = store
        self.orders = orders
        self.tickets = tickets
        self.version = version
        self.leaving = leaving
        self.carrying: dict[str, str] = {}
        self.refused: set[str] = set()
        self._scopes: dict[str, anyio.CancelScope] = {}
        self.voice = WorkerLog(orders.tell)
        self._wake = anyio.Event()
        self._known: set[str] = set()
        self._over: set[str] = set()
        self._stray: set[str] = set()
        self._missing: set[str] = set()
        self._pauses = Pauses()
        self._gate = Gate()
        self.took = 0.0  # seconds that the last look asked what there is

    async def advance(self, run_id: str, tries: int, ticket: str) -> str:
        """Honour a ticket: work on its run until that stops; say what became of it."""
        if self.leaving.is_set():
            return await self._hand_back(run_id, ticket)
        if run_id in self.carrying:
            return "twice"
        self.carrying[run_id] = ticket
        try:
            with anyio.CancelScope() as self._scopes[run_id]:
                return await self._claim_and_carry(run_id, tries, ticket)
            return "broken off"  # and still due: a worker that looks around finds it
        finally:
            del self.carrying[run_id], self._scopes[run_id]

    def break_off(self) -> None:
        """Break off whatever is at hand: the records are open, and others go on from there."""
        for scope in self._scopes.values():
            scope.cancel()

    async def _claim_and_carry(self, run_id: str, tries: int, ticket: str) -> str:
        lock = await self._claimed(run_id)
        if lock is None:
            return "claimed"
        try:
            done = await self._carry(run_id)
        except FencedError as error:
            self.voice.warn("lost", run_id, str(error))
            return "fenced"
        except ConfigError as error:
            self._refuse(run_id, str(error))
            return "refused"
        except (ModelError, StoreError) as error:
            return await self._retry_later(run_id, tries, ticket, str(error))
        except Exception as error:
            LOG.exception("run %s: a part of its agent failed", run_id)
            return await self._retry_later(run_id, tries, ticket, described(error))
        finally:
            await let_go(self.store, lock)
        if done is None:
            return "over"
        if done.stop is None:
            return await self._hand_back(run_id, ticket)
        self.voice.tell("ended", run_id, done.stop.status)
        return done.stop.status

    async def _claimed(self, run_id: str) -> str | None:
        """Claim a run; who only looks at a claim has it for an instant, so it is asked again."""
        for _ in range(5):
            lock = await claim(self.store, run_id, take_over=run_id in self._over)
            if lock is not None:
                self._over.discard(run_id)
                return lock
            await anyio.sleep(0.1)
        return None

    async def _carry(self, run_id: str) -> Trajectory | None:
        """Work on a run; None where nothing is left to do in it."""
        record = await load(self.store, run_id)
        if record.stop is not None and not await self.store.inbox(run_id):
            return None
        agent = await self.orders.agents(record)

        async def found(_: Trajectory) -> Agent:
            return agent

        self.voice.tell("taken", run_id, record.goal)
        return await carry(found, self.store, run_id, leaving=self.leaving.is_set, gate=self._gate)

    async def _hand_back(self, run_id: str, ticket: str) -> str:
        """Write a new ticket, which another worker gets: this one takes no more."""
        try:
            seq = len(await load(self.store, run_id))
            await self.tickets.write(run_id, seq, version=self.version, beside=ticket)
        except StoreError as error:  # a worker that looks around finds the run
            LOG.warning("run %s: %s", run_id, error)
        self.voice.tell("left", run_id, "for other workers")
        return "left"

    async def _retry_later(self, run_id: str, tries: int, ticket: str, why: str) -> str:
        """Have a run tried again later; later each time, as long as no thought comes of it."""
        try:
            so_far = await load(self.store, run_id)
            since = so_far.entries[Ticket(ticket, "").seq :]
            if any(isinstance(entry.event, Thought) for entry in since):
                tries = 0
            pause = min(FIRST * 2.0 ** min(tries, 16), MOST)
            await self.tickets.write(
                run_id, len(so_far), version=self.version, tries=tries + 1, pause=pause,
                beside=ticket,
            )  # fmt: skip
        except StoreError as error:  # a worker that looks around finds the run, if it is due
            self.voice.warn("failed", run_id, f"{why} (and no ticket could be written: {error})")
        else:
            self.voice.warn("failed", run_id, f"{why} (it is tried again in {pause:.0f} s)")
        return "failed"

    # ------------------------------------------------------------ looking around

    @asynccontextmanager
    async def hearing(self) -> AsyncGenerator[None]:
        """Hear of what is written meanwhile, and that it is time to leave."""
        with one_error():
            async with anyio.create_task_group() as together:
                together.start_soon(self._hear)
                together.start_soon(self._heed)
                yield
                together.cancel_scope.cancel()

    async def _hear(self) -> None:
        """Wake up for runs that had no ticket at the last look: begun, ruled on, spoken to."""
        while True:
            try:
                async with self.store.wakes() as woken:
                    async for run_id in woken:
                        if run_id not in self._known and run_id not in self.carrying:
                            self._wake.set()
            except StoreError as error:
                LOG.info("the store tells of nothing now (%s)", error)
            await anyio.sleep(1)

    async def _heed(self) -> None:
        await self.leaving.wait()
        self._wake.set()

    async def rest(self, least: float, most: float) -> None:
        """Rest between two looks, for so many seconds; for fewer where there is news."""
        with anyio.move_on_after(least):
            await self.leaving.wait()
        with anyio.move_on_after(most - least):
            await self._wake.wait()

    async def look(self, *, everything: bool = False) -> bool:
        """See to it that each due run has a ticket that is honoured; say whether any is left here.

        With `everything`, what other workers have at hand is taken from them.
        """
        self._wake = anyio.Event()
        began = anyio.current_time()
        tickets = await self.tickets.open()
        due = {  # asked after the tickets: what has none now had none then
            run.run_id: run for run in await self.store.due() if queue_of(run) == self.tickets.queue
        }
        self.took = anyio.current_time() - began
        self.refused &= due.keys()
        now = anyio.current_time()
        resting = {run_id for run_id in due if self._pauses.rests(run_id, now, 0)} | self.refused
        lost = {ticket.run_id: ticket for ticket in await self._lost(tickets, everything)}
        await self.tickets.tear([ticket for run, ticket in lost.items() if run not in due])
        known = self._known = {ticket.run_id for ticket in tickets} | self.carrying.keys()
        if everything:
            self._over |= {run for run in due if run in lost or run not in known}
        await self._renew_all(
            [run for run in due.values()
             if run.run_id not in resting and (run.run_id in lost or run.run_id not in known)],
            lost,
        )  # fmt: skip
        resting |= self.refused | {run for run in due if self._pauses.rests(run, now, 0)}
        elsewhere = self._elsewhere(tickets) - lost.keys() | resting
        return bool(self.carrying or self._missing or due.keys() - elsewhere)

    def _elsewhere(self, tickets: Iterable[Ticket]) -> set[str]:
        """Runs that wait for another try, or that another worker has."""
        held = {t.run_id for t in tickets if t.held and t.executor != self.orders.name}
        return held | {ticket.run_id for ticket in tickets if ticket.status == "DELAYED"}

    async def _lost(self, tickets: Sequence[Ticket], everything: bool) -> list[Ticket]:  # noqa: FBT001 - private
        """Tickets that nobody can be counted on to honour.

        What only looks like one is left until the next look: after a restart of the database each
        worker takes its claim again, and a ticket may have been handed out this very moment.
        """
        mine = self.orders.name
        others = {ticket.executor for ticket in tickets if ticket.held} - {mine}
        free = {name for name in others if await self._free(f"worker:{name}")}
        gone = others if everything else free & self._missing
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
        room = self.orders.at_once - len(self.carrying) - len(lost) - len(waiting)
        return lost + still[: max(room, 0)]

    async def _renew_all(self, runs: Sequence[RunInfo], lost: Mapping[str, Ticket]) -> None:
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

    async def _renew(self, run_id: str, ticket: Ticket | None, new: int) -> None:
        """Write a new ticket for a run whose agent is here and that nobody is at work on.

        At the entry `new` it has none, if it still ends there.
        """
        try:
            record = await load(self.store, run_id)
            if record.stop is not None and not await self.store.inbox(run_id):
                return  # it stopped meanwhile
            await self.orders.agents(record)
        except ConfigError as error:
            self._refuse(run_id, str(error))
            return
        except Exception as error:  # noqa: BLE001 - a damaged record, or part, stops no other run
            seconds = self._pauses.failed(run_id, anyio.current_time())
            self.voice.warn(
                "failed", run_id, f"{described(error)} (it is looked at again in {seconds:.0f} s)"
            )
            return
        self._pauses.forget(run_id)
        if run_id in self._over or await self._free(run_id):
            await self.tickets.tear([ticket] if ticket else [])
            seq = len(record)
            await self.tickets.write(run_id, seq, version=self.version, new=seq == new)

    async def _free(self, name: str) -> bool:
        """Whether nobody holds a claim."""
        lock = await claim(self.store, name)
        if lock is None:
            return False
        await self.store.release(lock)
        return True

    # ------------------------------------------------------------ telling

    def _refuse(self, run_id: str, why: str) -> None:
        """Leave a run to others, and say why once: it may be true of thousands."""
        self.refused.add(run_id)
        self.voice.refuse(run_id, why)
