"""The references of a vote."""

import pytest

from clew import Agent, MemoryStore
from clew.core.contents import Evidence, Observation
from clew.testing.models import ScriptedModel, act, finish
from clew.tools import tool
from clew_strategies import vote

pytestmark = pytest.mark.anyio


@tool(effect="read")
def look(*, on: str = "") -> Observation:
    """Look things up."""
    del on
    found = [("doc_7", "ada.md", "Ada Holm"), ("doc_9", "lome.md", ""), ("wiki_a_b", "", "Mill")]
    return Observation(
        content={"results": [{"doc_id": one, "title": title} for one, _, title in found]},
        evidence=tuple(
            Evidence(one, f"passage {place}", 0.5 + place / 10, source)
            for place, (one, source, _) in enumerate(found)
        ),
    )


async def test_a_vote_gives_them_with_the_answer_that_was_taken() -> None:
    model = ScriptedModel(
        [act("look"), act("look"), finish("Ada [doc_7]."), finish("Ada [doc_7].")]
    )
    agent = Agent(model=model, tools=[look])
    voted = await vote(agent, "Who?", 2, store=MemoryStore())
    assert (
        voted.result.with_references()
        == "Ada [1].\n\nReferences:\n[1] ada.md · Ada Holm (score 0.50)"
    )
    assert voted.counts[0].answer == "Ada [doc_7]."
