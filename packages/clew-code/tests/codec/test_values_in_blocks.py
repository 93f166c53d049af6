"""A call in a block is made to the letter: no argument is changed or lost."""

import pytest

from clew import Agent, MemoryStore, run
from clew.testing import ScriptedModel
from clew_code.programs import run_code
from tests.codecs.test_python_values import NO_JSON, received


@pytest.mark.parametrize("effect", ["read", "unsafe"])
@pytest.mark.parametrize("programs", [False, True])
@pytest.mark.parametrize("value", NO_JSON)
async def test_a_value_that_json_has_not_is_refused(
    value: str, programs: bool, effect: str
) -> None:
    reply = f"Thought: I post it.\n```python\npost(value={value})\n```"
    got, told = await received("code", reply, effect, [run_code()] if programs else [])
    assert got == []
    assert told


async def test_an_answer_with_half_a_character_stays_as_it_was_written() -> None:
    model = ScriptedModel(['Thought: it.\n```text\n"\\ud83d"\n```'])
    result = await run(Agent(model, codec="code"), "?", store=MemoryStore())
    assert result.answer == '"\\ud83d"'
