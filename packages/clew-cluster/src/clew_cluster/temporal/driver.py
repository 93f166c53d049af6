"""The driver over Temporal: one workflow a run, which asks workers to advance it (`run_workflow`).

Temporal hands the runs out, notices dead workers, and shows what waits for what. What happens in a
run stands in its record and nowhere else, and the record guards effects: an activity is made at
least once. asyncio only.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import anyio
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from clew import ConfigError
from clew.concurrency.tasks import one_error
from clew.stores import store_at
from clew.stores.locks import shared
from clew.support.error_text import message_of
from clew.support.settings import check_fields
from clew.tools import resources
from clew.workers import OnWorkerEvent, WorkerConfig, agents_for
from clew_cluster.temporal.run_workflow import RunWorkflow
from clew_cluster.temporal.server import Workflows, connected, shows_attributes
from clew_cluster.temporal.worker import TemporalWorker
from clew_cluster.versions import version_of_worker

_LONG: Final = timedelta(days=1)  # that a step may take when a worker leaves


@dataclass(frozen=True, slots=True)
class TemporalDriver:
    """Workers to which a Temporal server hands the runs of a queue, each up to `config.at_once`.

    `address` and `namespace` come from Temporal's environment (`TEMPORAL_ADDRESS`, …, or its
    configuration file) unless you set them, as do TLS and API key. Runs go to workers of the same
    `version`, which is made from their agents unless you set it; other workers with the agent take
    those that nobody takes. Temporal learns nothing of a run but its id, its model and status, and
    those of its `labels` that are named.
    """

    address: str | None = None
    namespace: str | None = None
    version: str = ""
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    async def serve(
        self, config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event
    ) -> None:
        """Serve the queue, as `clew.workers.Driver` says."""
        agents = await agents_for(config)
        queue = f"{config.queue}/{self.version or version_of_worker(agents, only=config.only)}"
        async with store_at(config.store) as opened, resources() as held:
            store = shared(opened)
            client = await connected(self.address, self.namespace, config.name)
            workflows = Workflows(client, config.queue, self.labels, await shows_attributes(client))
            with one_error():
                async with anyio.create_task_group() as group:
                    worker = TemporalWorker(
                        store, config, agents, workflows, queue, on_event, leaving, held, group
                    )
                    async with worker.poller.named(), _asked(worker, _workers(worker)):
                        await worker.serve()


def _workers(worker: TemporalWorker) -> tuple[Worker, Worker]:
    """Temporal's: one that advances runs whose agents are here, and one for the workflows of all.

    They keep no workflow in memory, so that the next worker need not wait for a killed one.
    """
    client, config = worker.workflows.client, worker.config
    advancing = Worker(
        client, task_queue=worker.queue, activities=[worker.advance],
        max_concurrent_activities=config.at_once, graceful_shutdown_timeout=_LONG,
    )  # fmt: skip
    asking = Worker(
        client, task_queue=config.queue, workflows=[RunWorkflow], activities=[worker.cancel],
        workflow_runner=UnsandboxedWorkflowRunner(), max_cached_workflows=0,
        graceful_shutdown_timeout=_LONG,
    )  # fmt: skip
    return advancing, asking


@asynccontextmanager
async def _asked(worker: TemporalWorker, workers: tuple[Worker, Worker]) -> AsyncGenerator[None]:
    """Have Temporal ask this worker until the context ends; then every run at hand was left.

    Raises `ConfigError` where Temporal has no more to do with it.
    """
    running = [asyncio.ensure_future(one.run()) for one in workers]
    gone = [asyncio.ensure_future(_gone(each, worker)) for each in running]
    try:
        yield
    finally:
        worker.leaving.set()
        ended = anyio.Event()
        async with anyio.create_task_group() as together:
            together.start_soon(_end, worker, workers, ended)
            try:
                await ended.wait()
            except BaseException:  # cancelled: whoever wants that does not wait for a step
                worker.abandon()
                raise
    for each in gone:
        await each


async def _gone(running: "asyncio.Future[None]", worker: TemporalWorker) -> None:
    """Let the worker leave when Temporal's ends by itself."""
    try:
        await running
    except Exception as error:
        worker.leaving.set()
        raise ConfigError(f"Temporal's worker ended: {message_of(error)[:300]}") from error


async def _end(worker: TemporalWorker, workers: tuple[Worker, Worker], ended: anyio.Event) -> None:
    """Take no more runs from Temporal, wait for those at hand, and for their workflows."""
    advancing, asking = workers
    with anyio.CancelScope(shield=True):
        await advancing.shutdown()
        await worker.see_off()
        await asking.shutdown()
    ended.set()


serve = TemporalDriver().serve
