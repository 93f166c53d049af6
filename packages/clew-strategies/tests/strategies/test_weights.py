"""Plans of an orchestrator: shares by weight, and plans that cannot be carried out."""

from dataclasses import replace
from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, delegate, run
from clew.interfaces import Json, RawCall
from clew_strategies import Orchestrator, strategy_agent
from tests.strategies.test_programs import planner, population


@pytest.mark.parametrize("weights", [(1e-300, 1), (1e300, 1e300, 1e300), (5e-324, 1e308, 1e308)])
async def test_a_share_that_is_too_small_is_an_observation(weights: tuple[float, ...]) -> None:
    model, store = planner({}), MemoryStore()
    parts = [{"task": f"Part {number}", "weight": each} for number, each in enumerate(weights)]
    model.by["Divide a task"] = lambda task: {"parts": parts}
    agent = Agent(model, [population], prompt="You are the solver.")
    done = await run(strategy_agent(Orchestrator(agent), agent), "How many?", store=store)
    assert "No part has a result: too little is left" in str(done.answer) or done.ok


@pytest.mark.parametrize("weight", [0, -1, "much"])
async def test_a_weight_that_is_none_goes_back_to_the_divider(weight: Json) -> None:
    said = iter([{"parts": [{"task": "Ulm?", "weight": weight}]}, {"parts": [{"task": "Ulm?"}]}])
    model = planner({})
    model.by["Divide a task"] = lambda task: next(said)
    agent = Agent(model, [population], prompt="You are the solver.")
    whole = strategy_agent(Orchestrator(agent), agent)
    done = await run(whole, "How many?", store=MemoryStore())
    assert "did Ulm?" in str(done.answer)


async def test_a_division_into_10_000_parts_is_made_anew_once() -> None:
    model = planner({})
    model.by["Divide a task"] = lambda task: {"parts": [{"task": "x"}] * 10_000}
    agent = Agent(model, [population], prompt="You are the solver.")
    limits = Limits(observation_bytes=4_000_000, tokens=4_000_000)
    whole = strategy_agent(Orchestrator(agent.replace(limits=limits)), agent, limits=limits)
    done = await run(whole, "How many?", store=MemoryStore())
    assert done.status == "declined"
    assert "too long to be read" in str(done.answer) or "10,000 parts" in str(done.answer)


async def test_a_worker_that_calls_its_own_orchestrator_ends_at_the_depth() -> None:
    model, store = planner({}), MemoryStore()
    model.by["Divide a task"] = lambda task: {"parts": [{"task": "again"}]}
    model.by["You are the solver"] = lambda text: (
        RawCall(name="manage", arguments='{"task": "again"}')
        if "ERROR" not in text
        else f"stopped: {text}"
    )
    agent = Agent(model, [population], prompt="You are the solver.", limits=Limits(steps=200))

    async def run_it(sub: Any) -> Any:
        return await recursive[0].run(sub)

    recursive: list[Any] = []
    manage = delegate(agent, name="manage", description="An orchestrator.")
    worker = agent.replace(tools=[replace(manage, run=run_it)])
    whole = strategy_agent(Orchestrator(worker), worker)
    recursive.append(delegate(whole, name="manage", description="An orchestrator."))
    done = await run(whole, "How many?", store=store)
    assert done.status == "answered", done
    deepest = max(info.run_id.count(".") for info in await store.runs())
    assert deepest == Limits().depth
    assert "nested as deep as they may be" in str(done.answer)
