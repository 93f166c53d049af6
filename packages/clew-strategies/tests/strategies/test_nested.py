"""Strategies whose agents answer by strategies."""

from collections.abc import Callable
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, replay, run
from clew_strategies import (
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    TreeSearch,
    strategy_agent,
)
from clew_testing import check_strategy
from tests.strategies.test_programs import Rules, call, population

JUDGE = "You judge the work"
PLAN = "You plan all tool calls"


def counter() -> Rules:
    """A planner, judge and solver: what it answers is how many people it has read of."""
    return Rules(
        {
            PLAN: lambda task: {"calls": [call("E1", "Ulm"), call("E2", "Bern")]},
            "You plan the work of an assistant that has these tools: population.": lambda task: {
                "steps": ["count", "look"]
            },
            "Workers have these tools: population.": lambda task: {
                "parts": [{"task": "Ulm?"}, {"task": "Bern?"}]
            },
            JUDGE: lambda task: {"passed": "Answer: 264000" in task, "why": "it is a sum"},
            "Answer the task from": lambda task: 264_000,
        }
    )


def nested(outer: Callable[[Agent[Any]], Any], model: Rules, answer: type = int) -> Agent[Any]:
    agent = Agent(model, [population], prompt="You are the solver.", answer=answer)
    inner = strategy_agent(ReWOO(agent), agent)
    return strategy_agent(outer(inner), inner)


@pytest.mark.parametrize(
    ("outer", "judged"),
    [
        (Reflexion, 1),
        (EvaluatorOptimizer, 1),
        (PlanAndSolve, 0),
        (Orchestrator, 0),
        (ReWOO, 0),
    ],
)
async def test_a_strategy_over_a_strategy_answers(
    outer: Callable[[Agent], Any], judged: int
) -> None:
    model, store = counter(), MemoryStore()
    whole = nested(outer, model)
    done = await run(whole, "How many?", store=store)
    assert (done.status, done.answer) == ("answered", 264_000)
    assert model.asked.count(PLAN) >= 1
    assert model.asked.count(JUDGE) == judged
    record = await read(done.run_id, store=store)
    asked = len(model.asked)
    assert (await replay(whole, done.run_id, store=store)).trajectory.stop == record.stop
    assert len(model.asked) == asked


@pytest.mark.slow
@pytest.mark.parametrize("outer", [Reflexion, Orchestrator])
async def test_it_keeps_the_contract(outer: Callable[[Agent], Any]) -> None:
    await check_strategy(lambda: nested(outer, counter()), "How many?")


def test_a_search_says_that_it_has_no_branches() -> None:
    with pytest.raises(ConfigError, match="strategy rewoo, whose steps have no branches"):
        nested(TreeSearch, counter())
