"""What a call from a program costs, beside a call that the model asks for itself.

Within one run of this command, in turn: a program that calls a tool often, one that calls it once,
and as many calls of the model's own in one step; over Monty and over CPython in the sandbox, with a
store in memory and with SQLite. The cost of a call from code is the difference of the first two,
by the number of calls; that of the model's own calls likewise. The overhead is what a call from
code costs beyond one of the model's own.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from clew import Agent, Limits, MemoryStore, open_store, read, run, tool
from clew.guards import Provenance
from clew.interfaces import Store
from clew.support.resources import resources
from clew.testing.models import Move, ScriptedModel, act, acts, say
from clew_code.programs import Executor, Monty, code_tool
from clew_code.programs.process import SandboxedPython
from clew_code.sandbox import kernel

CALLS: Final = 101
ROUNDS: Final = 9
LIMIT: Final = 1.0
"""Milliseconds of overhead that a call from code may have."""


@tool(effect="read")
async def look(number: int) -> int:
    """Look at a number."""
    return number


def program(calls: int) -> Move:
    """A program of as many calls."""
    return act("run_code", code=f"for number in range({calls}):\n    look(number=number)\n")


def plain(calls: int) -> Move:
    """As many calls of the model."""
    return acts(*(act("look", number=number) for number in range(calls)))


class Spent(NamedTuple):
    """Milliseconds: on the clock, and of the processor in clew's own process."""

    wall: float
    cpu: float


async def spent(executor: Executor, move: Move, store: Store) -> Spent:
    """What a run takes that makes a move, in a session that is open."""
    script = [program(1), move, say("done")]
    agent = Agent(
        model=ScriptedModel(script),
        tools=[code_tool(executor), look],
        limits=Limits(tool_calls=10 * CALLS, calls_per_step=10 * CALLS),
        guards=[Provenance("off")],
    )
    begun, worked = time.perf_counter(), time.process_time()
    result = await run(agent, "Look.", store=store)
    took = Spent(1_000 * (time.perf_counter() - begun), 1_000 * (time.process_time() - worked))
    record = await read(result.run_id, store=store)
    for call in record.steps[1].calls:
        if call.observation is None or not call.observation.ok:
            raise RuntimeError(f"{call.observation}")
    return took


async def one(executor: Executor, store: Store) -> list[float]:
    """A call from code, on the clock and of the processor; one of the model's own, likewise."""
    more = CALLS - 1
    async with resources():
        few = await spent(executor, program(1), store)
        code = await spent(executor, program(CALLS), store)
        minimum = await spent(executor, plain(1), store)
        own = await spent(executor, plain(CALLS), store)
    return [
        (code.wall - few.wall) / more, (code.cpu - few.cpu) / more,
        (own.wall - minimum.wall) / more, (own.cpu - minimum.cpu) / more,
    ]  # fmt: skip


async def measure() -> int:
    """Print the table."""
    executors: list[Executor] = [Monty()]
    if not kernel().lacks:
        executors.append(SandboxedPython())
    heads = ("executor", "store", "from code", "CPU", "the model's own", "CPU", "overhead", "CPU")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    good = True
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as folder:
        for executor in executors:
            for name in ("memory", "SQLite"):
                rows = list[list[float]]()
                for turn in range(ROUNDS):
                    path = Path(folder) / f"{executor.name.partition('/')[0]}-{turn}.sqlite"
                    store = MemoryStore() if name == "memory" else open_store(str(path))
                    rows.append(await one(executor, store))
                    await store.close()
                wall, cpu, own, own_cpu = map(statistics.median, zip(*rows, strict=True))
                good = good and wall - own <= LIMIT
                loads.append(os.getloadavg()[0])
                print(
                    f"| {executor.name} | {name} | {wall:.2f} ms | {cpu:.2f} ms | {own:.2f} ms |"
                    f" {own_cpu:.2f} ms | {wall - own:.2f} ms | {cpu - own_cpu:.2f} ms |"
                )
    print(f"\n{os.cpu_count()} cores, load {min(loads):.1f} to {max(loads):.1f}")
    print(f"the overhead of a call is at most {LIMIT:g} ms: {'yes' if good else 'NO'}")
    return 0 if good else 1
