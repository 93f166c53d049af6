"""Two runs at once on two slots, against one after the other: which is quicker?"""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import anyio
import msgspec

from durability.progress import tell
from live.ask import Asker
from live.configurations import BASE, TABLE
from live.tasks import Task

FILE: Final = Path(__file__).with_name("outcomes") / "slots.json"


class Timing(msgspec.Struct, frozen=True):
    """A pair of tasks, one after the other and at once, in seconds; which way came first."""

    tasks: tuple[str, str]
    after: float
    together: float
    together_first: bool
    load: float
    at: str


def read() -> list[Timing]:
    """What was measured."""
    return msgspec.json.decode(FILE.read_bytes(), type=list[Timing]) if FILE.exists() else []


async def measure(made: Callable[[Path], Asker], pairs: Sequence[tuple[Task, Task]]) -> None:
    """Measure each pair both ways, the first way alternating; each way has a model of its own."""
    for number, pair in enumerate(pairs):
        together_first = bool(number % 2)
        took: dict[bool, float] = {}
        for together in (together_first, not together_first):
            took[together] = await _timed(made, pair, together=together)
            tell(f"{'at once' if together else 'one after the other'}: {took[together]:.0f} s\n")
        names = pair[0].case.id, pair[1].case.id
        now = datetime.now(UTC).isoformat(timespec="seconds")
        timing = Timing(names, took[False], took[True], together_first, os.getloadavg()[0], now)
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_bytes(msgspec.json.format(msgspec.json.encode([*read(), timing])))


async def _timed(
    made: Callable[[Path], Asker], pair: tuple[Task, Task], *, together: bool
) -> float:
    """Seconds for both tasks, with records that nobody looks at again."""
    (base,) = (one for one in TABLE if one.name == BASE)
    with TemporaryDirectory() as folder:
        asker = made(Path(folder) / "records.sqlite")
        try:
            begun = time.perf_counter()
            if together:
                async with anyio.create_task_group() as group:
                    for task in pair:
                        group.start_soon(asker.ask, base, task)
            else:
                for task in pair:
                    await asker.ask(base, task)
            return round(time.perf_counter() - begun, 2)
        finally:
            await asker.close()


def section() -> str:
    """What two slots give."""
    record = read()
    lines = ["## Two runs at once", ""]
    if not record:
        return "\n".join([*lines, "Not run (`make live GGUF=… PARTS=slots`)."])
    quicker = [one.after / one.together for one in record]
    each = ", ".join(f"{one.after:.0f} and {one.together:.0f}" for one in record)
    lines.append(
        f"`make live GGUF=… PARTS=slots`: {len(record)} pairs of questions, each pair with a "
        "server of its own and two slots, asked one after the other and at once: at once is "
        f"{median(quicker):.2f} times as quick in the median pair (aim: at least as quick). "
        f"Seconds of the pairs, one after the other and at once: {each}; the first number of all "
        "has the file read from the disk in it. Which way came first alternated; the model had two "
        f"threads. Loads were {min(one.load for one in record):.1f} to "
        f"{max(one.load for one in record):.1f}: the second core was shared."
    )
    return "\n".join(lines)
