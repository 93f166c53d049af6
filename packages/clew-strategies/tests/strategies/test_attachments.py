"""What a person attaches reaches the model of each run of a strategy and of a vote."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from clew import Agent, ConfigError, Image, MemoryStore, read, replay, resume, run
from clew.interfaces import Json, Model, OnText, Prompt, Reply
from clew.testing import ScriptedModel
from clew.testing.models import say
from clew_strategies import (
    Auto,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    strategy_agent,
    vote,
)
from tests.strategies.test_programs import call, learner, planner, population

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
MAP = Image("image/png", PNG, "a map of both")


@dataclass
class Looking:
    """A model that counts the prompts in which it saw the picture, and those in which not."""

    model: Model
    seen: list[bool] = field(default_factory=list[bool])

    def __post_init__(self) -> None:
        self.info = replace(self.model.info, takes=frozenset({"image/"}))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        parts = [*prompt.head, *prompt.parts, *prompt.tail]
        self.seen.append(any(it.data == PNG for part in parts for it in part.attachments))
        return await self.model.complete(prompt, on_text)


def made(strategy: Callable[[Agent], Any], plan: Json, *, blind: bool = False) -> tuple[Agent, Any]:
    model = learner() if plan is None else planner(plan)
    if plan is not None:
        model.by["Divide a task"] = lambda task: plan
    looking = Looking(model)
    agent = Agent(looking, [population], prompt="You are the solver.")
    if blind:
        looking.info = replace(looking.info, takes=frozenset())
    return strategy_agent(strategy(agent), agent), looking


STRATEGIES = [
    (Reflexion, None),
    (EvaluatorOptimizer, None),
    (PlanAndSolve, {"steps": ["look", "count"]}),
    (ReWOO, {"calls": [call("E1", "Ulm"), call("E2", "Bern")]}),
    (Orchestrator, {"parts": [{"task": "Ulm?"}, {"task": "Bern?", "weight": 2}]}),
    (Auto, {"steps": ["look"]}),
]


@pytest.mark.parametrize(("strategy", "plan"), STRATEGIES)
async def test_each_run_of_a_strategy_sees_them(
    strategy: Callable[[Agent], Any], plan: Json
) -> None:
    agent, looking = made(strategy, plan)
    store = MemoryStore()
    result = await run(agent, ["Which city?", MAP], store=store, run_id="run")
    assert looking.seen
    assert all(looking.seen)
    await replay(agent, "run", store=store)
    assert (await resume(agent, "run", store=store)).status == result.status
    assert (await read("run", store=store)).attachments[0].data == PNG


@pytest.mark.parametrize(("strategy", "plan"), STRATEGIES)
async def test_where_its_agents_take_none_and_no_words_stand_for_it_it_is_refused(
    strategy: Callable[[Agent], Any], plan: Json
) -> None:
    agent, looking = made(strategy, plan, blind=True)
    with pytest.raises(
        ConfigError, match="takes no pictures of the type image/png: give it a text"
    ):
        await run(agent, ["Which city?", Image("image/png", PNG)])
    assert looking.seen == []


async def test_each_run_of_a_vote_sees_them() -> None:
    looking = Looking(ScriptedModel([say("Ulm")] * 3))
    store = MemoryStore()
    agent = Agent(looking)
    decided = await vote(agent, [MAP, "Which city?"], 3, store=store, run_id="vote")
    assert str(decided.result) == "Ulm"
    assert looking.seen == [True] * len(looking.seen)
    again = await vote(agent, [MAP, "Which city?"], 3, store=store, run_id="vote")
    assert str(again.result) == "Ulm"
    other = Image("image/png", PNG + b"0")
    with pytest.raises(ConfigError, match="begun with another question"):
        await vote(agent, [other, "Which city?"], 3, store=store, run_id="vote")
