"""Ray: actors and a node killed, and ten thousand runs; in a network of its own."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

import clew
from durability import world
from durability.nursery import PATH, ROOT
from durability.progress import tell
from durability.ray_agents import FOLDER, short
from durability.storm import Weather, asyncio_run, audited, begin, folder, ids, with_store
from durability.storms import figures, misses, sized
from recordings.part import Figure, Part, count
from tests.cluster.network import alone, why_not

RUNS: Final = 10_000
GROWTH: Final = 32 * 1024 * 1024
"""Bytes by which the program that fans out may grow from the first tenth of the runs to the end."""

STORM: Final = """\
The same runs, executed by four actors on two nodes of a Ray cluster, in a separate network on this
machine. Actors are killed with `kill -9` at random moments, and in the middle one of the two nodes
with everything on it. Ray starts new actors and repeats the tasks of the old ones.
"""

MANY: Final = """\
{runs:,} runs of three steps through two actors, at most 64 of them in flight, on one SQLite file.
The answers are compared with those of the same runs in one process, without Ray. Memory is that of
the fan-out program; the rate excludes the first {start:.0f} s, in which Ray starts.
"""


def storm(sample: int) -> Part:
    """Actors and a node are killed."""
    title = "Killed actors and a killed node, Ray"
    if why := why_not():
        return _absent(title, why)
    wanted = sized("ray", sample, kills=5)
    with folder("r") as outside:
        text, agent = str(outside / "runs.sqlite"), world.agent(outside)
        asyncio_run(begin, text, agent, ids(wanted.runs))
        results = _inside("storm", outside, wanted.runs, wanted.kills)
        look = partial(audited, wanted, ids(wanted.runs), world.Ledger(outside), agent)
        seen = asyncio_run(with_store, text, look)
    weather = Weather(results["kills"], 0.0, seen)
    node = Figure(
        "nodes killed", f"{results['nodes']}", f"{wanted.runs} runs", "1", results["nodes"] == 1
    )
    return Part(title, STORM, [node, *figures(wanted, weather)], misses(seen))


def many(sample: int) -> Part:
    """Ten thousand runs."""
    title = "Ten thousand runs, Ray"
    if why := why_not():
        return _absent(title, why)
    runs = max(100, RUNS // sample)
    with folder("r") as outside:
        results = _inside("many", outside, runs, 0)
        lines = (outside / "answers").read_text("utf-8").splitlines()
    answers = {int(number): (status, answer) for number, status, answer in map(_fields, lines)}
    tell("ray: the same runs in one process")
    cpu, wall = time.process_time(), time.perf_counter()
    expected = anyio.run(_in_process, runs, backend="asyncio")
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    same = sum(answers.get(number) == told for number, told in expected.items())
    grown = results["late"] - results["early"]
    slower, step = runs / results["rate"] / wall, 1000 / results["rate"] / 3
    return Part(
        title,
        MANY.format(runs=runs, start=results["start"]),
        [
            count("runs that came back, each once", len(lines), runs, exactly=runs),
            count("answers that are those of one process", same, runs, exactly=runs),
            Figure("runs a second", f"{results['rate']:.0f}", f"{3 * results['rate']:.0f} steps"),
            Figure("CPU a step, with all of Ray's processes, against one process in memory",
                   f"{results['cpu'] / (cpu / runs / 3):.1f} times",
             f"{results['cpu'] * 1000:.2f} ms"),
            Figure("wall a step, against one process in memory",
                   f"{slower:.1f} times", f"{step:.2f} ms"),
            Figure("memory, after a tenth of the runs", f"{results['early'] / 2**20:.0f} MiB", ""),
            Figure("by how much it had grown at the end", f"{grown / 2**20:.1f} MiB", "",
                   f"≤ {GROWTH >> 20} MiB", grown <= GROWTH),
        ],
    )  # fmt: skip


def _fields(line: str) -> tuple[str, str, str]:
    number, status, answer = line.split("\t")
    return number, status, answer


async def _in_process(runs: int) -> dict[int, tuple[str, str]]:
    """The same goals without Ray and without a file: (status, answer) by number, from 1."""
    agent, fields = short(), dict[int, tuple[str, str]]()
    for number in range(runs):
        result = await clew.run(agent, f"goal number {number}", store=clew.MemoryStore())
        fields[number + 1] = result.status, str(result.answer)
    return fields


def _inside(what: str, outside: Path, runs: int, kills: int) -> dict[str, Any]:
    """What the program in the network of its own says."""
    argv = [
        sys.executable,
        "-m",
        "durability.ray_inside",
        what,
        str(outside),
        str(runs),
        str(kills),
    ]
    env = {**os.environ, FOLDER: str(outside), "PYTHONPATH": PATH, "TMPDIR": str(outside)}
    env["RAY_USAGE_STATS_ENABLED"] = "0"
    ran = subprocess.run(
        alone(argv), cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(f"the program in a network of its own ended with {ran.returncode}")
    results: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    return results


def _absent(title: str, why: str) -> Part:
    return Part(title, "Not measured.", [Figure("measured", "no", why, "yes", met=False)])
