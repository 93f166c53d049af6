"""Tools that are found during a run are not "none" before."""

import pytest

from clew import Agent, Tool, tool
from clew.context import Context
from clew.testing import ScriptedModel
from clew.tools.retrieval import Retrieval
from tests.codecs.samples import installed


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return city


def agent(codec: str, *tools: Tool) -> Agent:
    context = Context(retrieval=Retrieval(k=1, embed="words"))
    return Agent(model=ScriptedModel([]), tools=[weather, *tools], codec=codec, context=context)


@pytest.mark.parametrize("codec", installed("labelled", "labelled:conclusion", "json", "code"))
def test_the_head_says_that_tools_are_found_later(codec: str) -> None:
    made = agent(codec)
    text = made.engine.codec.head(made.engine.prompt_spec, "Why?")[0].text
    assert "answer at once" not in text
    assert "(none yet: those that fit are shown below)" in text or codec == "json"
