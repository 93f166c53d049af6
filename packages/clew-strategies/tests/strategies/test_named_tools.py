"""Limits of a strategy name its roles and what their runs call; any other name is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, Limits, MemoryStore, NoProgress, delegate, read, run, tool
from clew.agent_files import load_agent
from clew.interfaces import Json
from clew.testing.models import ScriptedModel, act, finish, say
from clew_strategies import (
    Auto,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Strategy,
    TreeSearch,
    strategy_agent,
)

MODEL = ScriptedModel([say("ok")])


@tool(effect="read")
def look(q: str) -> str:
    """Look it up."""
    return q


@tool(effect="read")
def judge(task: str, answer: str) -> dict[str, Json]:
    """Judge an answer."""
    return {"passed": False, "why": f"{task}: {answer}"}


WAYS: list[type[Any]] = [
    ReWOO,
    Reflexion,
    PlanAndSolve,
    Orchestrator,
    EvaluatorOptimizer,
    TreeSearch,
    Auto,
]
CAPS = Limits(calls_per_tool={"look": 2}, no_progress=NoProgress(polling=frozenset({"look"})))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_limits_on_the_agents_tools_pass_to_its_strategy(way: Callable[[Agent], Strategy]) -> None:
    agent = Agent(MODEL, tools=[look], limits=CAPS)
    whole = strategy_agent(way(agent), agent)
    assert whole.limits.calls_per_tool == {"look": 2}
    assert strategy_agent(way(agent), agent, limits=CAPS).limits.calls_per_tool == {"look": 2}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_name_that_no_run_of_the_strategy_calls_is_refused(
    way: Callable[[Agent], Strategy],
) -> None:
    agent = Agent(MODEL, tools=[look])
    with pytest.raises(ConfigError, match=r"names 'lok', .*: did you mean look\?"):
        strategy_agent(way(agent), agent, limits=Limits(calls_per_tool={"lok": 2}))


def test_roles_and_tools_of_sub_agents_of_roles_can_be_limited() -> None:
    below = delegate(Agent(MODEL, tools=[judge]), name="below", description="Look deeper.")
    agent = Agent(MODEL, tools=[look, below])
    limits = Limits(calls_per_tool={"solve": 1, "look": 3, "below": 2, "judge": 4})
    assert (
        strategy_agent(Reflexion(agent), agent, limits=limits).limits.calls_per_tool["judge"] == 4
    )
    with pytest.raises(ConfigError, match="names 'judge', which is no tool of this agent"):
        Agent(MODEL, tools=[look, below], limits=Limits(calls_per_tool={"judge": 4}))


FILE = """
model = "offline"
tools = ["named_judge:look", "named_judge:judge"]

[limits]
calls_per_tool = {{ {caps} }}

[strategy]
name = "reflexion"
evaluator = "judge"
trials = 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    module = tmp_path / "named_judge.py"
    module.write_text(
        "from tests.strategies.test_named_tools import judge, look\n__all__ = ['judge', 'look']\n"
    )
    return tmp_path


def written(folder: Path, caps: str) -> Path:
    place = folder / "agent.toml"
    place.write_text(FILE.format(caps=caps))
    return place


@pytest.mark.parametrize("caps", ["look = 2", "judge = 2", "solve = 3", "look = 1, judge = 2"])
def test_an_agent_file_limits_tools_evaluators_and_roles(folder: Path, caps: str) -> None:
    agent = load_agent(written(folder, caps)).agent
    assert agent.limits.calls_per_tool == {
        name: int(most) for name, most in (each.split(" = ") for each in caps.split(", "))
    }


@pytest.mark.parametrize(
    ("caps", "near"), [("lok = 2", "look"), ("jugde = 2", "judge"), ("slove = 1", "solve")]
)
def test_an_agent_files_wrong_name_is_told_with_its_line(
    folder: Path, caps: str, near: str
) -> None:
    with pytest.raises(ConfigError, match=rf"agent.toml, line 6.*: did you mean {near}\?"):
        load_agent(written(folder, caps))


async def test_the_cap_on_an_evaluator_of_an_agent_file_is_in_force(folder: Path) -> None:
    agent = load_agent(written(folder, "judge = 2"), model=ScriptedModel([finish("x")] * 20)).agent
    store = MemoryStore()
    ended = await run(agent, "q", store=store)
    calls = (await read(ended.run_id, store=store)).calls
    judged = [one.observation for one in calls if one.action.name == "judge"]
    assert [one.code for one in judged if one is not None][:3] == ["", "", "cap"]


async def test_a_cap_on_the_work_holds_over_all_runs_of_an_agent_file(folder: Path) -> None:
    agent = load_agent(
        written(folder, "look = 1"),
        model=ScriptedModel([act("look", q="a"), finish("x"), act("look", q="b"), finish("y")] * 9),
    ).agent
    store = MemoryStore()
    ended = await run(agent, "q", store=store)
    whole = await read(ended.run_id, store=store)
    assert whole.total.capped["look"] == 1
