"""The worked examples that ship: an agent shows those that fit it, or says that there are none."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, tool
from clew.agent_files import load_agent
from clew.agent_files.build import shipped, tool_names
from clew.context import PROMPT, demonstrations
from clew.context.demonstrations import DEMONSTRATIONS, acted, finished
from clew.context.demonstrations import example as worked
from clew.core.actions import Action
from clew.core.codes import FINISH
from clew.core.tools import Tool
from clew.testing.models import ScriptedModel
from clew.toolbox.docs import docs_tools
from tests.core.watched import CODECS

pytestmark = pytest.mark.anyio

PAPER = ("search", "lookup")


FIT = {
    "docs": 7, "search": 8, "calc": 1, "planner": 0, "ask_person": 0, "fetch_page": 0,
    "backtrack": 0, "run_code": 0,
}  # fmt: skip
"""How many examples fit each tool alone; of any other three are made."""


def tools_of(names: Sequence[str], folder: Path) -> list[Tool]:
    tools: list[Tool] = []
    for name in names:
        tools += docs_tools(folder) if name == "docs" else [shipped(name)]
    return tools


def used(agent: Agent) -> set[str]:
    steps = [step for example in agent.engine.prompt_spec.examples for step in example.steps]
    return {call.action.name for step in steps for call in step.calls}


@pytest.mark.parametrize(
    ("names", "limit"),
    [
        *(((name,), FIT.get(name, 3)) for name in tool_names()),
        (PAPER, 9),
        ((*PAPER, "calc", "planner"), 10),
        (("docs", "calc"), 9),
        ((*PAPER, "docs", "calc"), 15),
        (("web_search", "fetch_page"), 3),
        ((), 0),
    ],
)  # fmt: skip
def test_demonstrations_fit_the_agents_tools_or_it_says_so(
    names: tuple[str, ...], limit: int, tmp_path: Path
) -> None:
    tools = tools_of(names, tmp_path)
    for count in range(limit + 1):
        agent = Agent("offline", tools, prompt=PROMPT.replace(examples=count))
        assert len(agent.engine.prompt_spec.examples) == count
        assert used(agent) <= {*names, FINISH}
    with pytest.raises(ConfigError) as caught:
        Agent("offline", tools, prompt=PROMPT.replace(examples=limit + 1))
    text = str(caught.value)
    has = ", ".join(one.name for one in tools) or "none"
    advice = f"ask for {limit}" if limit else "leave them out"
    assert text == (
        f"examples is {limit + 1}, and {limit} that ship or can be made fit this agent (its tools: "
        f"{has}; its answer: text): {advice}, or give some of your own"
    )


def test_they_are_chosen_anew_when_the_agent_changes(tmp_path: Path) -> None:
    agent = Agent(
        "offline", tools_of(["docs", "calc"], tmp_path), prompt=PROMPT.replace(examples=2)
    )
    assert used(agent) == {"docs", "calc", FINISH}
    assert used(agent.replace(tools=tools_of(PAPER, tmp_path))) == {"search", FINISH}
    with pytest.raises(ConfigError, match="0 that ship or can be made fit"):
        agent.replace(answer=int)


@tool(effect="read")
def search(year: int) -> str:
    """Search otherwise than the paper."""
    return f"{year}"


def test_a_tool_of_that_name_that_takes_something_else_is_another_tool(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="0 that ship or can be made fit this agent"):
        Agent("offline", [search], prompt=PROMPT.replace(examples=1))
    hidden = [replace(one, hidden=True) for one in tools_of(PAPER, tmp_path)]
    with pytest.raises(ConfigError, match="0 that ship or can be made fit"):
        Agent("offline", hidden, prompt=PROMPT.replace(examples=1))


@pytest.mark.parametrize("count", [-1, True, 1.0, "two"])
def test_what_is_neither_a_number_nor_examples_is_told(count: Any) -> None:
    with pytest.raises(ConfigError, match="examples is "):
        Agent("offline", prompt=PROMPT.replace(examples=count))


def test_an_agent_file_asks_by_number(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(
        'model = "vllm:m"\ncodec = "paper"\ntools = ["search", "lookup"]\nprompt.examples = 6'
    )
    assert used(load_agent(file).agent) == {*PAPER, FINISH}
    file.write_text('model = "offline"\ntools = ["fetch_page"]\nprompt.examples = 2')
    with pytest.raises(ConfigError, match=r"paper.toml, line 3: examples is 2, and 0 that ship"):
        load_agent(file)


def test_they_can_be_had_by_themselves() -> None:
    with_docs = (*DEMONSTRATIONS[:5], DEMONSTRATIONS[-1])
    assert demonstrations(6) == demonstrations(6, ["docs", "calc"]) == with_docs
    assert demonstrations(6, PAPER) == DEMONSTRATIONS[5:-1]
    with pytest.raises(ConfigError, match="6 demonstrations with no more tools than search, look"):
        demonstrations(7, PAPER)


@pytest.mark.parametrize("codec", [name for name in CODECS if name != "native"])
def test_calls_made_together_are_shown_one_after_the_other(codec: str) -> None:
    @tool(effect="read")
    def look(location: str) -> str:
        """Look somewhere."""
        return location

    both = [(Action("look", {"location": town}), f"calm in {town}") for town in ("Aune", "Ostrel")]
    both_examples = worked(
        "Is it calm?", acted("I look in both.", *both), finished("It is.", "yes")
    )
    prompt = PROMPT.replace(examples=[both_examples], variants=())
    agent = Agent(ScriptedModel([], codec=codec, tools=[look]), [look], codec=codec, prompt=prompt)
    (head,) = [part.text for part in agent.parts.first_prompt.head if part.role == "system"]
    offsets = [head.index(text) for text in ("I look in both.", "calm in Aune", "calm in Ostrel")]
    assert offsets == sorted(offsets)
    assert head.count("I look in both.") == 1


@pytest.mark.parametrize("codec", [name for name in CODECS if name != "native"])
def test_without_an_example_the_form_has_no_words_that_could_pass_for_a_thought(
    codec: str,
) -> None:
    """A model of 1.5B parameters took them for its thought, letter by letter."""

    @tool(effect="pure")
    def run_tests(code: str) -> str:
        """Run some tests of a function."""
        return code

    moves = [acted("It runs.", (Action("run_tests", {"code": "1"}), "1")), finished("So.", "yes")]
    words, rule = "what is missing, what to do next", "in a sentence of your own what is known"
    for worked_examples in ([], [worked("Does it run?", *moves)]):
        prompt = PROMPT.replace(examples=worked_examples, variants=())
        model = ScriptedModel([], codec=codec, tools=[run_tests])
        agent = Agent(model, [run_tests], codec=codec, prompt=prompt)
        (head,) = [part.text for part in agent.parts.first_prompt.head if part.role == "system"]
        assert (words in head, rule in head) == (bool(worked_examples), not worked_examples)
    silent = Agent(model, [run_tests], codec=codec, prompt=PROMPT.replace(thought=False))
    (head,) = [part.text for part in silent.parts.first_prompt.head if part.role == "system"]
    assert words not in head
    assert rule not in head
