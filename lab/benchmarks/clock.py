"""What a client process measures of itself, and how it is asked to.

A plan such as `10x5,50x2,200x1` names runs: five of 10 steps, two of 50, one of 200. Figures go to
standard output as one JSON object.
"""

import argparse
import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from benchmarks.script import Script

Run = Callable[[Script], Awaitable[str]]
"""Does one script and returns the answer."""

SHELVES: Final = count(1)
WARM: Final = 2
"""Steps of the run that is not measured: connections, lazy imports, first use of everything."""


def parser() -> argparse.ArgumentParser:
    """The options that all clients share."""
    options = argparse.ArgumentParser()
    options.add_argument("--kind", required=True)
    options.add_argument("--url", default="")
    options.add_argument("--provider", default="openai")
    options.add_argument("--plan", default="10x1")
    options.add_argument("--at-once", type=int, default=0)
    options.add_argument("--size", type=int, default=2000)
    return options


def new_script(steps: int, calls: int = 1) -> Script:
    """A script that no run of this process had before."""
    return Script(steps, calls, f"s{next(SHELVES)}")


def check(script: Script, answer: object) -> None:
    """Raise `RuntimeError` where the work was not done."""
    if answer != script.answer:
        raise RuntimeError(f"{script.goal} -> {answer!r} instead of {script.answer!r}")


async def measure(plan: str, run: Run) -> dict[str, dict[str, float]]:
    """CPU and wall milliseconds per step, for each length of run in the plan."""
    warm = new_script(WARM)
    check(warm, await run(warm))
    fields: dict[str, dict[str, float]] = {}
    for section in plan.split(","):
        steps, times = map(int, section.split("x"))
        scripts = [new_script(steps) for _ in range(times)]
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        for script in scripts:
            check(script, await run(script))
        scale = 1000 / steps / times
        fields[str(steps)] = {
            "cpu_ms": (time.process_time() - cpu) * scale,
            "wall_ms": (time.perf_counter() - wall) * scale,
        }
    return fields


async def measure_first(plan: str, run: Run, first: "First") -> dict[str, dict[str, float]]:
    """Milliseconds from the start of a run to its first token and to its end, medians; and CPU."""
    check(warm := new_script(WARM), await run(warm))
    fields: dict[str, dict[str, float]] = {}
    for section in plan.split(","):
        steps, times = map(int, section.split("x"))
        waits: list[float] = []
        walls: list[float] = []
        gc.collect()
        cpu = time.process_time()
        for script in [new_script(steps) for _ in range(times)]:
            first.begin()
            start = time.perf_counter()
            answer = await run(script)
            walls.append((time.perf_counter() - start) * 1000)
            waits.append((first.at - start) * 1000)
            check(script, answer)
        fields[str(steps)] = {
            "first_ms": statistics.median(waits),
            "wall_ms": statistics.median(walls),
            "cpu_ms": (time.process_time() - cpu) * 1000 / times,
        }
    return fields


class First:
    """When the first token of a run came."""

    def __init__(self) -> None:
        self.at = 0.0

    def begin(self) -> None:
        """A run begins."""
        self.at = 0.0

    def heard(self) -> None:
        """A token came."""
        self.at = self.at or time.perf_counter()


async def measure_together(
    scripts: Sequence[Script], all_of_them: Callable[[], Awaitable[Sequence[object]]]
) -> dict[str, float]:
    """CPU and wall seconds, and megabytes by which the peak of memory exceeds the start."""
    gc.collect()
    before = memory()
    cpu, wall = time.process_time(), time.perf_counter()
    answers = await all_of_them()
    figures = {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.perf_counter() - wall,
        "peak_mb": peak() - before,
    }
    for script, answer in zip(scripts, answers, strict=True):
        check(script, answer)
    return figures


def memory() -> float:
    """Megabytes of memory in use (where the system does not say: the most that ever were)."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak()
    return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6


def peak() -> float:
    """Megabytes of memory at most in use so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def tell(figures: Any) -> None:
    """Print what was measured."""
    print(json.dumps(figures))
