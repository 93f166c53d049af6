"""What durability costs: CPU and wall per step, steps a second, bytes, and the time to recover."""

import random
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

import clew
from clew import open_store
from clew.core.stores import Store
from clew.stores.interface import Deletes
from clew.workers import WorkerConfig, WorkerEvent, work
from durability import world
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import Storm, Workers, asyncio_run, begin, folder, ids, modules_of
from recordings.part import Figure, Part
from tests.postgres import postgres

COST: Final = """\
The same runs ({runs} of {steps} steps, one after the other, with a model and tools that take no
time) on each store and through each driver, in one process, {times} times in turn; the minimum
counts. CPU is that of the process; the PostgreSQL server's is only in the wall time. A step has
{effects} effects on average, each of which waits for the disk twice. DBOS hands out {at_once} runs
at once, since it polls ten times a second; its wall time is therefore left out. The cost of a step
through Ray is with the ten thousand runs.
"""

FAST: Final = """\
Queued runs, executed by worker processes with {few} and {many} concurrent runs together; a reply
takes {model:.0f} ms, tools take no time. Measured from the first run taken to the last one ended;
the better of {times} times, in turn. All stores wait for the disk at every barrier (SQLite:
`FULL`). SQLite has one writer at a time, so that two processes wait for each other: judge it by one
worker.
"""

RECOVERY: Final = """\
Two workers share some runs; one is killed with `kill -9`. From then on until the other has taken up
the last of the runs that were in its hands, {times} times.
"""

MODEL: Final = 0.02
FEW: Final = 50
MANY: Final = 500
PATIENCE: Final = 60.0


@dataclass(frozen=True)
class Cost:
    """What a step took, in seconds; `size` in bytes, where the store says so."""

    cpu: float
    wall: float
    size: float = 0.0


def cost(sample: int) -> Part:
    """Each store and driver against the store in memory."""
    runs, times = max(4, 30 // sample), 3 if sample == 1 else 1
    fields: dict[str, list[Cost]] = {}
    with folder("cost") as root, postgres(durable=True) as server:
        for turn in range(times):
            stores = {
                "memory": "memory:",
                "SQLite": f"{root}/{turn}.sqlite",
                "PostgreSQL": server.database(),
            }
            for name, where in stores.items():
                fields.setdefault(name, []).append(asyncio_run(_plain, where, root, runs))
                tell(f"cost: {name}")
            ways = (("local", "SQLite"), ("local", "PostgreSQL"), ("dbos", "PostgreSQL"))
            for driver, name in ways:
                where = stores[name] if name == "SQLite" else server.database()
                got = asyncio_run(_driven, driver, f"{where}", root, runs)
                fields.setdefault(f"{name}, driver {driver}", []).append(got)
                tell(f"cost: {name}, {driver}")
    base = _cheapest(fields["memory"])
    figures = list[Figure]()
    for name, costs in fields.items():
        minimum = _cheapest(costs)
        wall = "" if "dbos" in name else f", wall {minimum.wall / base.wall:.1f} times"
        size = f", {minimum.size:,.0f} bytes a step" if minimum.size else ""
        figures.append(
            Figure(
                name,
                f"CPU {minimum.cpu / base.cpu:.2f} times{wall}",
                f"{minimum.cpu * 1000:.2f} ms CPU a step{size}",
            )
        )
    text = COST.format(runs=runs, steps=world.STEPS, times=times, effects="0.9", at_once=16)
    return Part("What a step costs", text, figures)


def _cheapest(costs: list[Cost]) -> Cost:
    return Cost(min(one.cpu for one in costs), min(one.wall for one in costs), costs[0].size)


async def _plain(where: str, path: Path, runs: int) -> Cost:
    """Runs one after the other, without a driver."""
    agent = world.agent(path, pace=0.0, model=0.0)
    store = open_store(where)
    try:
        await clew.run(agent, world.GOAL, store=store)
        empty = await _size(store)
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(runs):
            await clew.run(agent, world.GOAL, store=store)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        size = await _size(store) - empty
    finally:
        await store.close()
    steps = runs * world.STEPS
    return Cost(cpu / steps, wall / steps, size / steps)


async def _size(store: Store) -> int:
    return await store.size() if isinstance(store, Deletes) else 0


async def _driven(driver: str, where: str, path: Path, runs: int) -> Cost:
    """The same runs through a worker in this process."""
    agent = world.agent(path, pace=0.0, model=0.0)
    run_ids = [f"{driver}-{number}" for number in range(runs)]
    await begin(where, agent, run_ids)
    marks = list[tuple[float, float]]()
    leaving = anyio.Event()

    def told(news: WorkerEvent) -> None:
        if news.what in {"serving", "ended"}:
            marks.append((time.process_time(), time.perf_counter()))
        if len(marks) == runs + 1:
            leaving.set()

    at_once = 1 if driver == "local" else 16
    config = WorkerConfig(store=where, agents=[agent], at_once=at_once, driver=driver)
    await work(config, on_event=told, leaving=leaving)
    steps = runs * world.STEPS
    (cpu, wall), (cpu_end, wall_end) = marks[0], marks[-1]
    return Cost((cpu_end - cpu) / steps, (wall_end - wall) / steps)


def fast(sample: int) -> Part:
    """Steps a second, with few and with many runs at once."""
    figures = list[Figure]()
    rates: dict[tuple[str, int], float] = {}  # by name and number of workers
    times = 2 if sample == 1 else 1
    for at_once in (FEW, MANY):
        runs = max(at_once, (at_once * 4 if at_once == FEW else at_once * 2) // sample)
        rates = {}
        for _ in range(times):
            for name, workers in (("SQLite", 1), ("SQLite", 2), ("PostgreSQL", 2), ("DBOS", 2)):
                rate = _rate(name, at_once, runs, workers)
                rates[name, workers] = max(rate, rates.get((name, workers), 0.0))
                tell(f"fast: {name}, {workers} workers, {at_once} at once")
        sqlite, plain = rates["SQLite", 1], rates["PostgreSQL", 2]
        told = f"steps a second, {at_once} runs at once"
        figures += [
            _rated(f"SQLite, one worker: {told}", sqlite, runs, minimum=1000),
            _rated(f"SQLite, two workers: {told}", rates["SQLite", 2], runs),
            _rated(f"PostgreSQL, two workers: {told}", plain, runs),
            _ratio(f"DBOS, two workers: {told}", rates["DBOS", 2], plain, runs),
        ]
    text = FAST.format(few=FEW, many=MANY, model=MODEL * 1000, times=times)
    return Part("Steps a second", text, figures)


def _rated(what: str, rate: float, runs: int, *, minimum: float = 0.0) -> Figure:
    aim = f"≥ {minimum:,.0f}" if minimum else ""
    return Figure(what, f"{rate:,.0f}", f"{runs:,} runs", aim, rate >= minimum)


def _ratio(what: str, rate: float, plain: float, runs: int) -> Figure:
    ratio = rate / plain
    told = f"{rate:,.0f}, {ratio:.2f} times PostgreSQL alone"
    return Figure(what, told, f"{runs:,} runs", "≥ 0.7 times", ratio >= 0.7)


def _rate(name: str, at_once: int, runs: int, number: int = 2) -> float:
    driver = "dbos" if name == "DBOS" else "local"
    with ExitStack() as stack:
        outside = stack.enter_context(folder("fast"))
        if name == "SQLite":
            text = str(outside / "runs.sqlite")
        else:
            text = stack.enter_context(postgres(durable=True)).database()
        storm = Storm(
            name, runs, 0, number, driver, at_once=at_once // number, pace=0.0, model=MODEL
        )
        agent = world.agent(outside, pace=0.0, model=MODEL)
        asyncio_run(begin, text, agent, ids(runs))
        nursery = stack.enter_context(Nursery(*modules_of(driver)))
        workers = Workers(storm, text, outside, nursery)
        for _ in range(storm.workers):
            workers.start()
        ended = 0
        while ended < runs:
            time.sleep(0.1)
            workers.check()
            ended = sum(told.what == "ended" for told in workers.news())
        workers.leave()
        news = workers.news()
    first = min(told.at for told in news if told.what == "taken")
    last = max(told.at for told in news if told.what == "ended")
    return runs * world.STEPS / (last - first)


def recovery(sample: int) -> Part:
    """How long runs lie still whose worker was killed."""
    figures = list[Figure]()
    ways = (("SQLite", "local", 1.0), ("PostgreSQL", "local", 1.0), ("DBOS", "dbos", 10.0))
    times = max(1, 10 // sample)
    for name, driver, max_seconds in ways:
        taken = sorted(_recovered(name, driver, max(1, times if driver == "local" else times // 2)))
        told = f"median {statistics.median(taken):.2f} s, worst {taken[-1]:.2f} s"
        figures.append(
            Figure(f"{name}: until the runs of a killed worker go on", told,
                   f"{len(taken)} kills", f"< {max_seconds:g} s", taken[-1] < max_seconds)
        )  # fmt: skip
        tell(f"recovery: {name}")
    return Part("Time to recover", RECOVERY.format(times="several"), figures)


def _recovered(name: str, driver: str, times: int) -> Iterator[float]:
    chance = random.Random(2)
    with ExitStack() as stack:
        outside = stack.enter_context(folder("recovery"))
        server = None if name == "SQLite" else stack.enter_context(postgres(durable=True))
        for turn in range(times):
            here = outside / str(turn)
            here.mkdir()
            text = str(here / "runs.sqlite") if server is None else server.database()
            yield _one_recovery(name, driver, text, here, chance.uniform(0.0, 1.0))


def _one_recovery(name: str, driver: str, location: str, outside: Path, pause: float) -> float:
    """Kill the one of two workers that has more runs at hand; seconds until the other has them."""
    storm = Storm(name, 12, 0, driver=driver, at_once=16, model=60.0)  # no run ends meanwhile
    asyncio_run(begin, location, world.agent(outside, model=storm.model), ids(storm.runs))
    with Nursery(*modules_of(driver)) as nursery:
        workers = Workers(storm, location, outside, nursery)
        pids = {str(number): workers.start() for number in (1, 2)}
        while len(workers.in_hand("1") | workers.in_hand("2")) < storm.runs or not all(
            workers.news(name) for name in pids
        ):
            time.sleep(0.02)
        time.sleep(pause)
        dead, alive = sorted(pids, key=lambda name: -len(workers.in_hand(name)))
        held = workers.in_hand(dead)
        died = nursery.kill(pids[dead])
        patience = time.monotonic() + PATIENCE
        while not held <= workers.in_hand(alive):
            if time.monotonic() > patience:
                return PATIENCE
            time.sleep(0.01)
        return max(told.at for told in workers.news(alive) if told.run_id in held) - died
