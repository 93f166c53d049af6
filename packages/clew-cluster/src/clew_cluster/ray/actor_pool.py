"""The actors of a program, and the runs that they have in flight."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec
from ray.exceptions import RayError

from clew import ClewError, ConfigError
from clew.support.error_text import message_of
from clew_cluster.ray.actor import Actor, ActorConfig, ActorResult
from clew_cluster.ray.session import RAY, session

PATIENCE: Final = 60.0
"""Seconds that runs may take to end their step when their program wants to leave them."""

CLOSING: Final = 15.0
"""Seconds that actors may take to close what their tools hold open (connections, processes)."""

# Actors wait for models most of the time, so they reserve no processor: one that has to be put up
# anew, on whatever machine is left, never waits for room. Ray puts up an actor that died, and tells
# it again what it was told, for ever: the record knows what is done.
_OPTIONS: Final[Mapping[str, Any]] = {
    "num_cpus": 0,
    "max_restarts": -1,
    "max_task_retries": -1,
    "scheduling_strategy": "SPREAD",
}


@dataclass(frozen=True, slots=True)
class Cast:
    """How many actors there are, how many runs they have in flight together, and where.

    `address` is that of a Ray cluster, None for one of its own; `options` go to Ray with each actor
    (`resources`, `runtime_env`, …).
    """

    workers: int = 2
    at_once: int = 64
    address: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        for name in ("workers", "at_once"):
            if (number := getattr(self, name)) < 1:
                raise ConfigError(f"{name} is {number}: give 1 or more")


class ActorPool:
    """Actors at work. Of a run in flight only its id is kept here, and of others nothing."""

    def __init__(self, config: ActorConfig, cast: Cast) -> None:
        workers = min(cast.workers, cast.at_once)
        each = -(-cast.at_once // workers) + 1  # and a word to leave
        options = {**_OPTIONS, "max_concurrency": each, **cast.options}
        made: Any = RAY.remote(Actor).options(**options)
        encoded = msgspec.json.encode(config)
        self._actors: list[Any] = [made.remote(encoded) for _ in range(workers)]
        self._loads = [0] * workers
        self._at_once = cast.at_once
        self._flying = set[asyncio.Task[ActorResult]]()
        self._landed = asyncio.Queue[asyncio.Task[ActorResult]]()

    @property
    def full(self) -> bool:
        """Whether nothing more may be sent for now."""
        return len(self._flying) >= self._at_once

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._flying

    async def carry(self, run_id: str, *, over: bool = False) -> ActorResult:
        """Have a run carried by the actor that has the fewest; with `over`, whoever has claimed it.

        Raises `ClewError` where Ray has lost its actors.
        """
        index = self._loads.index(min(self._loads))
        self._loads[index] += 1
        try:
            return msgspec.json.decode(
                await self._actors[index].advance.remote(run_id, over), type=ActorResult
            )
        except RayError as error:
            why = message_of(error)[:300]
            raise ClewError(f"Ray is gone; the records are whole, begin again: {why}") from error
        finally:
            self._loads[index] -= 1

    def send(self, run_id: str) -> None:
        """Have a run carried; its end is one of those that `next` gives."""
        task = asyncio.ensure_future(self.carry(run_id))
        self._flying.add(task)
        task.add_done_callback(self._landed.put_nowait)

    async def next(self) -> ActorResult:
        """The end of the run that comes back next; raises as `carry` does."""
        task = await self._landed.get()
        self._flying.discard(task)
        return task.result()

    def tell_to_leave(self) -> None:
        """Have each run in flight left where its step ends."""
        for actor in self._actors:
            actor.leave.options(max_task_retries=0).remote()

    async def end(self) -> None:
        """Wait until no run is in flight, for a while, and let the actors go."""
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(PATIENCE):
                if not self.idle:
                    self.tell_to_leave()
                while not self.idle:
                    with suppress(ClewError):
                        await self.next()
            with anyio.move_on_after(CLOSING):
                closed = [each.close.options(max_task_retries=0).remote() for each in self._actors]
                await asyncio.gather(*closed, return_exceptions=True)
            self.abandon()

    def abandon(self) -> None:
        """Let the actors go at once: what was not recorded is lost, and the runs are open."""
        for actor in self._actors:
            RAY.kill(actor)
        for task in self._flying:
            task.cancel()
        self._flying.clear()
        self._actors.clear()


@asynccontextmanager
async def crew(config: ActorConfig, cast: Cast) -> AsyncGenerator[ActorPool]:
    """Actors for as long as the context lasts, in a Ray that is connected, or started, for them.

    Cancelled, it breaks off what they are at; left otherwise, each run is let end its step.
    """
    with session(cast.address, cpus=cast.workers):
        working = ActorPool(config, cast)
        try:
            yield working
        except asyncio.CancelledError:
            working.abandon()
            raise
        finally:
            await working.end()
