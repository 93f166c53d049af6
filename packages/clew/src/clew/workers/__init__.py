"""Workers: processes that execute the runs of a queue.

`work` is a worker, and `WorkerConfig` configures it. Its driver executes the runs: this process,
DBOS, Ray or Temporal. A driver keeps no log of its own, because the records contain everything. So
a driver that is killed, or replaced by another kind, continues from them.
"""

from clew.agent.broken_runs import is_set_aside
from clew.stores.locks import queue_of
from clew.workers.agents import agents_for
from clew.workers.config import (
    QUEUE,
    Driver,
    OnWorkerEvent,
    WorkerConfig,
    WorkerEvent,
    work,
)
from clew.workers.monitor import Monitor, RunStatus, Standing, status
from clew.workers.run_one import Agents, carry

__all__ = [
    "QUEUE",
    "Agents",
    "Driver",
    "Monitor",
    "OnWorkerEvent",
    "RunStatus",
    "Standing",
    "WorkerConfig",
    "WorkerEvent",
    "agents_for",
    "carry",
    "is_set_aside",
    "queue_of",
    "status",
    "work",
]
