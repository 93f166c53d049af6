"""What is to be measured, one thing after the other: nothing twice, and nothing lost by a stop."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import anyio

from clew import ConfigError
from durability.progress import tell, with_progress
from live import long, memory, slots
from live.ask import Asker
from live.configurations import NAMES, TABLE, Variation
from live.others.drive import Driver
from live.others.systems import BY_NAME, System
from live.outcomes import Key, Measured, add, read, stopped
from live.tasks import HALVES, Half, Task, tasks

T = TypeVar("T", Variation, System)

PARTS: Final = (*HALVES, "others", "slots", "long", "window", "memory")
PAIRS: Final = 5
"""So many pairs of questions are asked on two slots."""
BLOCK: Final = 2
"""So many tasks in a row have the same tools, and so the beginning of the prompt in common."""


@dataclass(frozen=True)
class Work:
    """What to measure: parts, configurations, systems, sources; with which model, until when.

    `first` takes so many tasks of each half, `minutes` begins nothing after so many (0: all).
    """

    gguf: Path
    records: Path
    outcomes: Path
    environments: Path
    parts: Sequence[str]
    only: Sequence[str]
    systems: Sequence[str]
    sources: Sequence[str]
    first: int | None = None
    minutes: float = 0.0
    threads: int = 0
    context: int = 0

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a name that is not there."""
        for what, names, there in (
            ("part", self.parts, PARTS),
            ("configuration", self.only, NAMES),
            ("system", self.systems, tuple(BY_NAME)),
        ):
            if strange := [name for name in names if name not in there]:
                raise ConfigError(f"no {what} {strange[0]!r}: there are {', '.join(there)}")

    def do(self) -> None:
        """Measure what is not there yet. Raises `ConfigError`."""
        begun = time.monotonic()
        for half in HALVES:
            if half in self.parts:
                anyio.run(self._ask, half, begun, backend="asyncio")
        if "others" in self.parts:
            self._have_others_ask(begun)
        if "slots" in self.parts:
            over = self.tasks("tuning")
            pairs = list(zip(over[::2], over[1::2], strict=False))[:PAIRS]
            anyio.run(slots.measure, self._asker, pairs, backend="asyncio")
        if "long" in self.parts:
            anyio.run(long.measure, self._roomy, backend="asyncio")
        if "window" in self.parts:
            anyio.run(long.measure_window, self.gguf, self.threads, backend="asyncio")
        if "memory" in self.parts:
            memory.measure(self.gguf)

    def tasks(self, half: Half) -> list[Task]:
        """The tasks of a half, of all sources in turn, so that a part of them is of all."""
        left: dict[str, list[Task]] = {}
        for one in tasks(half, self.sources):
            left.setdefault(one.listed.source, []).append(one)
        listed: list[Task] = []
        while any(left.values()):
            for queue in left.values():
                listed += queue[:BLOCK]
                del queue[:BLOCK]
        return listed[: self.first]

    def _asker(self, records: Path | None = None) -> Asker:
        return Asker(self.gguf, records or self.records, threads=self.threads, context=self.context)

    def _roomy(self, records: Path) -> Asker:
        return Asker(self.gguf, records, threads=self.threads, context=long.CONTEXT)

    async def _ask(self, half: Half, begun: float) -> None:
        asker = self._asker()
        wanted = [one for one in TABLE if one.name in self.only]
        for one in wanted:
            if not one.known:
                tell(f"{one.name}: this clew has no such switch yet\n")
        known = [one for one in wanted if one.known]
        try:
            for variation, task in self._left(known, self.tasks(half), asker.key, begun):
                self._keep(await asker.ask(variation, task))
        finally:
            with anyio.CancelScope(shield=True):
                await asker.close()

    def _have_others_ask(self, begun: float) -> None:
        systems = [BY_NAME[name] for name in self.systems]
        driver = Driver(
            self.gguf, self.environments, self.records.with_suffix(".jsonl"), threads=self.threads
        )
        with driver.open():
            for system, task in self._left(systems, self.tasks("unseen"), driver.key, begun):
                self._keep(driver.ask(system, task))

    def _left(
        self,
        wanted: Sequence[T],
        over: Sequence[Task],
        key: Callable[[T, Task], Key],
        begun: float,
    ) -> Iterator[tuple[T, Task]]:
        """Some questions over all that is wanted, then the next ones; until the time is over."""
        done = stopped(read(self.outcomes))
        left = [
            (one, task)
            for at in range(0, len(over), BLOCK)
            for one in wanted
            for task in over[at : at + BLOCK]
            if key(one, task) not in done
        ]
        return with_progress(
            left,
            lambda item: f"{item[0].name}, {item[1].case.id}",
            minutes=self.minutes,
            since=begun,
        )

    def _keep(self, measured: Measured) -> None:
        add(measured, self.outcomes)
        outcome, right = measured.outcome, "right" if measured.outcome.right else "wrong"
        tell(
            f"{right} {measured.seconds:.0f} s, {outcome.counted.steps} steps, "
            f"{outcome.status} {str(outcome.answer)[:60]!r}\n"
        )
