"""A script that is over says so, and why where its lines are in no format that the agent reads."""

from collections.abc import Sequence

import pytest

from clew.agent.agent import Agent
from clew.agent.api import run
from clew.stores.memory import MemoryStore
from clew.support.errors import ModelError
from clew.testing.models import Line, ScriptedModel, finish, say

HINT = r"is written in {}: if it reads another format, name that: ScriptedModel\(…, codec=…\)"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("native", "json"),
        ("native", "labelled"),
        ("native", "paper"),
        ("json", "paper"),
        ("paper", "json"),
        ("paper", "native"),
    ],
)
async def test_a_script_in_another_format_is_told(written: str, read: str) -> None:
    agent = Agent(ScriptedModel([finish("a"), finish("b")], codec=written), codec=read)
    with pytest.raises(ModelError, match=f"has 2 lines, .*{HINT.format(written)}"):
        await run(agent, "What?", store=MemoryStore())


@pytest.mark.parametrize("codec", ["native", "json", "paper", "labelled"])
@pytest.mark.parametrize("script", [[], ["{}"], [finish("a")], [say("a")]], ids=str)
async def test_a_script_in_the_agents_format_is_only_over(
    script: Sequence[Line], codec: str
) -> None:
    def refuse(answer: object, trajectory: object) -> str:
        return "not this one"

    agent = Agent(ScriptedModel(script, codec=codec), codec=codec, checks=[refuse])
    with pytest.raises(ModelError, match=r"the script is over.*or ruling\Z"):
        await run(agent, "What?", store=MemoryStore())
