"""The driver over DBOS: durable work over machines, on the PostgreSQL that holds the records.

DBOS hands out tickets (`dbos_queue`); each worker honours those it gets, and looks after those of
workers that died (`worker`). What happens in a run stands in its record and nowhere else: no
step of a run is a step of DBOS, whose workflow is `carry` and nothing more. asyncio only.
"""

import functools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

from clew import ConfigError
from clew.stores import store_at
from clew.support.settings import check_fields
from clew.tools import resources
from clew.workers import OnWorkerEvent, WorkerConfig, agents_for
from clew_cluster.dbos.dbos_queue import (
    APPLICATION,
    WORKFLOW,
    DbosDatabase,
    NotSetUpError,
    Tickets,
    dbos_database_of,
)
from clew_cluster.dbos.worker import DbosWorker
from clew_cluster.postgres.store import PostgresStore
from clew_cluster.versions import version_of_worker

POLL: Final = 0.1
"""Seconds between two questions of DBOS whether a ticket waits."""

_LONG: Final = 86_400  # seconds that a step may take when a worker leaves

_LOG: Final = logging.getLogger("dbos")
_LOG.addHandler(logging.NullHandler())  # or DBOS would write to the terminal by itself


@dataclass(frozen=True, slots=True)
class DbosDriver:
    """Workers that share the queues of DBOS, whose tables are in the store's database.

    Each has up to `config.at_once` runs, and all of them `together` (None: no limit). DBOS stores
    both with the queue, and the last worker to start sets them. Runs go to workers of the same
    `version`, which is made from their agents unless you set it; other workers with the agent take
    those for which they have room.
    """

    together: int | None = None
    version: str = ""

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    async def serve(
        self, config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event
    ) -> None:
        """Serve the queue, as `clew.workers.Driver` says."""
        agents = await agents_for(config)
        async with store_at(config.store) as store:
            if not isinstance(store, PostgresStore):
                message = "the dbos driver works on PostgreSQL: name a store at postgresql://…"
                raise ConfigError(message)
            version = self.version or version_of_worker(agents, only=config.only)
            database = dbos_database_of(store.address)
            async with Tickets(database, config.queue) as tickets, resources() as held:
                worker = DbosWorker(
                    store, config, agents, tickets, version, on_event, leaving, held
                )
                async with worker.poller.named(), self._running(worker, database):
                    await worker.serve()

    @asynccontextmanager
    async def _running(self, worker: DbosWorker, database: DbosDatabase) -> AsyncGenerator[None]:
        """DBOS in this process: it calls the worker on this event loop until the context ends.

        Then it hands out nothing more, and waits until every run at hand was left.
        """
        DBOS(config=_config(worker, database))
        if DBOS.executor_id != worker.config.name:
            raise ConfigError("DBOS is at work in this process already: serve in one of its own")
        try:
            DBOS.listen_queues([worker.config.queue])
            DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_honouring(worker))
            await self._launch(worker)
            yield
        finally:
            worker.leaving.set()
            ended = anyio.Event()
            async with anyio.create_task_group() as together:
                together.start_soon(_end, ended, _LONG if worker.carrying else 0)
                try:
                    await ended.wait()
                except BaseException:  # cancelled: whoever wants that does not wait for a step
                    worker.abandon()
                    raise

    async def _launch(self, worker: DbosWorker) -> None:
        """Start DBOS, which sets itself up where it is new."""
        tickets, limits = worker.tickets, (worker.config.at_once, self.together, POLL)
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


def _config(worker: DbosWorker, database: DbosDatabase) -> DBOSConfig:
    return {
        "name": APPLICATION,
        "system_database_url": database.url,
        "dbos_system_schema": database.schema,
        "application_version": worker.version,
        "executor_id": worker.config.name,
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


def _honouring(worker: DbosWorker) -> Callable[[str, int], Awaitable[str]]:
    """The workflow: a function of its own, since DBOS marks what it is given."""

    async def advance(run_id: str, tries: int) -> str:
        return await worker.advance(run_id, tries, DBOS.workflow_id or "")

    return advance


serve = DbosDriver().serve
