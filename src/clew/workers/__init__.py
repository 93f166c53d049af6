"""Workers: processes that advance the runs of a queue until they are done.

`work` is a worker, and `WorkerConfig` says how it is to work. Its driver carries the runs: this
process, DBOS, or Ray. A driver keeps no log of its own. What is due, what was done and what waits
for a person stands in the records; a driver that is killed, or replaced by another kind, takes up
what they say.
"""

from clew.workers.broken_runs import is_set_aside
from clew.workers.config import (
    QUEUE,
    Driver,
    OnWorkerEvent,
    WorkerConfig,
    WorkerEvent,
    work,
)
from clew.workers.locks import queue_of
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
    "carry",
    "is_set_aside",
    "queue_of",
    "status",
    "work",
]
