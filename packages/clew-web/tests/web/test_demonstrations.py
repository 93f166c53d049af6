"""The demonstrations that ship, with the paper's own tools."""

import pytest

from clew import Agent, MemoryStore, read, run
from clew.context import PROMPT
from clew.context.demonstrations import DEMONSTRATIONS
from clew.testing.models import ScriptedModel, act, finish
from clew_web import KeepPlace, paper_tools
from tests.core.watched import CODECS, watched

pytestmark = pytest.mark.anyio


TEXTS = {
    "Varn Light": "Varn Light is a lighthouse on the Isle of Orra, first lit on 12 May 1868.\n\n"
    "Its lamp was replaced in 1931. The last keeper, Edda Lowe, left in 1974.",
    "Hollin Viaduct": "The Hollin Viaduct is a railway bridge over the Sene, designed by the "
    "engineer Marta Quist and opened in 1911.",
    "Marta Quist": "Marta Quist was an engineer. She was born in Ostrand and taught at its school "
    "of mines.",
    "Nils Aker": "Nils Aker was a poet and a ship's doctor. His first book came out in 1902.",
    "Lake Tamar": "Lake Tamar is a mountain lake with an area of 14 square kilometres.",
    "Lake Issel": "Lake Issel is a reservoir with an area of 9 square kilometres.",
    "Brannoch": "Brannoch is a fishing village. Its harbour was built in 1840.",
}


@pytest.mark.parametrize("codec", CODECS)
async def test_the_papers_agent_is_shown_demonstrations_with_its_own_tools(codec: str) -> None:
    tools = paper_tools({"Emma": "Emma is a novel."})
    model = watched(act("search", entity="Emma"), finish("a novel"), codec=codec, tools=tools)
    agent = Agent(
        model=model,
        tools=tools,
        codec=codec,
        guards=[KeepPlace()],
        prompt=PROMPT.replace(examples=2),
    )
    store = MemoryStore()
    result = await run(agent, "What is Emma?", store=store)
    text = "\n".join(
        "\n".join([part.text, *(call.arguments or "" for call in part.calls)])
        for part in model.sent[0].head
    )
    for example in DEMONSTRATIONS:
        assert (example.goal in text) is (example in agent.engine.prompt_spec.examples)
    assert "Hollin Viaduct" in text
    record = await read(result.run_id, store=store)
    assert (result.answer, record.started.spec.parts["examples"]) == ("a novel", 2)


async def test_what_the_papers_tools_find_there_is_what_they_would_find() -> None:
    tools = paper_tools(TEXTS)
    agent = Agent("offline", tools, guards=[KeepPlace()], prompt=PROMPT.replace(examples=6))
    for example in agent.engine.prompt_spec.examples:
        script = [
            act(call.action.name, **call.action.args) for s in example.steps for call in s.calls
        ]
        store = MemoryStore()
        lived = agent.replace(model=ScriptedModel(script), prompt=PROMPT)
        result = await run(lived, example.goal, store=store)
        record = await read(result.run_id, store=store)
        steps = [call for step in example.steps for call in step.calls]
        assert len(record.calls) == len(steps)
        for call, told in zip(record.calls[:-1], steps, strict=False):
            assert (call.observation and call.observation.content) == (
                told.observation and told.observation.content
            )
        assert len(result.cited) == result.raw_answer.count("[")
