"""A later trial repeats no effect of an earlier one, however it writes the call."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, replay, run, tool
from clew.guards import Provenance
from clew.testing.models import ScriptedModel, act, finish, say
from clew_strategies import AnswerVerdict, Reflexion, strategy_agent

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("first", "then", "status"),
    [
        ({}, {}, "held"),
        ({}, {"text": ""}, "held"),
        ({"text": ""}, {}, "held"),
        ({"amount": 2}, {"amount": 2.0}, "held"),
        ({}, {"amount": 1}, "held"),
        ({}, {"tags": []}, "held"),
        ({}, {"text": "Dear Ada"}, "declined"),
    ],
)
async def test_a_trial_that_writes_the_call_otherwise_is_held(
    first: dict[str, Any], then: dict[str, Any], status: str
) -> None:
    sent: list[str] = []

    @tool(effect="unsafe")
    def send(to: str, text: str = "", amount: float = 1.0, tags: tuple[str, ...] = ()) -> str:
        """Send a letter."""
        sent.append(text)
        return "sent"

    def letter(prompt: Any) -> Any:
        told = any("Write it anew." in part.text for part in prompt)
        return act("send", to="ada", **(then if told else first))

    agent = Agent(
        ScriptedModel([letter, say("It is sent.")]), tools=[send], guards=[Provenance("off")]
    )
    judge = Agent(ScriptedModel([finish({"passed": False, "why": "no"})]), answer=AnswerVerdict)
    reflector = Agent(ScriptedModel([say("Write it anew.")]))
    whole = strategy_agent(Reflexion(agent, evaluator=judge, reflector=reflector, trials=2), agent)
    store = MemoryStore()
    ended = await run(whole, "Write to Ada.", store=store, run_id="r")
    assert (ended.status, len(sent)) == (status, 1 if status == "held" else 2)
    await replay(whole, "r", store=store)
