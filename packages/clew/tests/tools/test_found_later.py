"""Tools that are found during a run are not "none" before."""

import pytest

from clew import Agent, Tool, tool
from clew.context import Context
from clew.core.events import Reply
from clew.testing import ScriptedModel
from clew.tools.retrieval import Retrieval
from tests.codecs.stand_ins import run_code


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return city


def agent(codec: str, *tools: Tool) -> Agent:
    context = Context(retrieval=Retrieval(k=1, embed="words"))
    return Agent(model=ScriptedModel([]), tools=[weather, *tools], codec=codec, context=context)


@pytest.mark.parametrize("codec", ["labelled", "labelled:conclusion", "json", "code"])
def test_the_head_says_that_tools_are_found_later(codec: str) -> None:
    made = agent(codec)
    text = made.engine.codec.head(made.engine.prompt_spec, "Why?")[0].text
    assert "answer at once" not in text
    assert "(none yet: those that fit are shown below)" in text or codec == "json"


@pytest.mark.parametrize(
    "code", ["print(1 + 1)", "x = weather('Bonn')\nprint(x)", "for n in '1': n"]
)
def test_programs_run_where_run_code_is_found_later(code: str) -> None:
    made = agent("code", run_code())
    parsed = made.engine.codec.parse(
        made.engine.prompt_spec, Reply(f"Thought: so.\n```python\n{code}\n```")
    )
    assert [action.name for action in parsed.actions] == ["run_code"]
