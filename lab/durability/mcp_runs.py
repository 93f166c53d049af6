"""Runs that call the tools of a server of MCP, in processes that are killed or whose server is."""

import os
import signal
import sys
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import msgspec

import clew
from clew import Agent, ClewError, Tool, Trajectory, open_store
from clew.agent.runner import has_begun
from clew.core.codes import Effect
from clew.core.events import Attempt
from clew.core.stores import Append, Store
from clew.guards import Provenance
from clew.support.resources import resources
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools
from durability.mcp_server import Era, Strike, World
from durability.nursery import PATH
from durability.storm import asyncio_run

NAME: Final = "harbour"
ANSWER: Final = "all is done"
ORDER: Final = ("look", "send", "put", "build", "send")
"""What a run calls, one after the other."""

Transport = Literal["stdio", "http"]


class Way(msgspec.Struct, frozen=True):
    """A server and how it is reached: over stdio where there is no port; its folder is its own."""

    folder: str
    era: Era
    port: int = 0

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"{'HTTP' if self.port else 'stdio'}, {self.era} era"

    @property
    def server(self) -> McpServer:
        """Its settings."""
        more: dict[str, Any] = {"url": f"http://127.0.0.1:{self.port}/mcp"}
        if not self.port:
            args = ("-m", "durability.mcp_server", self.folder, self.era)
            more = {"command": sys.executable, "args": args, "env": {"PYTHONPATH": PATH}}
        effects: dict[str, Effect] = {"look": "read", "put": "idempotent"}
        # A busy machine may start a server for longer than anybody would wait elsewhere.
        return McpServer(name=NAME, effects=effects, connect_timeout=300.0, **more)

    @property
    def store(self) -> Path:
        """Where the records are."""
        return Path(self.folder) / "runs.sqlite"

    async def tools(self) -> tuple[Tool, ...]:
        """The server's tools; the first time it is asked for its definitions."""
        return await mcp_tools(self.server, pins=Path(self.folder) / "pins.json")


class Orders(msgspec.Struct, frozen=True):
    """Which runs a process carries to their ends, and what happens to them.

    Before each run the strike of its place is prepared. `kill_at` is the write of the record at
    which the process kills itself, before it is committed or after.
    """

    way: Way
    runs: tuple[str, ...]
    strikes: tuple[Strike, ...] = ()
    kill_at: int = 0
    before: bool = False


class Mortal:
    """A store that ends its process at a write."""

    def __init__(self, store: Store, orders: Orders) -> None:
        self._store, self._orders, self.writes = store, orders, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, append: Append) -> bool:
        self.writes += 1
        if self.writes == self._orders.kill_at and self._orders.before:
            os.kill(os.getpid(), signal.SIGKILL)
        quiet = await self._store.append(append)
        if self.writes == self._orders.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return quiet


def agent(run_id: str, tools: tuple[Tool, ...]) -> Agent:
    """The agent of a run; each of its calls has a note that no other call has."""
    moves = [act(f"{NAME}_{tool}", note=f"{run_id}:{n + 1}") for n, tool in enumerate(ORDER)]
    return Agent(ScriptedModel([*moves, finish(ANSWER)]), tools=tools, guards=[Provenance("off")])


def carry(orders: Orders) -> None:
    """A process: begin runs or go on with them, to their ends, over one connection."""

    async def work() -> None:
        folder = Path(orders.way.folder)
        (folder / "clew.pid").write_text(str(os.getpid()))
        store: Any = Mortal(open_store(orders.way.store), orders)
        tools = await orders.way.tools()
        async with resources():
            for number, run_id in enumerate(orders.runs):
                while orders.way.port and not (folder / "ready").exists():  # noqa: ASYNC110 - it is another process's
                    await anyio.sleep(0.002)
                if orders.strikes:
                    World(folder).arm(orders.strikes[number])
                who = agent(run_id, tools)
                if await has_begun(store, run_id):
                    await clew.resume(who, run_id, store=store)
                else:
                    await clew.run(who, "Send.", store=store, run_id=run_id)
        (folder / "writes").write_text(str(store.writes))
        await store.close()

    asyncio_run(work)


class Seen(msgspec.Struct):
    """What records say of calls, held against what the server did."""

    runs: int = 0
    calls: int = 0
    struck: int = 0
    answered: int = 0
    unknown: int = 0
    failed: int = 0
    unsafe: int = 0
    again: int = 0
    tasks: int = 0
    recorded: int = 0
    open: list[str] = []
    twice: list[str] = []
    silent: list[str] = []
    forgotten: list[str] = []
    broken: list[str] = []


async def look(way: Way, runs: tuple[str, ...], struck: dict[str, str], seen: Seen) -> None:
    """Look at the runs of a way; `struck` are the places in `ORDER` of the calls that were hit."""
    effects = World(Path(way.folder)).ledger.counted()
    tools = await way.tools()
    store = open_store(way.store)
    try:
        for run_id in runs:
            seen.runs += 1
            try:
                record = await clew.read(run_id, store=store)
                replayed = await clew.replay(agent(run_id, tools), run_id, store=store)
                if replayed.trajectory.stop != record.stop:
                    seen.broken.append(f"{run_id}: a replay ends otherwise")
            except ClewError as error:
                seen.broken.append(f"{run_id}: {error}")
                continue
            if record.stop is None or record.stop.answer != ANSWER:
                seen.open.append(f"{run_id}: {record.stop}")
            for number, tool in enumerate(ORDER):
                times = effects[tool][f"{run_id}:{number + 1}"] if tool in effects else 0
                _call(seen, record, number, times, is_struck=struck.get(run_id) == tool)
    finally:
        await store.close()
    texts = {f"{run_id}:{n + 1}" for run_id in runs for n in range(len(ORDER))}
    for tool, keys in effects.items():
        seen.silent += [f"{tool} {key}: of no call" for key in keys if key not in texts]


def _call(seen: Seen, record: Trajectory, number: int, times: int, *, is_struck: bool) -> None:
    """One call: what the record says, and how often it happened."""
    tool, key = ORDER[number], f"{number + 1}.1"
    what = f"{tool} {record.run_id}:{key}"
    observation = next((call.observation for call in record.calls if call.key == key), None)
    seen.calls += 1
    if observation is None:
        seen.silent.append(f"{what}: happened {times} times, and was not observed")
        return
    if is_struck and (tool != "send" or number == 1):
        seen.struck += 1
        seen.answered += observation.outcome == "done"
        seen.unknown += observation.outcome == "unknown"
        seen.failed += tool == "look" and observation.outcome == "not_done"
    if tool in {"send", "build"}:
        seen.unsafe += 1
        if times > 1:
            seen.twice.append(f"{what}: {times} times")
    else:
        seen.again += max(0, times - 1)
    wrong = observation.outcome == "not_done" and times and tool != "look"  # to look does nothing
    if wrong or (observation.outcome == "done" and not times):
        seen.silent.append(f"{what}: {observation.outcome}, and happened {times} times")
    if tool == "build":
        seen.tasks += times
        attempts = [e.event for e in record.entries if isinstance(e.event, Attempt)]
        if any(one.call == key and one.task for one in attempts):
            seen.recorded += 1
            if observation.outcome != "done":
                seen.forgotten.append(f"{what}: it was a task, and is {observation.outcome}")
