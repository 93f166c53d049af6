"""What `clew worker` asks of a driver and what that tells it: the same for every driver.

Each driver that can be named there is a module with a function

    async def serve(serving: Serving, tell: Tell, leaving: anyio.Event) -> None

which opens the store, works on the runs of the queue that are due, and returns when `leaving` was
set and every run at hand was left where its step ends, or (`until_idle`) when nothing is left to do
here. Cancelled, it breaks off. Its errors are ours: `ConfigError`, `StoreError`.
"""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

QUEUE = "default"
"""The queue of a run that is submitted without naming one."""

What: TypeAlias = Literal["serving", "taken", "ended", "left", "lost", "refused", "failed"]
"""The kinds of news: a worker serves; it took a run up; the run stopped; it was left for others
where its step ended; another worker has it now; its agent is not here; its model or store failed.
"""


def own_name() -> str:
    """A name that no other worker has: of the machine and the process."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Serving:
    """How a worker is to serve.

    `store` is a place as `open_store` takes it. `agent_files` name agents that this worker has;
    with `only`, it makes no others from what the records say; with `trust_origin`, also from what
    those say that somebody else began. `until_idle` ends it when nothing is due
    here. With `take_over` it takes up, at its start, also what other workers have claimed:
    they are fenced off.
    """

    store: str = field(repr=False)  # there may be a password in it
    agent_files: tuple[str, ...] = ()
    only: bool = False
    queue: str = QUEUE
    at_once: int = 8
    name: str = field(default_factory=own_name)
    until_idle: bool = False
    take_over: bool = False
    trust_origin: bool = False


class WorkerEvent(msgspec.Struct, frozen=True):
    """Something a worker tells, about the run `run_id` if there is one; `text` says it in words.

    Of a run that ended, `text` is the status of its stop.
    """

    what: What
    run_id: str = ""
    text: str = ""


OnWorkerEvent: TypeAlias = Callable[[WorkerEvent], None]
"""Takes what a worker tells. It may look, never answer."""


def ignore_event(news: WorkerEvent) -> None:
    """Nobody is told."""
    del news
