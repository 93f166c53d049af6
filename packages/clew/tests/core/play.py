"""How the tests take a scenario to its end, from the start or from any cut of its record."""

from pathlib import Path
from typing import Any

from clew import Agent, Result, resume, rule
from clew.agent.read_result import result
from clew.agent.runner import start
from clew.core.journal import load
from clew.core.loop import run
from clew.core.stores import Append, Line, Store
from clew.stores.memory import MemoryStore
from tests.core.scenarios import Scenario


async def play(scenario: Scenario, folder: Path, store: Store, run_id: str = "run") -> Result:
    """Run a scenario to its end, the person's part included."""
    agent = scenario.agent(folder)
    journal = await start(agent, scenario.goal, store, run_id=run_id)
    result(agent, await run(agent.engine, journal))
    return await go_on(scenario, agent, store, run_id)


async def go_on(scenario: Scenario, agent: Agent, store: Store, run_id: str = "run") -> Result:
    """Resume, then do what the person does that has not been done yet."""
    found = await resume(agent, run_id, store=store)
    for what in scenario.then[await _done(store, run_id) :]:
        if isinstance(what, str):
            found = await resume(agent, run_id, say=what, store=store)
        else:
            call, allow, args = what
            await rule(f"{run_id}:{call}", allow=allow, args=args, store=store)
            found = await resume(agent, run_id, store=store)
    return found


async def _done(store: Store, run_id: str) -> int:
    """How often the person has spoken in the record."""
    trajectory = await load(store, run_id)
    names = [type(entry.event).__name__ for entry in trajectory.entries]
    people = [e for e in trajectory.entries if getattr(e.event, "source", "") == "person"]
    return names.count("Ruling") + len(people)


async def copy(lines: list[Line], blobs: dict[str, bytes] | None = None) -> MemoryStore:
    """A store that holds just these lines of a run called "run"."""
    store = MemoryStore()
    await store.create("run")
    for epoch in range(1, lines[-1].epoch if lines else 1):
        assert await store.open("run") == epoch + 1
    if lines:
        await store.append(Append("run", lines[-1].epoch, tuple(lines), blobs=blobs or {}))
    return store


def events(trajectory: Any) -> list[str]:
    """The names of a trajectory's events."""
    return [type(entry.event).__name__ for entry in trajectory.entries]
