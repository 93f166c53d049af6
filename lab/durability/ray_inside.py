"""What Ray does in a network of its own: a storm over two nodes, and a fan-out of many runs.

`python -m durability.ray_inside storm|many FOLDER RUNS KILLS` prints a JSON object of what it did.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from ray.cluster_utils import Cluster

from clew_cluster.ray import FanOutProgress, fan_out
from durability import world
from durability.progress import tell
from durability.storm import BYTES, ids
from tests.cluster.ray_program import processes

STORMY, SHORT = "durability.ray_agents:stormy", "durability.ray_agents:short"


class Goals(Sequence[str]):
    """So many goals, none of which is kept."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __len__(self) -> int:
        return self.number

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(self.number))]
        if not 0 <= index < self.number:
            raise IndexError(index)
        return f"goal number {index}"


async def storm(folder: Path, runs: int, kills: int) -> dict[str, Any]:
    """Kill actors at random, and in the middle a node with all that is on it."""
    (folder / "ray").mkdir()  # where it puts its files, and takes to be there
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "temp_dir": str(folder / "t")}
    )
    second = cluster.add_node(num_cpus=1)
    chance, done = random.Random(3), dict[str, int]()
    marks = sorted(chance.uniform(0.05, 0.85) * runs * BYTES for _ in range(kills))
    middle = runs * BYTES // 2
    killed, nodes = 0, 0

    async def strike() -> None:
        nonlocal killed, nodes
        effects = world.Ledger(folder).path
        while killed < kills or not nodes:
            await asyncio.sleep(0.005)
            size = effects.stat().st_size if effects.exists() else 0
            if not nodes and size > middle:
                await asyncio.to_thread(cluster.remove_node, second, allow_graceful=False)
                nodes += 1
            elif killed < kills and size > marks[killed] and (actors := processes("ray::Actor")):
                os.kill(chance.choice(actors), signal.SIGKILL)
                killed += 1

    striking = asyncio.ensure_future(strike())
    try:
        ends = fan_out(
            STORMY, runs=ids(runs), store=folder / "runs.sqlite", workers=4, at_once=32,
            address=cluster.address,
        )  # fmt: skip
        async for end in ends:
            done[end.status] = done.get(end.status, 0) + 1
            if sum(done.values()) % 25 == 0:
                tell(f"ray: {sum(done.values())} of {runs} runs, {killed} kills, {nodes} nodes")
    finally:
        striking.cancel()
        cluster.shutdown()  # type: ignore[no-untyped-call]  # Ray gives it no types
    return {"kills": killed, "nodes": nodes, "done": done}


async def many(folder: Path, runs: int, kills: int) -> dict[str, Any]:
    """Three-step runs by the thousand; answers go to a file as they come."""
    del kills
    seen = list[FanOutProgress]()
    early, first, begun = 0, 0.0, time.monotonic()
    cpu = [0.0, 0.0]

    def on_progress(progress: FanOutProgress) -> None:
        nonlocal early, first
        if not first:
            first, cpu[0] = time.monotonic(), _cpu()
        if progress.done == runs:
            cpu[1] = _cpu()
        seen[:] = [progress]
        if progress.done == max(1, runs // 10):
            early = _resident()
        if progress.done % 500 == 0:
            tell(f"ray: {progress.done:,} of {progress.total:,} runs, {progress.rate:.0f} a second")

    with (folder / "answers").open("w", encoding="utf-8") as answers:
        ends = fan_out(
            SHORT, Goals(runs), store=folder / "runs.sqlite", name="many", workers=2, at_once=64,
            on_progress=on_progress,
        )  # fmt: skip
        async for end in ends:
            answers.write(f"{end.run_id.rpartition('-')[2]}\t{end.status}\t{end.answer}\n")
    last = seen[0]
    return {
        "done": last.done,
        "total": last.total,
        "rate": last.rate,
        "start": first - begun,
        "early": early,
        "late": _resident(),
        "cpu": (cpu[1] - cpu[0]) / (3 * (runs - 1)),
    }


def _cpu() -> float:
    """Seconds of CPU time that all processes here have used: Ray's, the actors', this one's."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        ticks += int(parts[11]) + int(parts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _resident() -> int:
    """Bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    _, what, where, number, times = sys.argv
    print(
        json.dumps(
            asyncio.run({"storm": storm, "many": many}[what](Path(where), int(number), int(times)))
        )
    )
