"""Settings of strategies are in force, or refused where they are made."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.testing.models import ScriptedModel, finish, say
from clew_strategies import (
    AnswerVerdict,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    TreeSearch,
    strategy_agent,
)

AGENT = Agent(ScriptedModel([say("ok")]))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (ReWOO, "max_calls"),
        (PlanAndSolve, "max_steps"),
        (Orchestrator, "max_workers"),
        (Reflexion, "trials"),
        (EvaluatorOptimizer, "rounds"),
        (TreeSearch, "breadth"),
        (TreeSearch, "votes"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
@pytest.mark.parametrize("value", [0, -1, "3", True, 1.5, None])
def test_what_allows_no_work_is_refused(make: Callable[..., Any], name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        make(AGENT, **{name: value})
    assert f"{name} is {value!r}: give " in str(refused.value)
    assert "\n" not in str(refused.value)


async def tasks(memory: int) -> Sequence[str]:
    """What each of four trials is asked, where none passes."""
    wrong = Agent(
        ScriptedModel([finish({"passed": False, "why": "wrong"})] * 4), answer=AnswerVerdict
    )
    told = iter(range(9))
    reflector = Agent(ScriptedModel([finish(f"thought {next(told)}") for _ in range(4)]))
    agent = Agent(ScriptedModel([finish(f"answer {n}") for n in range(4)]))
    whole = Reflexion(agent, wrong, reflector, trials=4, memory=memory)
    store = MemoryStore()
    ended = await run(strategy_agent(whole, agent), "q", store=store)
    calls = (await read(ended.run_id, store=store)).calls
    return [str(call.args["task"]) for call in calls if call.action.name == "solve"]


@pytest.mark.parametrize(("memory", "shown"), [(0, [0, 0, 0, 0]), (1, [0, 1, 1, 1]),
                                               (2, [0, 1, 2, 2]), (9, [0, 1, 2, 3])])  # fmt: skip
async def test_so_many_reflections_are_shown(memory: int, shown: list[int]) -> None:
    assert [task.count("thought ") for task in await tasks(memory)] == shown
