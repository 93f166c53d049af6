"""Ray as a driver: actors, on one machine or many, that do nothing but carry runs.

Ray places the actors and puts up new ones for those that died. It knows nothing of a run but its
id: whoever is killed, the records say what is open. asyncio only.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from clew.core.errors import ConfigError, one_error
from clew.core.interfaces import Standing
from clew.core.journal import load
from clew.core.runner import store_at
from clew.workers.driver import QUEUE, OnWorkerEvent, Serving, ignore_event, own_name
from clew.workers.locks import claim, queue_of, shared
from clew.workers.ray.actor import End, Orders, agent_named, named_from
from clew.workers.ray.crew import Cast, crew
from clew.workers.ray.fan_out import OnProgress, Progress, fan_out, shared_place
from clew.workers.ray.service import Service

__all__ = ["Cast", "End", "OnProgress", "Progress", "RayDriver", "fan_out", "serve"]


@dataclass(frozen=True)
class RayDriver:
    """Has runs worked on by whoever serves a queue of the store; `serve` does it with actors.

    `agents` are named as in `fan_out`; with `only`, the actors make no others from what records
    say, and with `trust_origin` also from those that the user of their machine did not begin. The
    queue is the store: what was submitted is due there, whether anybody serves it or not.
    """

    store: str = field(repr=False)  # there may be a password in it
    agents: tuple[str, ...] = ()
    only: bool = False
    queue: str = QUEUE
    name: str = field(default_factory=own_name)
    cast: Cast = field(default_factory=Cast)
    trust_origin: bool = False

    async def submit(self, run_id: str) -> None:
        """Have a run that was just begun worked on. Raises `ConfigError` if in another queue."""
        async with store_at(self.store) as store:
            queue = queue_of(await load(store, run_id))
        if queue != self.queue:
            what = f"stands in the queue {queue!r}" if queue else "stands in no queue"
            raise ConfigError(f"run {run_id} {what}: begin it with queue={self.queue!r}")

    async def resume(self, run_id: str) -> None:
        """Have a run that was ruled on, or spoken to, taken up again: it is due by that."""
        await self.submit(run_id)

    async def status(self, run_id: str) -> Standing:
        """How the run stands. Raises `StoreError` where it is unknown."""
        async with store_at(self.store) as place:
            store = shared(place)
            so_far = await load(store, run_id)
            if so_far.stop is not None and not await store.inbox(run_id):
                return so_far.stop.status
            if (lock := await claim(store, run_id)) is None:
                return "working"
            await store.release(lock)
            return "waiting"

    async def serve(self) -> None:
        """Work on what is due until cancelled; then leave each run where its step ends."""
        leaving = anyio.Event()
        with one_error():
            async with anyio.create_task_group() as together:
                together.start_soon(self._shielded, leaving)
                try:
                    await anyio.sleep_forever()
                finally:
                    leaving.set()

    async def _shielded(self, leaving: anyio.Event) -> None:
        with anyio.CancelScope(shield=True):
            await self.work(leaving)

    async def work(
        self,
        leaving: anyio.Event,
        tell: OnWorkerEvent = ignore_event,
        *,
        until_idle: bool = False,
        take_over: bool = False,
    ) -> None:
        """Serve until `leaving` is set, and leave each run where its step ends; see `Serving`."""
        place, folder = shared_place(self.store), str(Path.cwd())
        names = [named_from(each, folder) for each in self.agents]
        for each in names:
            await agent_named(each, folder)  # what does not fit is told before anything begins
        orders = Orders(
            place, tuple(names), self.only, folder, patient=False, trust_origin=self.trust_origin
        )
        serving = Serving(
            place, self.agents, self.only, self.queue, self.cast.at_once, self.name, until_idle,
            take_over, self.trust_origin,
        )  # fmt: skip
        async with store_at(place) as store:
            sharing = shared(store)
            async with crew(orders, self.cast) as working:
                await Service(sharing, working, serving, tell, leaving).go_on()


async def serve(serving: Serving, tell: OnWorkerEvent, leaving: anyio.Event) -> None:
    """Serve as `clew worker --driver ray`; see `clew.workers.driver`.

    `$RAY_ADDRESS` names the cluster; without it Ray is started here, and ended with the worker.
    `$CLEW_RAY_ACTORS` says how many actors there are to be (2).
    """
    said = os.environ.get("CLEW_RAY_ACTORS", "2")
    if not said.isdigit():
        raise ConfigError(f"CLEW_RAY_ACTORS is {said!r}: set it to the number of actors")
    cast = Cast(int(said), serving.at_once, os.environ.get("RAY_ADDRESS") or None)
    driver = RayDriver(
        serving.store,
        serving.agent_files,
        serving.only,
        serving.queue,
        serving.name,
        cast,
        serving.trust_origin,
    )
    await driver.work(leaving, tell, until_idle=serving.until_idle, take_over=serving.take_over)
