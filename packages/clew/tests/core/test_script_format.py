"""A script that is over says so, and why where its lines are in no format that the agent reads."""

import re
from collections.abc import Sequence

import pytest

from clew.agent.agent import Agent
from clew.agent.api import run
from clew.stores.memory import MemoryStore
from clew.support.errors import ModelError
from clew.testing.models import Line, ScriptedModel, finish, say

HINT = (
    r"could not read the last line: .*; it is written in {}: "
    r"if the agent reads another format, name that: ScriptedModel\(…, codec=…\)"
)


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
async def test_a_script_in_the_agents_format_is_over_and_says_what_was_refused(
    script: Sequence[Line], codec: str
) -> None:
    def refuse(answer: object, trajectory: object) -> str:
        return "not this one"

    agent = Agent(ScriptedModel(script, codec=codec), codec=codec, checks=[refuse])
    with pytest.raises(ModelError, match="the script is over") as raised:
        await run(agent, "What?", store=MemoryStore())
    assert "another format" not in str(raised.value)
    if script == [finish("a")]:
        assert "or ruling. The agent refused the last line: rejected: not this" in str(raised.value)


async def test_an_answer_that_is_not_of_the_type_is_told_by_its_fault() -> None:
    agent = Agent(ScriptedModel([say("Ada")]), answer=dict[str, int])
    with pytest.raises(ModelError) as raised:
        await run(agent, "What?", store=MemoryStore())
    told = "it has 1 line, .*could not read the last line: the answer is not JSON .*call finish"
    assert re.search(told, str(raised.value))
    assert "format" not in str(raised.value)
