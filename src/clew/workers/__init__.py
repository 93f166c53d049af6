"""Who calls `advance` until a run is done: this process, DBOS, Ray.

A driver keeps no log of its own. What is due, what was done and what waits for a person stands in
the records; a driver that is killed, or replaced by another kind, takes up what they say.
`serving` says what a module must offer to be a driver of `clew worker`.
"""

from clew.workers.driver import QUEUE, OnWorkerEvent, Serving, WorkerEvent
from clew.workers.run_one import Agents, carry

__all__ = ["QUEUE", "Agents", "OnWorkerEvent", "Serving", "WorkerEvent", "carry"]
