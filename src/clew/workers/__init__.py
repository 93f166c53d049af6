"""Workers: processes that advance the runs of a queue until they are done.

`work` is a worker, and `WorkerConfig` says how it is to work. Its driver carries the runs: this
process, DBOS, or Ray. A driver keeps no log of its own. What is due, what was done and what waits
for a person stands in the records; a driver that is killed, or replaced by another kind, takes up
what they say.
"""

from clew.workers.config import (
    QUEUE,
    Driver,
    OnWorkerEvent,
    WorkerConfig,
    WorkerEvent,
    work,
)
from clew.workers.queue import Standing, status
from clew.workers.run_one import Agents, carry

__all__ = [
    "QUEUE",
    "Agents",
    "Driver",
    "OnWorkerEvent",
    "Standing",
    "WorkerConfig",
    "WorkerEvent",
    "carry",
    "status",
    "work",
]
