"""Many runs over servers of MCP tools: what is left of processes, descriptors and tasks."""

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import clew
from clew import Agent, MemoryStore, Tool
from clew.guards import Provenance
from clew.support.resources import resources
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from durability.mcp import MODULES, HttpServer, free_port
from durability.mcp_runs import NAME, Way
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import asyncio_run, folder
from recordings.part import Figure, Part, count
from tests.mcp.servers import plain_server

RUNS: Final = 1_000
WARM: Final = 30
"""Runs before the first count: what is imported or made once is there then."""

TEXT: Final = """\
One process makes runs of three calls each, over one server. After 30 runs and after the last one it
counts its child processes, open file descriptors and asyncio tasks, while the connection is still
open; and its child processes again when the owner has left. The server over stdio needs no SDK, so
that it starts fast; the one over HTTP is the SDK's.
"""

Call: TypeAlias = tuple[str, dict[str, str]]
Calls: TypeAlias = Callable[[int], Sequence[Call]]


class Counted(NamedTuple):
    """What this process has open."""

    processes: int
    descriptors: int
    tasks: int


NOTHING: Final = Counted(0, 0, 0)


@dataclass
class LeakTally:
    """What came of one way of making runs."""

    name: str
    runs: int = 0
    before: Counted = NOTHING
    after: Counted = NOTHING
    left: int = 0
    calls: int = 0
    failed: int = 0
    ended: list[str] = field(default_factory=list[str])

    @property
    def grown(self) -> int:
        """How many more things are open after the last run."""
        pairs = zip(self.before, self.after, strict=True)
        return sum(max(0, after - before) for before, after in pairs)


def counted() -> Counted:
    """Count now."""
    gc.collect()
    descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    return Counted(processes(), descriptors, len(asyncio.all_tasks()))


def processes() -> int:
    """The child processes of this one."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return len(children)


def agent(tools: Sequence[Tool], calls: Sequence[Call]) -> Agent:
    """The agent of a run that makes these calls."""
    moves = [act(name, **args) for name, args in calls]
    return Agent(ScriptedModel([*moves, finish("done")]), tools=tools, guards=[Provenance("off")])


async def one(tally: LeakTally, tools: Sequence[Tool], calls: Sequence[Call]) -> None:
    """Make a run, and count how its calls went."""
    store = MemoryStore()
    result = await clew.run(agent(tools, calls), "go", store=store)
    tally.runs += 1
    if result.status != "answered":
        tally.ended.append(f"{tally.name}: {result.status}: {result.reason}")
    seen = (await clew.read(result.run_id, store=store)).calls[:-1]
    tally.calls += len(seen)
    tally.failed += sum(call.observation is None or not call.observation.ok for call in seen)


async def in_turn(tally: LeakTally, tools: Sequence[Tool], calls: Calls, runs: int) -> None:
    """One run after the other."""
    for number in range(runs):
        await one(tally, tools, calls(number))


async def batched(tally: LeakTally, tools: Sequence[Tool], calls: Calls, runs: int) -> None:
    """Sixteen runs at once, of one batch."""
    goals = [f"go {number}" for number in range(runs)]
    made = await clew.batch(agent(tools, calls(0)), goals, store=MemoryStore(), at_once=16)
    tally.runs += len(made)
    tally.calls += len(made) * len(calls(0))
    tally.ended += [f"{tally.name}: {each.status}" for each in made if each.status != "answered"]


Make: TypeAlias = Callable[[LeakTally, Sequence[Tool], Calls, int], Awaitable[None]]


async def measured(
    name: str, server: McpServer, pins: Path, calls: Calls, runs: int,
    *, make: Make = in_turn, shared: bool = True,
) -> LeakTally:  # fmt: skip
    """Make runs in one owner, or where they are not `shared`, each in one of its own."""
    tally = LeakTally(name)
    tools = await mcp_tools(server, pins=pins)
    beside = processes()
    async with AsyncExitStack() as stack:
        if shared:
            await stack.enter_async_context(resources())
        await make(tally, tools, calls, WARM)
        tally.before = counted()
        await make(tally, tools, calls, runs - WARM)
        tally.after = counted()
    tally.left = max(0, processes() - beside)
    tell(f"mcp leaks: {name}: done")
    return tally


def well(number: int) -> list[Call]:
    """Three calls that are answered."""
    return [("plain_echo", {"text": f"{number} {n}"}) for n in range(3)]


def failing(number: int) -> list[Call]:
    """Three calls; of 20 runs 18 have one that fails in some way: 30 of a hundred calls."""
    bad: list[Call] = [
        ("plain_fail", {}),
        ("plain_echo", {"number": f"{number}"}),
        ("plain_unfit", {}),
    ]
    return [*well(number)[:2], bad[number % 3]] if number % 10 else well(number)


def dying(number: int) -> list[Call]:
    """Three calls; in every tenth run the server dies with the last."""
    return well(number) if number % 10 else [*well(number)[:2], ("plain_die", {})]


def harbour(number: int) -> list[Call]:
    """Three calls of the SDK's server."""
    return [(f"{NAME}_look", {"note": f"{number} {n}"}) for n in range(3)]


async def _all(path: Path, way: Way, sample: int) -> list[LeakTally]:
    plain = plain_server(path / "plain")
    server, pins, runs = plain.server(), plain.pins, WARM + (RUNS - WARM) // sample
    return [
        await measured("one after the other, one owner", server, pins, well, runs),
        await measured("a batch, 16 at once", server, pins, well, runs, make=batched),
        await measured("calls that fail", server, pins, failing, runs),
        await measured("a server that dies in every tenth run", server, pins, dying, runs),
        await measured("a server for each run", server, pins, well, runs, shared=False),
        await measured("over HTTP, the SDK's server", way.server, path / "pins", harbour, runs),
    ]


def leaks(sample: int) -> Part:
    """Make 1,000 runs of each kind, or the nth part."""
    with folder("leaks", memory=True) as root, Nursery(*MODULES) as nursery:
        where = root / "http"
        where.mkdir()
        way = Way(str(where), "stateless", free_port())
        http = HttpServer(way, nursery)
        tallies: list[LeakTally] = asyncio_run(_all, root, way, sample)
        http.kill()
    return Part(
        "Many runs over one server of MCP tools",
        TEXT,
        [figure for each in tallies for figure in _figures(each)],
        [line for each in tallies for line in each.ended],
    )


def _figures(tally: LeakTally) -> Iterator[Figure]:
    words = "processes, descriptors, tasks"
    told = " → ".join(", ".join(map(str, one)) for one in (tally.before, tally.after))
    yield Figure(f"{tally.name}: {words}, after {WARM} runs → after all", told,
                 f"{tally.runs:,} runs", "no more", not tally.grown)  # fmt: skip
    yield count(f"{tally.name}: processes when the owner has left", tally.left, tally.runs,
                exactly=0)  # fmt: skip
    yield count(f"{tally.name}: runs that did not answer", len(tally.ended), tally.runs, exactly=0)
    if tally.failed:
        yield Figure(f"{tally.name}: calls that failed", f"{tally.failed:,}", f"{tally.calls:,}")
