"""The worked examples of programs: who is shown them, and that they print what they say."""

from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run, tool
from clew.context import PROMPT
from clew.core.codec import Example
from clew.core.tools import Tool
from clew.testing.models import ScriptedModel, act
from clew.toolbox import calc
from clew_code.programs import run_code
from clew_web import KeepPlace, paper_tools

pytestmark = pytest.mark.anyio

HEIGHTS = {
    "Orra": ("doc_95310", "The Orra dam has a height of 118.5 metres."),
    "Skarv": ("doc_95877", "With its 73.25 metres the Skarv dam was the highest of its day."),
}
TEXTS = {
    "Varn Pier": "Varn Pier is an iron pier in Brannoch, opened in 1884.",
    "Lenne Pier": "Lenne Pier is a wooden pier. It was opened in 1861.",
}
NUMBERS = {"anvil": 41.25, "bench": 17.5, "cot": 6.75, "bell": 64.5, "gate": 40, "yoke": 52}


@tool(effect="read")
def docs(query: str) -> dict[str, Any]:
    """Search."""
    doc_id, snippet = HEIGHTS[query.partition(" ")[0]]
    return {"results": [{"doc_id": doc_id, "snippet": snippet}]}


@tool(effect="read")
def weight(thing: str) -> dict[str, Any]:
    """The weight of a thing."""
    return {"thing": thing, "weight": NUMBERS[thing]}


@tool(effect="read")
def get_unit_price(item: str) -> dict[str, Any]:
    """The price of an item."""
    return {"item": item, "unit price": NUMBERS[item]}


@tool
def dismiss(name: str) -> str:
    """Dismiss somebody."""
    return name


def examples_of(*tools: Tool, count: int = 2, codec: str = "code") -> tuple[Example, ...]:
    agent = Agent("offline", tools, codec=codec, prompt=PROMPT.replace(examples=count))
    text = "\n".join(
        part.text for part in agent.engine.codec.head(agent.engine.prompt_spec, "Why?")
    )
    assert all(one.goal in text for one in agent.engine.prompt_spec.examples)
    return agent.engine.prompt_spec.examples


def programs(examples: tuple[Example, ...]) -> str:
    calls = [call for one in examples for step in one.steps for call in step.calls]
    return "\n".join(str(call.action.args.get("code", "")) for call in calls)


@pytest.mark.parametrize(
    ("tools", "count"),
    [([docs], 1), (paper_tools(TEXTS), 1), ([get_unit_price], 2), ([weight], 2)],
)
async def test_programs_of_examples_print_what_the_examples_say(
    tools: list[Tool], count: int
) -> None:
    for example in examples_of(*tools, run_code(), count=count):
        steps = [call for step in example.steps for call in step.calls]
        script = [act(call.action.name, **call.action.args) for call in steps]
        agent = Agent(ScriptedModel(script), [*tools, run_code()], guards=[KeepPlace()])
        store = MemoryStore()
        result = await run(agent, example.goal, store=store)
        assert result.status == "answered"
        record = await read(result.run_id, store=store)
        came = [call for call in record.calls if call.action.name == "run_code"]
        assert [one.observation and one.observation.content for one in came] == [
            one.observation and one.observation.content for one in steps[:-1]
        ]


def test_an_agent_is_shown_a_loop_over_its_own_look_ups_or_invented_ones() -> None:
    assert "docs(query=dam + ' height')" in programs(examples_of(docs, calc(), run_code(), count=1))
    assert "search(entity=name)" in programs(examples_of(*paper_tools(TEXTS), run_code(), count=1))
    for tools in ([calc(), get_unit_price, weight], [get_unit_price, dismiss]):
        assert "print(get_unit_price(item=item))" in programs(examples_of(*tools, run_code()))
    for other in (calc(), dismiss):
        assert "print(weight(thing=thing))" in programs(examples_of(other, run_code()))


def test_the_calculation_is_shown_without_programs_and_not_beside_them() -> None:
    (example,) = examples_of(calc(), count=1)
    assert "37 crates" in example.goal
    with pytest.raises(ConfigError, match="examples is 3, and 2 that ship or can be made"):
        examples_of(calc(), run_code(), count=3)


def test_an_agent_with_nothing_to_call_in_a_program_is_shown_none() -> None:
    with pytest.raises(ConfigError, match="0 that ship or can be made"):
        examples_of(run_code(), count=1)


def test_a_search_that_takes_something_else_is_no_search_of_the_examples() -> None:
    @tool(effect="read")
    def search(query: str, index: int) -> str:
        """Search."""
        return f"{query} {index}"

    assert "weight(thing=thing)" in programs(examples_of(search, run_code()))
