"""Which driver when: runs and steps a second of the same runs through each, on one machine."""

import time
from contextlib import ExitStack
from typing import Final

from durability import world
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import Storm, Workers, asyncio_run, begin, folder, ids, modules_of
from recordings.part import Figure, Part
from tests.cluster.temporal_server import temporal
from tests.postgres import postgres

TEXT: Final = """\
Queued runs on PostgreSQL (which waits for the disk), executed by two worker processes with
{at_once} concurrent runs together, through each driver; a reply takes {model:.0f} ms, tools take no
time. Runs of {short} steps show what an engine costs for a run, those of {long} what a step costs.
From the first run taken to the last one ended; the better of {times} times, in turn. Temporal is
its development server, with tables in memory. Ray is measured with its ten thousand runs.
"""

AT_ONCE: Final = 50
MODEL: Final = 0.02
SHORT: Final = 2


def engines(sample: int) -> Part:
    """Local workers, DBOS and Temporal, with short and long runs."""
    times, runs = (2, 100) if sample == 1 else (1, max(20, 100 // sample))
    rates: dict[tuple[int, str], float] = {}
    for _ in range(times):
        for steps in (SHORT, world.STEPS):
            for driver in ("local", "dbos", "temporal"):
                rate = runs_per_second(driver, runs, steps)
                rates[steps, driver] = max(rate, rates.get((steps, driver), 0.0))
                tell(f"engines: {driver}, {steps} steps")
    figures = [
        Figure(
            f"{driver}: runs a second, of {steps} steps",
            f"{rate:,.1f} ({rate / rates[steps, 'local']:.2f} times local)",
            f"{rate * steps:,.0f} steps a second",
        )
        for (steps, driver), rate in rates.items()
    ]
    text = TEXT.format(
        at_once=AT_ONCE, model=MODEL * 1000, short=SHORT, long=world.STEPS, times=times
    )
    return Part("Which driver when", text, figures)


def runs_per_second(driver: str, runs: int, steps: int) -> float:
    """How many runs of so many steps two workers of a driver end in a second."""
    with ExitStack() as stack:
        outside = stack.enter_context(folder("engines"))
        location = stack.enter_context(postgres(durable=True)).database()
        if driver == "temporal":
            stack.enter_context(stack.enter_context(temporal(memory=True)).named())
        storm = Storm(
            driver, runs, 0, driver=driver, at_once=AT_ONCE // 2, pace=0.0, model=MODEL, steps=steps
        )
        agent = world.agent(outside, pace=0.0, model=MODEL, steps=steps)
        asyncio_run(begin, location, agent, ids(runs))
        workers = Workers(
            storm, location, outside, stack.enter_context(Nursery(*modules_of(driver)))
        )
        for _ in range(storm.workers):
            workers.start()
        while sum(told.what == "ended" for told in workers.news()) < runs:
            time.sleep(0.1)
            workers.check()
        workers.leave()
        news = workers.news()
    first = min(told.at for told in news if told.what == "taken")
    last = max(told.at for told in news if told.what == "ended")
    return runs / (last - first)
