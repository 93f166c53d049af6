"""The contract of strategies, over those that ship and over broken ones."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import Agent, ConfigError
from clew.interfaces import Json
from clew_strategies import (
    Auto,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Runs,
    TreeSearch,
    strategy_agent,
)
from clew_testing import check_strategy
from tests.strategies.test_programs import call, learner, planner, population
from tests.strategies.test_tree_search import Walker, go


def made(strategy: Callable[[Agent], Any], plan: Json = None) -> Agent:
    model = learner() if plan is None else planner(plan)
    if plan is not None:
        model.by["Divide a task"] = lambda task: plan
    agent = Agent(model, [population], prompt="You are the solver.")
    return strategy_agent(strategy(agent), agent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "plan"),
    [
        (Reflexion, None),
        (PlanAndSolve, {"steps": ["look", "count"]}),
        (ReWOO, {"calls": [call("E1", "Ulm"), call("E2", "Bern")]}),
        (Orchestrator, {"parts": [{"task": "Ulm?"}, {"task": "Bern?", "weight": 2}]}),
        (Auto, {"steps": ["look"]}),
    ],
)
async def test_what_ships_keeps_it(strategy: Callable[[Agent], Any], plan: Json) -> None:
    await check_strategy(lambda: made(strategy, plan), "Which city?")


@pytest.mark.slow
async def test_a_search_keeps_it() -> None:
    def make() -> Agent:
        agent = Agent(Walker(), [go], prompt="You are the walker.")
        return strategy_agent(TreeSearch(agent, breadth=2, by="uct"), agent)

    await check_strategy(make, "Where is it?")


@dataclass
class Forgetful:
    """A strategy that keeps a count outside of its record."""

    agent: Agent
    seen: list[str]
    inside: bool
    name: str = "forgetful"
    params: dict[str, Json] = field(default_factory=dict)

    @property
    def roles(self) -> dict[str, Agent]:
        return {"solve": self.agent}

    async def __call__(self, runs: Runs, task: str) -> Json:
        await runs.run("solve", f"{task} ({len(self.seen) if self.inside else ''})")
        self.seen.append(task)
        return (await runs.run("solve", f"{task} ({len(self.seen)})")).answer


@pytest.mark.parametrize("inside", [True, False])
async def test_one_that_keeps_a_state_breaks_it(*, inside: bool) -> None:
    seen: list[str] = []

    def make() -> Agent:
        agent = Agent(learner(), prompt="You are the solver.")
        return strategy_agent(Forgetful(agent, seen, inside), agent)

    with pytest.raises((AssertionError, ConfigError)):
        await check_strategy(make, "Which city?")
