"""The worked examples that ship are whole: thoughts, calls, results, answers from the results."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

from clew import MemoryStore, read, run
from clew.agent.agent import Agent
from clew.context.demonstrations import DEMONSTRATIONS, demonstrations
from clew.core.codec import Example
from clew.core.codes import FINISH
from clew.core.trajectory import Call
from clew.core.values import encode
from clew.testing.models import ScriptedModel, act, say
from clew.toolbox import calc

EXAMPLES: Final[dict[str, Example]] = {one.goal: one for one in DEMONSTRATIONS}


def calls_of(example: Example) -> Iterator[Call]:
    return (call for step in example.steps for call in step.calls)


def results_of(example: Example) -> str:
    seen = [call.observation for call in calls_of(example) if call.action.name != FINISH]
    return "\n".join(encode(one.content).decode() for one in seen if one is not None)


def test_without_more_said_it_is_one_of_documents_and_sums() -> None:
    (one,) = demonstrations()
    assert {call.action.name for call in calls_of(one)} <= {"docs", "calc", FINISH}
    assert one in DEMONSTRATIONS


def test_no_goal_stands_twice() -> None:
    assert len(EXAMPLES) == len(DEMONSTRATIONS)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_each_step_thinks_and_calls_and_has_its_result(example: Example) -> None:
    assert [step.number for step in example.steps] == [*range(1, len(example.steps) + 1)]
    for step in example.steps:
        assert step.thought is not None
        assert re.search(r"\w.*[.!?]$", step.thought.text, re.DOTALL)
        assert step.thought.actions == tuple(call.action for call in step.calls) != ()
        for place, call in enumerate(step.calls, start=1):
            assert call.key == f"{step.number}.{place}"
            assert call.observation is not None
            assert call.observation.call == call.key
            assert call.observation.content


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_only_the_last_step_finishes_with_an_answer_that_was_read(example: Example) -> None:
    *before, last = [[call.action.name for call in step.calls] for step in example.steps]
    assert last == [FINISH]
    assert all(FINISH not in names for names in before)
    (finish,) = example.steps[-1].calls
    answer = finish.action.args["answer"]
    assert isinstance(answer, str)
    assert answer.strip()
    for cited in re.findall(r"\[([^\[\]]+)\]", answer):
        assert cited in results_of(example)


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for each in value.values() if isinstance(value, dict) else value:
                yield from strings(each)
        case _:
            assert value is not None


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_no_argument_and_no_field_of_a_result_is_left_out(example: Example) -> None:
    for call in calls_of(example):
        assert call.action.args
        assert all(text.strip() for text in strings(call.action.args))
        assert call.observation is not None
        list(strings(msgspec.to_builtins(call.observation.content)))


SUMS: Final = [
    call for example in DEMONSTRATIONS for call in calls_of(example) if call.action.name == "calc"
]


@pytest.mark.parametrize("shown", SUMS, ids=lambda call: str(call.action.args["expression"]))
async def test_the_calculator_gives_what_they_show(shown: Call) -> None:
    model = ScriptedModel([act("calc", **shown.action.args), say("ok")])
    await run(Agent(model, [calc()]), "?", store=(store := MemoryStore()), run_id="run")
    (made,) = (await read("run", store=store)).calls
    assert made.observation is not None
    assert shown.observation is not None
    assert made.observation.content == shown.observation.content
