"""The worked examples of programs are whole, and shown to agents that run programs."""

from collections.abc import Callable
from typing import Final

import pytest

from clew import Agent, Instructions, tool
from clew.context import Example
from clew.testing import ScriptedModel
from clew.toolbox import calc
from clew_code.codec.program_examples import SHIPPED, program_examples
from clew_code.programs import run_code
from tests.context import test_worked_examples as of_clew
from tests.context.test_worked_examples import results_of


@tool(effect="read")
def get_unit_price(item: str) -> float:
    """The price of an item."""
    return len(item)


MADE: Final = {
    "weight": program_examples((), lambda _: False),
    "unit price": program_examples((get_unit_price,), lambda _: False),
}
"""Of a function that is made up, and of an agent's own, by what they say of a thing."""

EXAMPLES: Final[dict[str, Example]] = {
    one.goal: one
    for one in (
        *(each.example for each in SHIPPED),
        *(each for made in MADE.values() for each in made),
    )
}


@pytest.mark.parametrize("what", MADE)
def test_what_a_function_says_is_asked_thought_and_printed(what: str) -> None:
    for each in MADE[what]:
        assert f" {what} " in each.goal or f" {what}:" in each.goal
        assert each.steps[0].thought is not None
        assert f"Missing: the {what} of each" in each.steps[0].thought.text
        assert f"'{what}': " in results_of(each)


def test_no_goal_stands_twice() -> None:
    assert len(EXAMPLES) == len(SHIPPED) + 4
    assert not EXAMPLES.keys() & of_clew.EXAMPLES.keys()


@pytest.mark.parametrize(
    "check",
    [
        of_clew.test_each_step_thinks_and_calls_and_has_its_result,
        of_clew.test_only_the_last_step_finishes_with_an_answer_that_was_read,
        of_clew.test_no_argument_and_no_field_of_a_result_is_left_out,
    ],
)
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_it_is_whole(check: Callable[[Example], None], example: Example) -> None:
    check(example)


@pytest.mark.parametrize("codec", ["code", "native"])
def test_an_agent_that_runs_programs_is_shown_them_first(codec: str) -> None:
    prompt = Instructions(examples=2)
    model = ScriptedModel([])
    runs = Agent(model, [get_unit_price, run_code()], codec=codec, prompt=prompt)
    assert [one.goal for one in runs.engine.prompt_spec.examples] == [
        one.goal for one in MADE["unit price"]
    ]


def test_without_its_tool_none_is_of_a_program() -> None:
    agent = Agent(ScriptedModel([]), [calc()], codec="code", prompt=Instructions(examples=1))
    (example,) = agent.engine.prompt_spec.examples
    assert example.goal not in EXAMPLES
