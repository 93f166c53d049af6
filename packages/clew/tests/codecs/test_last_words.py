"""A model that lands is shown the form of an answer, and that form is read as an answer."""

import pytest

from clew import Agent, Limits, MemoryStore, run, tool
from clew.core.codes import FINISH
from clew.core.contents import Reply
from clew.testing.models import act, finish
from tests.core.watched import CODECS, watched


@tool(effect="read")
def look(query: str) -> str:
    """Look something up."""
    return "nothing"


@pytest.mark.parametrize("codec", [name for name in CODECS if name != "native"])
async def test_the_form_that_is_shown_at_the_end_is_an_answer(codec: str) -> None:
    model = watched(act("look", query="a"), finish("ok"), codec=codec, tools=[look])
    agent = Agent(model, [look], codec=codec, limits=Limits(steps=1))
    result = await run(agent, "Where?", store=MemoryStore())
    assert (result.status, result.answer) == ("bound", "ok")
    end = "\n".join(part.text for part in model.sent[-1])
    form = end.partition("in this form:\n")[2].partition("\n")[0]
    read = agent.engine.codec.parse(agent.engine.prompt_spec, Reply(text=form))
    names = [action.name for action in read.actions]
    assert names == [FINISH] or (read.answer and not names), form
