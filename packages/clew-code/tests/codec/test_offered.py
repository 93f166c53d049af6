"""Programs where tools are found during a run, and where one was written in vain."""

import pytest

from clew import Agent, MemoryStore, ModelSettings, run
from clew.interfaces import Reply
from clew.testing import act, finish
from clew_code.programs import run_code
from tests.core.test_small_models import SMALL, TOOLS
from tests.core.watched import watched
from tests.tools.test_found_later import agent


@pytest.mark.parametrize(
    "code", ["print(1 + 1)", "x = weather('Bonn')\nprint(x)", "for n in '1': n"]
)
def test_programs_run_where_run_code_is_found_later(code: str) -> None:
    made = agent("code", run_code())
    parsed = made.engine.codec.parse(
        made.engine.prompt_spec, Reply(f"Thought: so.\n```python\n{code}\n```")
    )
    assert [action.name for action in parsed.actions] == ["run_code"]


async def test_a_program_written_again_in_vain_is_left_out_like_a_call() -> None:
    same, tools = act("run_code", code="x = 1"), [*TOOLS, run_code()]
    script = (same, same, finish("1850"))
    model = watched(
        *script,
        codec="code",
        tools=tools,
        name=SMALL,
        settings=ModelSettings(extra={"grammar": True}),
    )
    await run(Agent(model, tools, codec="code"), "When?", store=MemoryStore())
    grammars = [prompt.grammar for prompt in model.sent]
    assert grammars[0] == grammars[1]
    assert "search(**" not in grammars[1], "in any program"
    assert "search(**" in grammars[2], "alone"
