"""The driver over DBOS: durable work over machines, on the PostgreSQL that holds the records.

DBOS hands out tickets (`dbos_tickets`); each worker honours those it gets, and looks after those of
workers that died (`dbos_worker`). What happens in a run stands in its record and nowhere else: no
step of a run is a step of DBOS, whose workflow is `carry` and nothing more. asyncio only.
"""

import functools
import hashlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio
import anyio.to_thread
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

from clew.agent_files import make_agent, read_agent_file, with_model
from clew.core.agent import Agent
from clew.core.errors import ConfigError, StoreError, one_error
from clew.core.interfaces import Locks, Standing
from clew.core.journal import load
from clew.stores import open_store
from clew.stores.postgres.store import PostgresStore
from clew.workers.agents import agents_for
from clew.workers.dbos.tickets import APPLICATION, WORKFLOW, NotSetUpError, Tickets, place_of
from clew.workers.dbos.worker import Worker
from clew.workers.driver import OnWorkerEvent, Serving
from clew.workers.worker import Orders

LOOK: Final = 1.0
SOON: Final = 0.25
"""Seconds between two looks around, without news and with news."""

_SHARE: Final = 20.0  # times what a look took: the least pause to the next, so that it stays cheap

POLL: Final = 0.1
"""Seconds between two questions of DBOS whether a ticket waits."""

KEPT: Final = timedelta(days=1)
"""So long DBOS keeps tickets that are over."""

_LONG: Final = 86_400  # seconds that a step may take when a worker leaves
_SWEEP: Final = 600.0  # seconds from one deletion of old tickets to the next

_LOG: Final = logging.getLogger("dbos")
_LOG.addHandler(logging.NullHandler())  # or DBOS would write to the terminal by itself


def version_of(agents: Iterable[Agent], *, recorded: bool = False) -> str:
    """The version of a worker that has these agents: the same for all workers that have the same.

    `recorded` says that it makes others from what records say.
    """
    prints = sorted(agent.setting.fingerprint for agent in agents)
    digest = hashlib.blake2b(" ".join(prints).encode(), digest_size=6).hexdigest()
    return "+".join(([digest] if prints else []) + (["any"] if recorded else [])) or "none"


@dataclass(frozen=True)
class DbosDriver:
    """Has runs worked on by whatever workers serve the queue of its orders, and can be one of them.

    DBOS keeps its tables in the database of `store`, in a schema of their own. A worker has up to
    `at_once` runs at hand, and all of them `together` (None: no limit): DBOS keeps both for the
    queue, as the worker that began last said. Runs are handed to workers of the same `version`;
    other workers that have the agent take those for which they have room.
    """

    store: PostgresStore
    orders: Orders
    version: str
    together: int | None = None

    async def submit(self, run_id: str) -> None:
        """Have a run that was just begun worked on; before there was any worker, it waits."""
        await self._write(run_id, 1)

    async def resume(self, run_id: str) -> None:
        """Have a run that was ruled on, or spoken to, taken up again; twice does no harm."""
        await self._write(run_id, len(await load(self.store, run_id)))

    async def status(self, run_id: str) -> Standing:
        """How the run stands. Raises `StoreError` where it is unknown."""
        so_far = await load(self.store, run_id)
        if so_far.stop is not None and not await self.store.inbox(run_id):
            return so_far.stop.status
        async with self._tickets() as tickets:
            try:
                found = await tickets.of(run_id)
            except NotSetUpError:
                found = []
        return "working" if any(ticket.held for ticket in found) else "waiting"

    async def serve(self) -> None:
        """Work on what is due until cancelled; then leave each run where its step ends."""
        leaving = anyio.Event()
        with one_error():
            async with anyio.create_task_group() as together:
                together.start_soon(self._shielded, leaving, together.cancel_scope)
                try:
                    await anyio.sleep_forever()
                finally:
                    leaving.set()

    async def _shielded(self, leaving: anyio.Event, whole: anyio.CancelScope) -> None:
        """In a task of its own: `asyncio.Task.cancel` of who serves knows no shield."""
        with anyio.CancelScope(shield=True):
            await self.work(leaving)
        whole.cancel()

    async def work(self, leaving: anyio.Event) -> None:
        """Serve until told to leave, or idle; then leave each run where its step ends.

        Cancelled, it breaks off. Raises `ConfigError` where another worker has its name.
        """
        async with self._tickets() as tickets, named(self.store, self.orders.name):
            worker = Worker(self.store, self.orders, tickets, self.version, leaving)
            async with self._running(worker), worker.hearing():
                where = f"{self.orders.name} serves the queue {self.orders.queue!r} through DBOS"
                worker.voice.tell("serving", text=f"{where}, version {self.version!r}")
                await self._watch(worker)

    async def _watch(self, worker: Worker) -> None:
        """Look around now and then, and when there is news, until it is time to leave."""
        trouble, quiet, take_over, swept = "", 0, self.orders.take_over, -_SWEEP
        while not worker.leaving.is_set() and not (self.orders.until_idle and quiet > 1):
            began = anyio.current_time()
            try:
                left = await worker.look(everything=take_over)
                trouble, take_over = "", False
                if began > swept + _SWEEP:
                    swept = began
                    await worker.tickets.forget((datetime.now(UTC) - KEPT).isoformat())
            except StoreError as error:  # the database is away: it may come back
                left = True
                if str(error) != trouble:
                    trouble = str(error)
                    worker.voice.tell("failed", text=trouble)
            quiet = 0 if left else quiet + 1
            took = worker.took
            most = SOON if self.orders.until_idle else LOOK
            await worker.rest(max(SOON, _SHARE * took), max(most, _SHARE * took))

    async def _write(self, run_id: str, seq: int) -> None:
        async with self._tickets() as tickets:
            try:
                await tickets.write(run_id, seq)
            except NotSetUpError:  # the first worker sets it up, and looks what is due
                return

    def _tickets(self) -> Tickets:
        return Tickets(place_of(self.store.address), self.orders.queue)

    @asynccontextmanager
    async def _running(self, worker: Worker) -> AsyncGenerator[None]:
        """DBOS in this process: it calls the worker on this event loop until the context ends.

        Then it hands out nothing more, and waits until every run at hand was left.
        """
        DBOS(config=self._config())
        if DBOS.executor_id != self.orders.name:
            raise ConfigError("DBOS is at work in this process already: serve in one of its own")
        try:
            DBOS.listen_queues([self.orders.queue])
            DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_honouring(worker))
            await self._launch(worker.tickets)
            yield
        finally:
            worker.leaving.set()
            ended = anyio.Event()
            async with anyio.create_task_group() as together:
                together.start_soon(_end, ended, _LONG if worker.carrying else 0)
                try:
                    await ended.wait()
                except BaseException:  # cancelled: whoever wants that does not wait for a step
                    worker.break_off()
                    raise

    async def _launch(self, tickets: Tickets) -> None:
        """Start DBOS, which sets itself up where it is new."""
        limits = (self.orders.at_once, self.together, POLL)
        try:
            await tickets.limit(*limits)  # before the start, or DBOS finds its queue a second later
            ready = True
        except NotSetUpError:
            ready = False
        try:
            DBOS.launch()  # on this thread, whose event loop DBOS then calls workflows on
        except Exception as error:
            why = str(error).partition("\n")[0]
            raise ConfigError(f"DBOS does not start: {why}") from error
        if not ready:
            await tickets.limit(*limits)

    def _config(self) -> DBOSConfig:
        place = place_of(self.store.address)
        return {
            "name": APPLICATION,
            "system_database_url": place.url,
            "dbos_system_schema": place.schema,
            "application_version": self.version,
            "executor_id": self.orders.name,
            "serializer": DBOSPortableJSONSerializer(),  # its default would be pickle
            "enable_otlp": False,
            "log_level": "WARNING",
            "sys_db_idle_transaction_timeout_sec": 10.0,  # what a frozen worker has locked is freed
            "use_listen_notify": False,  # it is for messages between workflows: there are none
            "sys_db_pool_size": 8,
            "max_executor_threads": 16,
        }


async def _end(ended: anyio.Event, seconds: int) -> None:
    """Have DBOS hand out no more, wait so long until it has nothing at hand, and end it."""
    end = functools.partial(
        DBOS.destroy, destroy_registry=True, workflow_completion_timeout_sec=seconds
    )
    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(end)
    ended.set()


def _honouring(worker: Worker) -> Callable[[str, int], Awaitable[str]]:
    """The workflow: a function of its own, since DBOS marks what it is given."""

    async def advance(run_id: str, tries: int) -> str:
        return await worker.advance(run_id, tries, DBOS.workflow_id or "")

    return advance


@asynccontextmanager
async def named(store: Locks, name: str) -> AsyncGenerator[None]:
    """Hold the claim on a worker's name. Raises `ConfigError` where another has it."""
    for _ in range(5):  # who looks whether this worker lives has the claim for an instant
        if await store.claim(f"worker:{name}"):
            break
        await anyio.sleep(0.2)
    else:
        message = f"there is a worker {name!r} at this store: choose another name"
        raise ConfigError(message)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await store.release(f"worker:{name}")


async def serve(serving: Serving, tell: OnWorkerEvent, leaving: anyio.Event) -> None:
    """Serve as `clew worker` asks (`clew.workers.driver`)."""
    agents = await agents_for(
        serving.agent_files, only=serving.only, trust_origin=serving.trust_origin
    )
    orders = Orders(
        agents, serving.queue, serving.at_once, serving.name, serving.until_idle,
        serving.take_over, tell,
    )  # fmt: skip
    given = [
        make_agent((await with_model(read_agent_file(file)))[0]) for file in serving.agent_files
    ]
    store = open_store(serving.store)
    try:
        if not isinstance(store, PostgresStore):
            raise ConfigError("the dbos driver works on PostgreSQL: name a store at postgresql://…")
        version = version_of(given, recorded=not serving.only)
        await DbosDriver(store, orders, version).work(leaving)
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()
