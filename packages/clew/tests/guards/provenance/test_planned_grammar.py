"""The plan of a model that is held to a grammar."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from clew import Agent, MemoryStore, read, run
from clew.core.contents import Reply
from clew.core.events import Planned
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.testing import ScriptedModel, act, say
from tests.codecs.gbnf import sampler
from tests.guards.provenance.worlds import PAY, READ, SEND, letters, tool

SCRIPT = (READ, act("send", to="ada@home.example", text="Hi"), say("done"))

ARGS = {"send": {"to", "text", "copies"}, "pay": {"account", "amount"}, "stop": set[str]()}


@dataclass
class Held:
    """A model that writes a plan as its grammar has it, drawn at random."""

    seed: int
    grammar: bool = True
    asked: list[Prompt] = field(default_factory=list[Prompt])

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("scripted:held", {"grammar": self.grammar})

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if prompt.purpose != "plan":
            return await ScriptedModel(SCRIPT).complete(prompt, on_text)
        self.asked.append(prompt)
        draw = random.Random(self.seed)
        return Reply(text=sampler(prompt.grammar)(draw) if prompt.grammar else "", model="held")


async def planned(model: Held) -> Sequence[Planned]:
    tools = [letters(), SEND, PAY, tool("stop", "stopped", effect="unsafe")]
    store = MemoryStore()
    await run(Agent(model=model, tools=tools), "Read my letters", store=store, run_id="r")
    record = await read("r", store=store)
    return [entry.event for entry in record.entries if isinstance(entry.event, Planned)]


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_it_writes_is_a_plan_of_tools_that_act(seed: int) -> None:
    """Some of a tool's arguments, each once; none is needed."""
    model = Held(seed)
    (plan,) = await planned(model)
    (prompt,) = model.asked
    written = sampler(prompt.grammar)(random.Random(seed))
    calls = msgspec.json.decode(written)["calls"]
    assert not plan.fault
    assert [call.tool for call in plan.calls] == [call["tool"] for call in calls]
    for call in plan.calls:
        assert {*call.args} <= ARGS[call.tool]


async def test_others_are_told_of_no_grammar() -> None:
    model = Held(1, grammar=False)
    (plan,) = await planned(model)
    assert [prompt.grammar for prompt in model.asked] == [""]
    assert plan.fault == "the model's reply could not be read"
