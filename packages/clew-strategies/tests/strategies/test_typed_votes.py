"""A vote has the type of its agent's answer, and its record is known for one."""

from dataclasses import dataclass
from typing import Any, assert_type

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.testing import ScriptedModel, finish, say
from clew_strategies import agent_of, vote


@dataclass
class Life:
    """Of whom, and since when."""

    name: str
    born: int


async def test_a_vote_gives_the_type_of_its_agent() -> None:
    ada = Agent(model=ScriptedModel([finish({"name": "Ada", "born": 1815})]), answer=Life)
    voted = await vote(ada, "Who?", 2, store=MemoryStore())
    assert_type(voted.result.unwrap(), Life)
    assert voted.answer == Life("Ada", 1815)


@pytest.mark.parametrize("said", [{}, {"votes": 1}, {"votes": {"k": 3}}])
async def test_the_record_of_another_run_is_none_of_a_vote(said: dict[str, Any]) -> None:
    store = MemoryStore()
    agent = Agent(ScriptedModel([say("Hm.")]))
    await run(agent, "?", store=store, run_id="r", origin=said)
    record = await read("r", store=store)
    with pytest.raises(ConfigError):
        agent_of(agent, record)
