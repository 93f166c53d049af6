"""Fan-out: run many goals through the actors of one program, and yield the ends as they come."""

import os
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from clew import Agent, ConfigError
from clew.agent.runner import start
from clew.agent_files import agent_named
from clew.core.journal import load
from clew.interfaces import Json, Store
from clew.stores import RunExistsError, Where, default_location, store_at
from clew.support.run_ids import check_run_id, new_run_id
from clew_cluster.ray.actor import ActorConfig, ActorResult, named_from
from clew_cluster.ray.actor_pool import Cast, crew


@dataclass(frozen=True, slots=True)
class FanOutProgress:
    """The progress of a fan-out: how many runs are done, of how many (None: unknown).

    `rate` is runs per second since the first was sent; `statuses` counts how they ended.
    """

    done: int
    total: int | None
    rate: float
    statuses: Mapping[str, int]


OnProgress: TypeAlias = Callable[[FanOutProgress], None]


async def fan_out(
    agents: str | Sequence[str],
    goals: Iterable[str] = (),
    *,
    runs: Iterable[str] = (),
    store: str | Path | None = None,
    name: str = "",
    queue: str = "",
    workers: int = 2,
    at_once: int = 64,
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> AsyncGenerator[ActorResult]:
    """Carry `runs` that were begun, then answer `goals` with the first of the agents, in actors.

    `agents` are named, `module:name` or an agent file: each actor makes them for itself. No more
    than `at_once` runs are in flight, and the next is sent when an end was taken, so nothing heaps
    up here. Goal number N of a fan-out with a `name` is the run `NAME-N`; the same call after a
    crash takes up what the records leave open and gives again what they answer. With a `queue`
    workers may carry the runs too. `workers`, `address` and `options` are those of `Cast`. Left
    early, it waits until each run has come to the end of its step. asyncio only.

    Raises `ConfigError` where the parts do not fit, `ClewError` where Ray has gone.
    """
    location, folder = shared_store_location(store), str(Path.cwd())
    names = [named_from(each, folder) for each in ([agents] if isinstance(agents, str) else agents)]
    cast = Cast(workers, at_once, address, options or {})
    made = [await agent_named(each, folder) for each in names]  # what does not fit is told first
    check_run_id(name)
    sent = _Sent(goals, runs, name or new_run_id(), queue)
    async with store_at(location) as opened_store:
        coming = sent.coming(opened_store, *(made[0] if made else (None, {})))
        async with crew(ActorConfig(location, tuple(names), folder=folder), cast) as working:
            statuses, since, more = Counter[str](), time.monotonic(), True
            while True:
                while more and not working.full:
                    if more := (run_id := await anext(coming, "")) != "":
                        working.send(run_id)
                if working.idle:
                    return
                end = await working.next()
                statuses[end.status] += 1
                if on_progress is not None:
                    done = statuses.total()
                    rate = done / max(time.monotonic() - since, 0.001)
                    on_progress(FanOutProgress(done, sent.total, rate, dict(statuses)))
                yield end


def shared_store_location(store: Where) -> str:
    """The place of a store, as every actor can find it. Raises `ConfigError`."""
    if store is not None and not isinstance(store, str | Path):
        raise ConfigError("actors open the store for themselves: name its place")
    named = str(store or os.environ.get("CLEW_STORE") or default_location())
    if named in {"memory:", ":memory:"}:
        raise ConfigError("actors cannot share a store in memory: name an SQLite file or a server")
    if "://" in named:
        return named
    slash = os.sep if named.endswith(("/", os.sep)) else ""
    return str(Path(named).expanduser().absolute()) + slash


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a fan-out is to send."""

    goals: Iterable[str]
    runs: Iterable[str]
    name: str
    queue: str

    @property
    def total(self) -> int | None:
        """How many runs there will be, where that can be known beforehand."""
        if isinstance(self.goals, Sized) and isinstance(self.runs, Sized):
            return len(self.goals) + len(self.runs)
        return None

    async def coming(
        self, store: Store, agent: Agent[Any] | None, origin: dict[str, Json]
    ) -> AsyncGenerator[str]:
        """The ids of runs, each begun, where it is not there yet, when it is asked for."""
        for run_id in self.runs:
            yield run_id
        for number, goal in enumerate(self.goals, start=1):
            if agent is None:
                raise ConfigError("goals need an agent: name one")
            run_id = f"{self.name}-{number}"
            try:
                await start(agent, goal, store, run_id=run_id, origin=origin, queue=self.queue)
            except RunExistsError:  # it may have been begun before a crash
                record = await load(store, run_id)
                if record.goal != goal:
                    message = f"run {run_id} has another goal: give this fan-out another name"
                    raise ConfigError(message) from None
            yield run_id
