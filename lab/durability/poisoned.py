"""Poisoned runs: one in five has a part that breaks what it can; the others end all the same."""

import os
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec

from clew import Agent, open_store, tool, workers
from clew.agent.broken_runs import MAX_FAILURES, is_set_aside
from clew.agent.runner import start
from clew.core.contents import Reply
from clew.core.journal import load
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict
from clew.guards import Provenance
from clew.testing.models import ScriptedModel, act, finish
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import PATIENCE, asyncio_run, folder, with_store
from recordings.part import Figure, Part, count

RUNS: Final = 500
WORKERS: Final = 2
AT_ONCE: Final = 8
STEPS: Final = 3
PACE: Final = 0.05
WITHIN: Final = 120.0
"""Seconds in which all runs are to end."""

TEXT: Final = """\
An SQLite file contains {runs} runs, and {workers} workers take {at_once} at once. In one of five
runs a part misbehaves. The tool, a guard, a bound, a check or the model raises an error (also
`SystemExit`, `KeyboardInterrupt`, a `BaseException` of its own, and one whose `__str__` exits); a
tool blocks its thread for an hour, or starts a thread that never ends; the tool, a guard or the
model ends the process (`os._exit`, `kill -9`). Raising or blocking must end no worker. After the
end of a process another worker is started, as a supervisor does. Such a run may end up to {deaths}
workers ({limit} attempts in a row without progress, after the last one with progress), and must
be set aside. All other runs must be answered.
"""


class OddError(BaseException):
    """A user's own, which no `except Exception` sees."""


class MuteError(Exception):
    """A user's own, which cannot even be described."""

    def __str__(self) -> str:  # noqa: PLE0307 - it never gets so far
        sys.exit("described")


def _raise(error: BaseException) -> None:
    raise error


def _thread() -> None:
    threading.Thread(target=time.sleep, args=(3600,)).start()


RAISING: Final[Mapping[str, Callable[[], None]]] = {
    "exits": lambda: sys.exit("enough"),
    "interrupts": lambda: _raise(KeyboardInterrupt()),
    "odd": lambda: _raise(OddError()),
    "mute": lambda: _raise(MuteError()),
    "wrong": lambda: _raise(ValueError("no")),
}
BLOCKING: Final[Mapping[str, Callable[[], None]]] = {
    "sleeps": lambda: time.sleep(3600),
    "thread": _thread,
}
ENDING: Final[Mapping[str, Callable[[], None]]] = {
    "ends": lambda: os._exit(3),
    "dies": lambda: os.kill(os.getpid(), signal.SIGKILL),
}
WAYS: Final = {**RAISING, **BLOCKING, **ENDING}
POISONS: Final = (
    *(f"{part}-{way}" for part in ("tool", "guard", "bound", "check", "model") for way in RAISING),
    *(f"tool-{way}" for way in BLOCKING),
    *(f"{part}-{way}" for part in ("tool", "guard", "model") for way in ENDING),
)
"""Which part does what."""


def swallow(part: str, poison: str) -> None:
    """Do what the poison says, where it is for this part."""
    whose, _, way = poison.partition("-")
    if whose == part:
        WAYS[way]()


@tool(effect="read", timeout=0.5)
def work(poison: str) -> str:
    """Work for a while."""
    time.sleep(PACE * random.random())
    swallow("tool", poison)
    return "worked"


async def guard(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Look at a call."""
    del call
    swallow("guard", trajectory.goal)
    return None


def bound(trajectory: Trajectory) -> str | None:
    """Look at a run that has begun."""
    if trajectory.steps:
        swallow("bound", trajectory.goal)
    return None


async def check(answer: Any, trajectory: Trajectory) -> str | None:
    """Look at an answer."""
    del answer
    swallow("check", trajectory.goal)
    return None


@dataclass(frozen=True)
class Model:
    """Works some steps, then answers; it finds the poison in its prompt."""

    info = ModelInfo("scripted:poisoned", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Take a while, then reply."""
        matches = re.search(r"\b(?:tool|guard|bound|check|model)-[a-z]+\b|well", repr(prompt))
        poison = matches.group() if matches is not None else "well"
        await anyio.sleep(PACE * random.random())
        swallow("model", poison)
        script = [*(act("work", poison=poison) for _ in range(STEPS)), finish("done")]
        return await ScriptedModel(script).complete(prompt, on_text)


def agent() -> Agent:
    """The agent of all runs."""
    return Agent(
        model=Model(),
        tools=[work],
        guards=[guard, Provenance("off")],
        bounds=[bound],
        checks=[check],
    )


class Orders(msgspec.Struct, frozen=True):
    """Where a worker works, and where it says what it does."""

    store: str
    name: str


def serve(orders: Orders) -> None:
    """A worker process: serve until nothing is left to do."""

    async def carried() -> None:
        store = open_store(orders.store)
        config = workers.WorkerConfig(
            store=store, agents=[agent()], at_once=AT_ONCE, name=orders.name
        )
        leaving = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(_until_done, store, leaving)
            await workers.work(config, leaving=leaving)
        await store.close()

    anyio.run(carried)
    os._exit(0)  # as `clew worker` leaves: a thread that is past its deadline is not waited for


async def _until_done(store: Store, leaving: anyio.Event) -> None:
    while await store.runs(1, status="open"):  # noqa: ASYNC110 - another process ends them
        await anyio.sleep(0.2)
    leaving.set()


@dataclass
class StormTally:
    """What came of a storm."""

    well: Counter[str] = field(default_factory=Counter[str])
    poisoned: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    deaths: int = 0
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list[str])

    @property
    def ill(self) -> int:
        """How many runs were poisoned."""
        return sum(kind.total() for kind in self.poisoned.values())


def storm(poisons: Sequence[str], runs: int) -> StormTally:
    """Let workers carry runs of which one in five is poisoned; start another for each that dies."""
    tally = StormTally()
    goals = [poisons[at // 5 % len(poisons)] if at % 5 == 2 else "well" for at in range(runs)]
    with folder("poisoned") as outside, Nursery("durability.poisoned") as nursery:
        text = str(outside / "runs.sqlite")
        asyncio_run(_begin, text, goals)
        began = time.monotonic()
        names = iter(range(1_000_000))

        def another() -> int:
            orders = Orders(text, f"worker-{next(names)}")
            return nursery.start(orders, entry="durability.poisoned:serve")

        alive = [another() for _ in range(WORKERS)]
        while alive and time.monotonic() < began + PATIENCE:
            time.sleep(0.05)
            for pid in [one for one in alive if not nursery.alive(one)]:
                alive.remove(pid)
                if nursery.wait(pid) != 0:
                    tally.deaths += 1
                    alive.append(another())
            tell(f"poisoned: {len(alive)} workers, {tally.deaths} died")
        tally.seconds = time.monotonic() - began
        for pid in alive:
            tally.misses.append("a worker did not come to its end")
            nursery.kill(pid)
        asyncio_run(with_store, text, lambda store: _look(store, goals, tally))
    return tally


async def _begin(location: str, goals: Sequence[str]) -> None:
    store = open_store(location)
    made = agent()
    for number, goal in enumerate(goals):
        await start(made, goal, store, run_id=f"run-{number:04}", queue=workers.QUEUE)
    await store.close()


async def _look(store: Store, goals: Sequence[str], tally: StormTally) -> None:
    for number, goal in enumerate(goals):
        stop = (await load(store, f"run-{number:04}")).stop
        how = "set aside" if is_set_aside(stop) else stop.status if stop is not None else "open"
        if goal == "well":
            tally.well[how] += 1
            if how != "answered":
                tally.misses.append(f"run {number} was {how}: {stop.reason if stop else ''}")
        else:
            tally.poisoned.setdefault(goal, Counter())[how] += 1
            if how == "open":
                tally.misses.append(f"run {number} ({goal}) is open")


def poisoned(sample: int) -> Part:
    """Two storms: of what raises or blocks, and of what ends the process."""
    runs = RUNS // sample
    mild = [one for one in POISONS if one.partition("-")[2] not in ENDING]
    harsh = [one for one in POISONS if one.partition("-")[2] in ENDING]
    first, second = storm(mild, runs), storm(harsh, runs // 2)
    figures = list[Figure]()
    for what, tally, deaths in (
        ("raises or blocks", first, 0),
        (
            "ends the process",
            second,
            (MAX_FAILURES + 1) * second.ill,
        ),
    ):
        well, ill = tally.well.total(), tally.ill
        left = sum(one["open"] for one in tally.poisoned.values())
        aside = sum(one["set aside"] for one in tally.poisoned.values())
        figures += [
            count(f"a part {what}: other runs answered", tally.well["answered"], well,
                  exactly=well),
            count(f"a part {what}: poisoned runs that are left open", left, ill, exactly=0),
            count(f"a part {what}: poisoned runs set aside", aside, ill),
            Figure(f"a part {what}: workers that died", f"{tally.deaths}", f"{ill}",
                   f"at most {deaths}", met=tally.deaths <= deaths),
            Figure(f"a part {what}: seconds until all had ended", f"{tally.seconds:.0f}",
                   f"{well + ill}", f"at most {WITHIN:.0f}", met=tally.seconds <= WITHIN),
        ]  # fmt: skip
    text = TEXT.format(
        runs=runs,
        workers=WORKERS,
        at_once=AT_ONCE,
        deaths=MAX_FAILURES + 1,
        limit=MAX_FAILURES,
    )
    return Part("Poisoned runs", text, figures, [*first.misses, *second.misses])
