"""Ray as a driver: actors, on one machine or many, that do nothing but carry runs.

Ray places the actors and puts up new ones for those that died. It knows nothing of a run but its
id: whoever is killed, the records say what is open. asyncio only.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio

from clew import ConfigError
from clew.agent_files import agent_named
from clew.interfaces import RunInfo
from clew.stores import store_at
from clew.stores.listing import summary
from clew.stores.locks import SharedStore, release_quietly, shared
from clew.support.settings import check_fields
from clew.workers import OnWorkerEvent, WorkerConfig
from clew.workers.run_one import RunOutcome
from clew.workers.worker import Worker
from clew_cluster.ray.actor import ActorConfig, ActorResult, named_from
from clew_cluster.ray.actor_pool import Cast, crew
from clew_cluster.ray.fan_out import shared_store_location


@dataclass(frozen=True, slots=True)
class RayDriver:
    """Executes the runs of a queue with actors, each run that is due and free by one of them.

    There are `actors` actors, by default `$CLEW_RAY_ACTORS` or 2, in the Ray cluster at `address`,
    by default `$RAY_ADDRESS`, or one that starts here and ends with the worker. `options` go to Ray
    with each actor (`resources`, `runtime_env`, …). Agents are named, because each actor makes its
    own.
    """

    actors: int | None = None
    address: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    async def serve(
        self, config: WorkerConfig, on_event: OnWorkerEvent, leaving: anyio.Event
    ) -> None:
        """Serve the queue, as `clew.workers.Driver` says."""
        location, folder = shared_store_location(config.store), str(Path.cwd())
        names = tuple(named_from(each, folder) for each in _names(config))
        for each in names:
            await agent_named(each, folder)  # what does not fit is told before anything begins
        made_with = ActorConfig(
            location, names, config.only, folder, patient=False,
            trust_origin=config.trust_origin, accept_change=config.accept_change,
        )  # fmt: skip
        async with store_at(location) as opened, crew(made_with, self._cast(config)) as working:
            store = shared(opened)
            worker = Worker(store, config, Sender(store, working), on_event, leaving)
            async with anyio.create_task_group() as group:
                group.start_soon(_leave_on_signal, leaving, working.tell_to_leave)
                await worker.serve()
                group.cancel_scope.cancel()

    def _cast(self, config: WorkerConfig) -> Cast:
        actors, address = self.actors, self.address or os.environ.get("RAY_ADDRESS") or None
        if actors is None:
            count_text = os.environ.get("CLEW_RAY_ACTORS", "2")
            if not count_text.isdigit():
                raise ConfigError(
                    f"CLEW_RAY_ACTORS is {count_text!r}: set it to the number of actors"
                )
            actors = int(count_text)
        return Cast(actors, config.at_once, address, self.options)


def _names(config: WorkerConfig) -> list[str]:
    """The names of a worker's agents. Raises `ConfigError` where it has agents without."""
    if callable(config.agents):
        raise ConfigError("actors make their agents for themselves: name them")
    names = [one for one in config.agents if isinstance(one, str)]
    if len(names) < len(config.agents):
        raise ConfigError("actors make their agents for themselves: name them, as module:name")
    return names


async def _leave_on_signal(leaving: anyio.Event, leave: Callable[[], None]) -> None:
    await leaving.wait()
    leave()


class RunSender(Protocol):
    """What carries a run elsewhere."""

    async def carry(self, run_id: str, *, over: bool = False) -> ActorResult:
        """Have a run carried, and wait until it comes back."""
        ...


class Sender:
    """Carries runs for a worker by sending them to a crew."""

    def __init__(self, store: SharedStore, crew: RunSender) -> None:
        self._store = store
        self._crew = crew

    async def carry(self, run: RunInfo, lock: str, worker: Worker) -> RunOutcome:
        """Let go of the run, which its actor claims, and have it carried."""
        await release_quietly(self._store, lock)
        outcome = summary(run)
        worker.taken(run.run_id, "" if outcome is None else outcome.started.goal)
        end = await self._crew.carry(run.run_id, over=lock != run.run_id)
        if end.open is None:
            return RunOutcome("ended", end.status, end.entries)
        return RunOutcome(end.open, end.reason, moved=end.moved)

    async def prepare(self, run: RunInfo) -> None:
        """Actors make agents when they need them."""


serve = RayDriver().serve
