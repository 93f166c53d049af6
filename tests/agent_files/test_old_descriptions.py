"""What earlier versions wrote into records of agent files: the same agents are made of it now.

`data/agent-files-1.jsonl` was written by `clew ask --agent` before the keys stood in tables: one
run with one text as its prompt and every key that has moved since, one with a table of its own.
"""

from pathlib import Path
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, replay, resume, run
from clew.agent_files import make_agent, spec_of
from clew.compare import changes_to_accept
from clew.core.journal import load
from clew.evidence import Grounded
from clew.retention import import_runs
from clew.testing import ScriptedModel, say

pytestmark = pytest.mark.anyio

OLD = Path(__file__).parent.parent / "retention" / "data" / "agent-files-1.jsonl"


async def test_the_agents_of_earlier_records_go_on() -> None:
    store = MemoryStore()
    done = await import_runs(OLD, store=store)
    for each in await store.runs():
        record = await load(store, each.run_id)
        spec = spec_of(record)
        assert spec is not None
        agent = make_agent(spec)
        setting = record.started.setting
        assert changes_to_accept(setting, agent.setting) == ()  # native is another version now
        replayed = await replay(agent, each.run_id, store=store)
        assert replayed.trajectory.entries == record.entries
        found = await resume(agent, each.run_id, say="What is 6 * 7?", store=store)
        assert "42" in found.answer
    assert (len(await store.runs()), done.refused) == (2, ())


@pytest.mark.parametrize(
    ("grounded", "check"),
    [(True, Grounded()), ({"threshold": 0.3}, Grounded(0.3)), (False, None)],
)
async def test_grounded_was_a_key_beside_the_checks(grounded: Any, check: Grounded | None) -> None:
    store = MemoryStore()
    own = ["tests.agent_files.test_old_descriptions:short"]
    said: dict[str, Any] = {"model": "offline", "grounded": grounded, "checks": own}
    agent = Agent(ScriptedModel([say("x")]))
    await run(agent, "?", store=store, run_id="r", origin={"cli": said})
    spec = spec_of(await read("r", store=store))
    assert spec is not None
    assert list(make_agent(spec).checks) == ([check, short] if check else [short])


async def short(answer: Any, so_far: Any) -> None:
    """A check of a user's own."""
