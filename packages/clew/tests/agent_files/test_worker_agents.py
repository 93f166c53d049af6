"""Agents that are made where they work: of a name, and of what a run's record says."""

from pathlib import Path

import pytest

from clew import Agent, ConfigError, read, submit
from clew.agent_files import agent_named
from clew.agent_files.worker_agents import RecordedAgents
from clew.testing import ScriptedModel

pytestmark = pytest.mark.anyio

MODULE = """
from clew import Agent
from clew.testing import ScriptedModel, say

ready = Agent(ScriptedModel([say("ready")], name="mine"))
letters = 7


def make():
    return ready
"""


async def submitted(folder: Path, text: str = 'model = "offline"\ntools = ["calc"]\n') -> str:
    """A run of an agent file that waits for a worker, with all that the file says on record."""
    (folder / "agent.toml").write_text(text)
    agent, origin = await agent_named(str(folder / "agent.toml"))
    return await submit(agent, "What is 2+2?", store=folder / "runs.sqlite", origin=origin)


async def test_a_name_is_a_file_an_agent_or_what_makes_one(tmp_path: Path) -> None:
    (tmp_path / "named_agents.py").write_text(MODULE)
    for name in ("named_agents:ready", "named_agents:make"):
        agent, origin = await agent_named(name, str(tmp_path))
        assert (agent.spec.model, origin) == ("mine", {})
    with pytest.raises(ConfigError, match="named_agents:letters is of type int: name an agent"):
        await agent_named("named_agents:letters", str(tmp_path))
    await submitted(tmp_path)
    agent, origin = await agent_named(str(tmp_path / "agent.toml"))
    assert [tool.name for tool in agent.tools] == ["calc"]
    assert origin


async def test_what_a_record_describes_is_made_once(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    first, second = await submitted(tmp_path), await submitted(tmp_path)
    recorded = RecordedAgents()
    agent = recorded(await read(first, store=store))
    assert isinstance(agent, Agent)
    assert [tool.name for tool in agent.tools] == ["calc"]
    recorded(await read(second, store=store))
    assert len(recorded.made) == 1


async def test_a_record_without_a_description_says_nothing(tmp_path: Path) -> None:
    run_id = await submit(Agent(ScriptedModel([])), "What?", store=tmp_path / "runs.sqlite")
    assert RecordedAgents()(await read(run_id, store=tmp_path / "runs.sqlite")) is None


async def test_a_foreign_record_is_left_to_who_has_its_agent(tmp_path: Path) -> None:
    record = await read(await submitted(tmp_path), store=tmp_path / "runs.sqlite")
    record.foreign = True
    with pytest.raises(ConfigError, match=r"you did not begin on this machine \(it names nothing"):
        RecordedAgents()(record)
    assert RecordedAgents(trusting=True)(record) is not None
