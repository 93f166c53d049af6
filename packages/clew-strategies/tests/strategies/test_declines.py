"""What a person reads if a strategy has no answer: the words of the run that had none."""

import pytest

from clew import Agent, MemoryStore, delegate, read, run
from clew.testing import ScriptedModel, act, finish
from clew.toolbox import calc
from clew_strategies import (
    Auto,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Strategy,
    strategy_agent,
)

QUESTION = "Who is older, the mayor of Ulm or the mayor of Graz?"
OFFLINE = Agent("offline", [calc()])
WHOLE = strategy_agent(ReWOO(OFFLINE), OFFLINE)


@pytest.mark.parametrize(
    "strategy",
    [
        ReWOO(OFFLINE),
        PlanAndSolve(OFFLINE),
        Orchestrator(OFFLINE),
        Auto(OFFLINE),
        Reflexion(WHOLE),
        EvaluatorOptimizer(WHOLE),
    ],
    ids=lambda strategy: strategy.name,
)
async def test_the_words_of_a_run_deep_inside_are_those_of_the_whole(strategy: Strategy) -> None:
    done = await run(strategy_agent(strategy, OFFLINE), QUESTION)
    assert done.status == "declined"
    assert "Name a language model" in done.answer
    assert "ERROR" not in done.answer
    assert "sub-run" not in done.answer


async def test_a_model_is_told_that_a_sub_run_declined() -> None:
    store = MemoryStore()
    expert = delegate(WHOLE, name="ask_expert", description="Ask an expert.")
    model = ScriptedModel([act("ask_expert", task="Plan it"), finish("Nobody knows.")])
    await run(Agent(model, [expert]), QUESTION, store=store, run_id="whole")
    call, _ = (await read("whole", store=store)).calls
    assert call.observation is not None
    assert not call.observation.ok
    assert call.observation.text.startswith("ERROR: declined: ")
