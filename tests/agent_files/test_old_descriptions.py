"""What earlier versions wrote into records of agent files: the same agents are made of it now.

`data/agent-files-1.jsonl` was written by `clew ask --agent` before the keys stood in tables: one
run with one text as its prompt and every key that has moved since, one with a table of its own.
"""

from pathlib import Path

import pytest

from clew import MemoryStore, replay, resume
from clew.agent_files import make_agent, spec_of
from clew.core.agent import changes
from clew.core.journal import load
from clew.retention import import_runs

pytestmark = pytest.mark.anyio

OLD = Path(__file__).parent.parent / "retention" / "data" / "agent-files-1.jsonl"


async def test_the_agents_of_earlier_records_go_on() -> None:
    store = MemoryStore()
    done = await import_runs(OLD, store=store)
    for run in await store.runs():
        record = await load(store, run.run_id)
        spec = spec_of(record)
        assert spec is not None
        agent = make_agent(spec)
        setting = record.started.setting
        assert changes(setting, agent.setting) == ()
        replayed = await replay(agent, run.run_id, store=store)
        assert replayed.trajectory.entries == record.entries
        found = await resume(agent, run.run_id, say="What is 6 * 7?", store=store)
        assert "42" in found.answer
    assert (len(await store.runs()), done.refused) == (2, ())
