"""The driver that is this process: workers share a store, and nothing else.

Any number of them, in any number of processes, may serve one store: each claims the runs it works
on, and what a killed one had claimed is free at once.
"""

import anyio

from clew.core.errors import ConfigError, one_error
from clew.core.interfaces import Standing, Store
from clew.core.journal import load
from clew.stores import open_store
from clew.workers.agents import agents_for, agents_of
from clew.workers.driver import OnWorkerEvent, Serving
from clew.workers.locks import claim, queue_of, shared
from clew.workers.worker import Orders, Worker

__all__ = [
    "LocalDriver",
    "Orders",
    "agents_of",
    "serve",
]


class LocalDriver:
    """Works on the runs of a queue in this process, `Orders.at_once` at a time."""

    def __init__(self, store: Store, orders: Orders) -> None:
        self.store = shared(store)
        self.orders = orders
        self._worker: Worker | None = None

    async def submit(self, run_id: str) -> None:
        """Have it looked at soon. Raises `ConfigError` where it stands in another queue."""
        queue = queue_of(await load(self.store, run_id))
        if queue != self.orders.queue:
            where = f"in the queue {queue!r}" if queue else "in no queue"
            message = f"run {run_id} stands {where}; this driver serves {self.orders.queue!r}"
            raise ConfigError(message)
        if self._worker is not None:
            self._worker.look()

    async def resume(self, run_id: str) -> None:
        """The same: what was said to it lies in its inbox."""
        await self.submit(run_id)

    async def serve(self) -> None:
        """Work on what is due until cancelled; then leave each run where its step ends."""
        leaving = anyio.Event()
        self._worker = Worker(self.store, self.orders)
        with one_error():
            async with anyio.create_task_group() as group:
                group.start_soon(_shielded, self._worker, leaving, group.cancel_scope)
                try:
                    await anyio.sleep_forever()
                finally:
                    leaving.set()

    async def status(self, run_id: str) -> Standing:
        """How the run stands: whether anybody works on it is told by whether it can be claimed."""
        record = await load(self.store, run_id)
        if record.stop is not None and not await self.store.inbox(run_id):
            return record.stop.status
        lock = await claim(self.store, run_id)
        if lock is None:
            return "working"
        await self.store.release(lock)
        return "waiting"


async def _shielded(worker: Worker, leaving: anyio.Event, whole: anyio.CancelScope) -> None:
    """In a task of its own: `asyncio.Task.cancel` of who serves knows no shield."""
    with anyio.CancelScope(shield=True):
        await worker.serve(leaving)
    whole.cancel()


async def serve(serving: Serving, tell: OnWorkerEvent, leaving: anyio.Event) -> None:
    """Serve as `clew worker` asks (`clew.workers.driver`)."""
    agents = await agents_for(
        serving.agent_files, only=serving.only, trust_origin=serving.trust_origin
    )
    orders = Orders(
        agents, serving.queue, serving.at_once, serving.name, serving.until_idle,
        serving.take_over, tell,
    )  # fmt: skip
    store = open_store(serving.store)
    try:
        await Worker(shared(store), orders).serve(leaving)
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()
