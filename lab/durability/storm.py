"""A storm: runs are submitted, worker processes work on them, and are killed at random moments."""

import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from clew import Agent, open_store
from clew.agent.runner import start
from clew.core.stores import Store
from clew.stores.listing import stops
from clew.workers import QUEUE
from durability import world
from durability.audit import Audit, audit
from durability.nursery import Nursery
from durability.progress import tell
from durability.worker import Orders

PATIENCE = 300.0
"""Seconds after which a storm is broken off; what is open then counts as lost."""

STILL = 60.0
"""Seconds without an effect and without an end after which it is broken off too."""

LOOK = 0.5
BYTES = 12 * 19
"""A run's effects in their file, about."""


@dataclass(frozen=True)
class Storm:
    """What a storm is to be: so many runs, workers and kills, and what is random, from a seed.

    `clocks` are by how many seconds the workers' clocks are late, one after the other. Where
    `strike` is given, that is done so many times, in place of killing a worker; `beside` is done
    after every third kill.
    """

    name: str
    runs: int
    kills: int
    workers: int = 2
    driver: str = "local"
    seed: int = 1
    at_once: int = 16
    pace: float = 0.002
    model: float = 0.004
    clocks: tuple[float, ...] = (0.0,)
    replayed: int = 1
    strike: Callable[[], None] | None = None
    beside: Callable[[], None] | None = None
    steps: int = world.STEPS


class Told(NamedTuple):
    """What a worker told: when, what, of which run, in words."""

    at: float
    what: str
    run_id: str
    text: str


@dataclass
class Weather:
    """What came of it: kills and seconds, and what the records and the file of effects say."""

    kills: int = 0
    seconds: float = 0.0
    audit: Audit = field(default_factory=Audit)
    news: list[Told] = field(default_factory=list[Told])


@contextmanager
def folder(name: str, *, memory: bool = False) -> Iterator[Path]:
    """A folder of its own, removed in the end; in memory, where the machine has such."""
    where = "/dev/shm" if memory and Path("/dev/shm").is_dir() else None
    path = Path(tempfile.mkdtemp(prefix=f"clew-{name}-", dir=where))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def ids(number: int) -> list[str]:
    """The runs of a storm."""
    return [f"run-{one:04d}" for one in range(1, number + 1)]


async def begin(location: str, agent: Agent, run_ids: Sequence[str]) -> None:
    """Begin runs that wait for a worker."""
    store = open_store(location)
    try:
        for run_id in run_ids:
            await start(agent, world.GOAL, store, run_id=run_id, queue=QUEUE)
    finally:
        await store.close()


async def with_store(location: str, ask: Callable[[Store], Any]) -> Any:
    """Ask something of the store at a place."""
    store = open_store(location)
    try:
        return await ask(store)
    finally:
        await store.close()


async def open_runs(store: Store) -> int:
    """How many runs have not stopped."""
    return sum(not stops(info.last.body) for info in await store.runs())


def asyncio_run(function: Callable[..., Any], *args: Any) -> Any:
    """Run it on asyncio, as all drivers do."""
    return anyio.run(function, *args, backend="asyncio")


def blow(storm: Storm, location: str, outside: Path) -> Weather:
    """Let the storm blow over the store at `location`, and look what is left.

    Kills are spread over the work by how many effects have happened; when exactly, and whom they
    hit, is random.
    """
    agent = world.agent(outside, pace=storm.pace, model=storm.model)
    run_ids, weather, begun = ids(storm.runs), Weather(), time.monotonic()
    asyncio_run(partial(begin, location, agent, run_ids))
    with Nursery(*modules_of(storm.driver)) as nursery:
        workers = Workers(storm, location, outside, nursery)
        for _ in range(storm.workers):
            workers.start()
        if storm.strike is not None:
            workers.wait_at_work()
        _hit(storm, location, outside, workers, weather, begun + PATIENCE)
        workers.leave()
    weather.seconds = time.monotonic() - begun
    weather.news = workers.news()
    weather.audit = asyncio_run(
        with_store, location, partial(audited, storm, run_ids, world.Ledger(outside), agent)
    )
    return weather


def modules_of(driver: str) -> tuple[str, ...]:
    """What a nursery imports for workers of a driver."""
    return () if driver == "local" else (f"clew_cluster.{driver}",)


async def audited(
    storm: Storm, run_ids: Sequence[str], ledger: world.Ledger, agent: Agent, store: Store
) -> Audit:
    """Hold the records of a storm against the effects that happened."""

    def progress(text: str) -> None:
        tell(f"{storm.name}: {text}")

    return await audit(store, run_ids, ledger, agent, every=storm.replayed, progress=progress)


class Workers:
    """The workers of a storm, by their process ids."""

    def __init__(self, storm: Storm, location: str, outside: Path, nursery: Nursery) -> None:
        self.storm, self.location, self.outside, self.nursery = storm, location, outside, nursery
        self.alive: list[int] = []
        self.number = dict[int, int]()
        self.begun = 0

    def start(self, *, take_over: bool = False) -> int:
        """Start one more, under a name that was not there before."""
        self.begun += 1
        storm = self.storm
        orders = Orders(
            store=self.location,
            folder=str(self.outside),
            news=str(self.outside / f"news-{self.begun}"),
            driver=storm.driver,
            name=f"worker-{self.begun}",
            at_once=storm.at_once,
            pace=storm.pace,
            model=storm.model,
            steps=storm.steps,
            late=storm.clocks[self.begun % len(storm.clocks)],
            take_over=take_over,
        )
        pid = self.nursery.start(orders)
        self.alive.append(pid)
        self.number[pid] = self.begun
        return pid

    def kill(self, chance: random.Random) -> None:
        """Kill one of them and start another in its place."""
        pid = self.alive.pop(chance.randrange(len(self.alive)))
        self.nursery.kill(pid)
        self.start()

    def wait_at_work(self) -> None:
        """Wait until all serve: one that never did ends where its store or engine is not there."""
        while not all((self.outside / f"news-{self.number[pid]}").exists() for pid in self.alive):
            time.sleep(0.01)
            self.check()

    def check(self) -> None:
        """Raise `RuntimeError` where one ended by itself."""
        for pid in self.alive:
            if not self.nursery.alive(pid):
                message = f"{self.storm.name}: a worker ended by itself ({self.nursery.wait(pid)})"
                raise RuntimeError(message)

    def leave(self) -> None:
        """Have all of them leave, and wait for that."""
        for pid in self.alive:
            self.nursery.signal(pid, signal.SIGTERM)
        for pid in self.alive:
            self.nursery.wait(pid)

    def news(self, worker: str = "*") -> list[Told]:
        """What they told, or one of them, in the order of time."""
        listed = list[Told]()
        for path in self.outside.glob(f"news-{worker}"):
            for line in path.read_text("utf-8", "replace").splitlines():
                if len(words := line.split("\t")) == 4:
                    listed.append(Told(float(words[0]), words[1], words[2], words[3]))
        return sorted(listed)

    def in_hand(self, worker: str) -> set[str]:
        """The runs that a worker has taken up, and says nothing else of."""
        last = {told.run_id: told.what for told in self.news(worker)}
        return {run_id for run_id, what in last.items() if what == "taken"}


def _hit(
    storm: Storm, location: str, outside: Path, workers: Workers, weather: Weather, until: float
) -> None:
    """Kill, as often as is wanted, and wait for the end of the work."""
    chance, effects = random.Random(storm.seed), outside / "effects"
    marks = sorted(chance.uniform(0.02, 0.9) * storm.runs * BYTES for _ in range(storm.kills))
    looked = moved = time.monotonic()
    seen = (0, storm.runs)
    while time.monotonic() < min(until, moved + STILL):
        time.sleep(0.002)
        size = effects.stat().st_size if effects.exists() else 0
        if weather.kills < storm.kills and size >= marks[weather.kills]:
            time.sleep(chance.uniform(0.0, 0.02))
            if storm.strike is None:
                workers.kill(chance)
            else:
                storm.strike()
            weather.kills += 1
            if storm.beside is not None and weather.kills % 3 == 1:
                workers.wait_at_work()
                storm.beside()
        if time.monotonic() - looked > LOOK:
            looked = time.monotonic()
            workers.check()
            left = asyncio_run(with_store, location, open_runs)
            done = storm.runs - left
            if (size, left) != seen:
                seen, moved = (size, left), looked
            tell(f"{storm.name}: {done} of {storm.runs} runs done, {weather.kills} kills")
            if not left:
                return
