"""How a worker is to work: the same for every driver, in Python and on the command line."""

import math
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

import anyio
import msgspec

from clew.agent.agent import Agent
from clew.concurrency.tasks import one_error
from clew.core.listeners import Listener
from clew.core.trajectory import Trajectory
from clew.stores import Where
from clew.support.errors import ConfigError
from clew.support.settings import check_fields
from clew.support.wings import WORKERS, require
from clew.workers.run_one import Agents

QUEUE: Final = "default"
"""The default queue of submitted runs."""

What: TypeAlias = Literal[
    "serving", "taken", "ended", "left", "lost", "refused", "failed", "spent", "unpriced"
]
"""The kinds of events: a worker serves; it took a run up; the run stopped; it was left for others
where its step ended; another worker has it now; its agent is not here; its model or store failed;
the queue has spent what it may today; some of that cannot be counted, since no price is known.
"""


class WorkerEvent(msgspec.Struct, frozen=True):
    """Something that a worker did, with the run `run_id` if there is one; `text` describes it.

    For a run that ended, `text` is the status of its stop.
    """

    what: What
    run_id: str = ""
    text: str = ""


OnWorkerEvent: TypeAlias = Callable[[WorkerEvent], None]
"""Takes the events of a worker. It only observes: what it raises is logged."""


Listen: TypeAlias = Callable[[Trajectory], Listener]
"""Gives a listener for a run that a worker takes up, of its record so far."""


def ignore_event(event: WorkerEvent) -> None:
    """Take an event and do nothing."""
    del event


def _own_name() -> str:
    """A name that no other worker has: of the machine and the process."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """The configuration of a worker. The fields are the options of `clew worker`.

    Raises `ConfigError` for obvious mistakes.
    """

    store: Where = field(default=None, repr=False)  # there may be a password in it
    """Where the runs are kept: a store, or what `open_store` takes."""

    agents: Agents | Sequence[Agent[Any] | str] = ()
    """The worker's agents: agents, agent files, or `module:name` of an agent or its factory.

    Or a function from a record to its agent, which raises `ConfigError` if it has none.
    """

    only: bool = False
    """Use only those agents. By default the worker also builds agents from the user's own records.

    That works for records that `clew` or an agent file began.
    """

    trust_origin: bool = False
    """Also build agents from records that somebody else began."""

    accept_change: bool = False
    """Also continue runs that an earlier form of an agent began, with the nearest of `agents`.

    That has one of the same tools, or, without any, the same prompt. The change is recorded
    (`Changed`).
    """

    queue: str = QUEUE
    """The queue to serve."""

    at_once: int = 8
    """The number of concurrent runs."""

    name: str = field(default_factory=_own_name)
    """The worker's name, unique for the store."""

    until_idle: bool = False
    """End when nothing is left to do."""

    take_over: bool = False
    """At the start, also take the runs of other workers, which are fenced off."""

    day_cost: float | None = None
    """US dollars that the queue may spend in a day (UTC), over all its workers; None: no bound.

    A queue that is spent begins no step until the day turns. Only the driver "local" keeps bounds.
    """

    day_tokens: int | None = None
    """Tokens that the queue may spend in a day."""

    driver: "str | Driver" = "local"
    """What executes the runs: the name of an installed driver, or a `Driver`."""

    listen: Listen | None = field(default=None, repr=False)
    """Observes what is recorded of each run here (not in the actors of Ray); no option has it."""

    def __post_init__(self) -> None:
        """Refuse what can only be a mistake."""
        check_fields(self)
        if self.at_once < 1:
            message = f"at_once is {self.at_once}: give 1 or more"
            raise ConfigError(message)
        bounds = {"day_cost": self.day_cost, "day_tokens": self.day_tokens}
        for name, bound in bounds.items():
            if bound is not None and not 0 < bound < math.inf:
                message = f"{name} is {bound}: give more than 0, or leave it out"
                raise ConfigError(message, field=name)
            if bound is not None and self.driver != "local":
                message = f"{name} bounds the driver local alone: leave it out, or the driver"
                raise ConfigError(message, field=name)
        if not self.queue or not self.name:
            message = "a queue and a worker need names: leave them out for the usual ones"
            raise ConfigError(message)


class Driver(Protocol):
    """Executes the runs of a queue. It keeps no log: the records contain all that it needs.

    An entry point of the group `clew.workers` names one for `clew worker --driver`: an object, or a
    module with the function `serve`.
    """

    async def serve(
        self, config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event, /
    ) -> None:
        """Execute the due runs of the queue `config.queue` of the store `config.store`.

        Return when `leaving` was set and every current run has finished its step, or, with
        `config.until_idle`, when nothing is left to do. When cancelled, abort at once. Raises
        `ConfigError` and `StoreError`.
        """
        ...


async def work(
    config: WorkerConfig,
    *,
    on_event: OnWorkerEvent = ignore_event,
    leaving: anyio.Event | None = None,
) -> None:
    """Execute the runs of a queue, like `clew worker`.

    Without `leaving`, cancelling it lets each run finish its current step, and releases it. With
    `leaving`, setting that does so, and cancelling aborts at once, as a crash would. Raises
    `ConfigError` if the worker does not fit its store or driver, `StoreError` if the store cannot
    be used at the start.

    ```python
    await work(WorkerConfig(store="runs.sqlite", agents=[agent], until_idle=True))
    ```
    """
    name = config.driver
    driver: Driver = require(WORKERS, name, f"the driver {name}") if isinstance(name, str) else name
    if leaving is not None:
        await driver.serve(config, on_event, leaving)
        return
    leave = anyio.Event()
    with one_error():
        async with anyio.create_task_group() as group:
            group.start_soon(_shielded, driver, config, on_event, leave, group.cancel_scope)
            try:
                await anyio.sleep_forever()
            finally:
                leave.set()


async def _shielded(
    driver: Driver,
    config: WorkerConfig,
    on_event: OnWorkerEvent,
    leaving: anyio.Event,
    outer: anyio.CancelScope,
) -> None:
    """In a task of its own: `asyncio.Task.cancel` of the caller knows no shield."""
    with anyio.CancelScope(shield=True):
        await driver.serve(config, on_event, leaving)
    outer.cancel()
