"""The driver that is this process: workers share a store, and nothing else.

Any number of them, in any number of processes, may serve one store: each claims the runs it works
on, and what a killed one had claimed is free at once.
"""

import anyio

from clew.core.journal import load
from clew.core.stores import RunInfo
from clew.core.trajectory import Trajectory
from clew.stores import store_at
from clew.stores.locks import SharedStore, shared
from clew.workers.agents import agents_for
from clew.workers.config import OnWorkerEvent, WorkerConfig
from clew.workers.gate import RunGate
from clew.workers.run_one import Agents, RunOutcome, carry_claimed
from clew.workers.worker import Worker

__all__ = ["serve"]


async def serve(config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event) -> None:
    """Serve the queue, as `clew.workers.Driver` says."""
    agents = await agents_for(config)
    async with store_at(config.store) as opened:
        store = shared(opened)
        await Worker(store, config, _InProcess(store, agents), on_event, leaving).serve()


class _InProcess:
    """Carries runs in this process."""

    def __init__(self, store: SharedStore, agents: Agents) -> None:
        self._store = store
        self._agents = agents
        self._gate = RunGate()

    async def carry(self, run: RunInfo, lock: str, worker: Worker) -> RunOutcome:
        """Carry it in this task."""

        def taken(record: Trajectory) -> None:
            worker.taken(run.run_id, record.goal)

        return await carry_claimed(
            self._agents, self._store, run.run_id, lock,
            gate=self._gate, leaving=worker.leaving.is_set, taken=taken,
            accept_change=worker.config.accept_change, listen=worker.config.listen,
            may_step=worker.may_step,
        )  # fmt: skip

    async def prepare(self, run: RunInfo) -> None:
        """Make its agent, which is kept."""
        await self._agents(await load(self._store, run.run_id))
