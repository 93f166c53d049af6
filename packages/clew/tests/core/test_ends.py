"""How a step is cut short: by a cap, by a person, and by the end of its worker."""

from pathlib import Path

import anyio
import pytest

from clew import Agent, Entry, Limits, Observation, cancel, read, replay, resume, run, tool
from clew.agent.runner import start
from clew.core.events import AnyEvent, Attempt
from clew.core.journal import Journal
from clew.core.loop import run as go
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, acts, say
from tests.core.play import go_on, play
from tests.core.scenarios import TOOLS, by_name, lookup

pytestmark = pytest.mark.both_loops


async def test_one_step_cannot_exceed_the_calls_of_the_run() -> None:
    store, three = MemoryStore(), acts(*[act("lookup", key=key) for key in "abc"])
    model = ScriptedModel([three, say("a and b")])
    agent = Agent(model=model, tools=TOOLS, limits=Limits(tool_calls=2))
    found = await run(agent, "What?", store=store, run_id="run")
    assert (found.status, found.reason, found.answer) == ("bound", "tool_calls", "a and b")
    seen = [call.observation for call in (await read("run", store=store)).calls]
    assert [observation.code for observation in seen if observation] == ["", "", "cap"]
    assert seen[2]
    assert "all 2 tool calls of this run are used" in seen[2].text


class Seen:
    """A listener that says when the first observation is recorded."""

    def __init__(self) -> None:
        self.first = anyio.Event()

    def entry(self, entry: Entry) -> None:
        if isinstance(entry.event, Observation):
            self.first.set()

    def token(self, text: str) -> None:
        """Text on its way says nothing of calls."""


async def test_an_interrupt_leaves_what_was_seen_as_it_is() -> None:
    @tool(effect="read")
    async def stuck() -> str:
        """Never end."""
        await anyio.sleep_forever()
        return "never"

    model = ScriptedModel([acts(act("lookup", key="a"), act("stuck"))])
    agent, store, seen = Agent(model=model, tools=[lookup, stuck]), MemoryStore(), Seen()
    journal = await start(agent, "What?", store, run_id="run", listener=seen)
    async with anyio.create_task_group() as group:
        group.start_soon(go, agent.engine, journal)
        await seen.first.wait()
        group.cancel_scope.cancel()
    await cancel("run", why="enough", store=store)
    found = await resume(agent, "run", store=store)
    assert (found.status, found.reason) == ("interrupted", "enough")
    trajectory = await read("run", store=store)
    codes = [call.observation.code for call in trajectory.calls if call.observation]
    assert codes == ["", "interrupted"]
    assert (await replay(agent, "run", store=store)).trajectory.entries == trajectory.entries


async def test_a_worker_that_was_cut_off_takes_nothing_of_the_next_ones(tmp_path: Path) -> None:
    scenario = by_name("effects of every kind")
    agent = scenario.agent(tmp_path)
    await play(scenario, tmp_path, whole := MemoryStore())
    trajectory = await read("run", store=whole)
    events = [entry.event for entry in trajectory.entries]

    def of(kind: type[AnyEvent], call: str) -> AnyEvent:
        return next(e for e in events if isinstance(e, kind) and getattr(e, "call", "") == call)

    journal = await Journal.create(store := MemoryStore(), trajectory.started, "run")
    for event in [*events[1:6], of(Observation, "2.3"), of(Attempt, "2.2")]:
        await journal.record(event)
    await go_on(scenario, agent, store)
    record = await read("run", store=store)
    for _ in range(40):  # trio goes on with its tasks in any order
        assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
