"""How a worker is to work: the same for every driver, in Python and on the command line."""

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

import anyio
import msgspec

from clew.core.agent import Agent
from clew.core.errors import ConfigError, one_error
from clew.stores import Where
from clew.support.wings import WORKERS, require
from clew.workers.run_one import Agents

QUEUE: Final = "default"
"""The queue of a run that is submitted without naming one."""

What: TypeAlias = Literal["serving", "taken", "ended", "left", "lost", "refused", "failed"]
"""The kinds of events: a worker serves; it took a run up; the run stopped; it was left for others
where its step ended; another worker has it now; its agent is not here; its model or store failed.
"""


class WorkerEvent(msgspec.Struct, frozen=True):
    """Something that a worker did, with the run `run_id` if there is one; `text` says it in words.

    Of a run that ended, `text` is the status of its stop.
    """

    what: What
    run_id: str = ""
    text: str = ""


OnWorkerEvent: TypeAlias = Callable[[WorkerEvent], None]
"""Takes the events of a worker. It only observes: what it raises is logged."""


def ignore_event(event: WorkerEvent) -> None:
    """Take an event and do nothing."""
    del event


def _own_name() -> str:
    """A name that no other worker has: of the machine and the process."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """How a worker is to work. The fields are the options of `clew worker`.

    Raises `ConfigError` for what can only be a mistake.
    """

    store: Where = field(default=None, repr=False)  # there may be a password in it
    """Where the runs lie: a store, or what `open_store` takes."""

    agents: Agents | Sequence[Agent | str] = ()
    """The agents that this worker has: agents, agent files, or `module:name` of an agent or of a
    function that makes one. Or a function from a record to its agent, which raises `ConfigError`
    where it has none.
    """

    only: bool = False
    """Work for no agents but those. Without it, the worker also makes agents of what the user's
    own records say, where they were begun by `clew` or from an agent file.
    """

    trust_origin: bool = False
    """Also make agents of what records say that somebody else began."""

    queue: str = QUEUE
    """The queue whose runs are worked on."""

    at_once: int = 8
    """How many runs are worked on at the same time."""

    name: str = field(default_factory=_own_name)
    """The worker's name, of which there is one at a store."""

    until_idle: bool = False
    """End when nothing is left to do here."""

    take_over: bool = False
    """At the start, also take the runs that other workers have, which are fenced off."""

    driver: "str | Driver" = "local"
    """What carries the runs: the name of an installed driver, or a `Driver`."""

    def __post_init__(self) -> None:
        """Refuse what can only be a mistake."""
        if self.at_once < 1:
            message = f"at_once is {self.at_once}: give 1 or more"
            raise ConfigError(message)
        if not self.queue or not self.name:
            message = "a queue and a worker need names: leave them out for the usual ones"
            raise ConfigError(message)


class Driver(Protocol):
    """What carries the runs of a queue. It keeps no log: the records say all that it needs.

    An entry point of the group `clew.workers` names one for `clew worker --driver`: an object, or
    a module with the function `serve`.
    """

    async def serve(
        self, config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event, /
    ) -> None:
        """Work on the due runs of the queue `config.queue` of the store `config.store`.

        Return when `leaving` was set and every run at hand was left where its step ends, or, with
        `config.until_idle`, when nothing is left to do here. Cancelled, break off. Raises
        `ConfigError` and `StoreError`.
        """
        ...


async def work(
    config: WorkerConfig,
    *,
    on_event: OnWorkerEvent = ignore_event,
    leaving: anyio.Event | None = None,
) -> None:
    """Work on the runs of a queue: what `clew worker` does.

    Without `leaving`, cancelling it lets each run end the step at hand, and leaves it to other
    workers. With `leaving`, setting that does so, and cancelling breaks off, as a crash would.
    Raises `ConfigError` where the worker does not fit its store or driver, `StoreError` where the
    store cannot be used to begin with.

    ```python
    await work(WorkerConfig(store="runs.sqlite", agents=[agent], until_idle=True))
    ```
    """
    driver: Driver = (
        require(WORKERS, config.driver) if isinstance(config.driver, str) else config.driver
    )
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
    whole: anyio.CancelScope,
) -> None:
    """In a task of its own: `asyncio.Task.cancel` of the caller knows no shield."""
    with anyio.CancelScope(shield=True):
        await driver.serve(config, on_event, leaving)
    whole.cancel()
