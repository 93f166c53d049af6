"""References at the end of the answer's text, where they are asked for; the record knows none."""

from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, Result, Trajectory, delegate, read, run
from clew.core.contents import Evidence, Observation
from clew.evidence import Audit, Grounded
from clew.testing.models import ScriptedModel, act, finish, say
from clew.tools import tool

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


async def answered(said: Any, **more: Any) -> tuple[Result, Trajectory]:
    store = MemoryStore()
    model = ScriptedModel([act("look"), finish(said)])
    result = await run(Agent(model=model, tools=[look], **more), "Who?", store=store)
    return result, await read(result.run_id, store=store)


LISTED = """

References:
[1] lome.md (score 0.60)
[2] ada.md · Ada Holm (score 0.50)"""


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Ada [doc_9]. She [doc_7] did [doc_9].", "Ada [1]. She [2] did [1]." + LISTED),
        ("Both [doc_9, doc_7].", "Both [1, 2]." + LISTED),
        ("Ada [doc_9] [doc_7] [doc_8].", "Ada [1] [2] [doc_8]." + LISTED),
        ("Ada [doc_9; 1] [doc_7] [2].", "Ada [1, 1 (unknown)] [2] [2 (unknown)]." + LISTED),
        ("In [1818] [sic] [doc_9]\n[doc_7]", "In [1818] [sic] [1]\n[2]" + LISTED),
        ("The mill [wiki_a_b].", "The mill [1].\n\nReferences:\n[1] Mill (score 0.70)"),
        ("Nobody knows [1].", "Nobody knows [1]."),
        ("Nobody.", "Nobody."),
    ],
)
async def test_what_an_answer_cites_stands_numbered_at_its_end(answer: str, text: str) -> None:
    result, record = await answered(answer)
    assert result.with_references() == text
    assert result.answer == answer
    assert [one.doc_id for one in result.references] == [one.doc_id for one in result.cited]
    for number, piece in enumerate(result.cited, start=1):
        assert f"\n[{number}] " in text
        assert f"[{piece.doc_id}" in answer or f"{piece.doc_id}]" in answer
    assert record.stop is not None
    assert record.stop.answer == answer  # the record has it as the model wrote it


async def test_they_are_audited_as_they_were_written() -> None:
    result, _ = await answered("There is a passage [doc_7].", checks=[Grounded()])
    assert isinstance(result.audit, Audit)
    assert [one.doc_id for one in result.audit.references] == ["doc_7"]
    assert "<th>[doc_7]</th><td>ada.md: passage 0</td>" in result._repr_html_()
    assert result.with_references().startswith("There is a passage [1].")


async def test_an_answer_that_is_no_text_has_no_end() -> None:
    result, _ = await answered(7, answer=int)
    with pytest.raises(
        ConfigError, match=r"the answer is 7 \(int\): only a text can end with a list"
    ):
        result.with_references()


async def test_who_asked_an_agent_gets_its_own_ids() -> None:
    inner = Agent(model=ScriptedModel([act("look"), finish("Ada [doc_7].")]), tools=[look])
    asks = ScriptedModel([act("expert", task="Who?"), say("Ada [1.1/doc_7].")])
    agent = Agent(model=asks, tools=[delegate(inner, name="expert", description="Knows people.")])
    store = MemoryStore()
    result = await run(agent, "Who?", store=store)
    record = await read(result.run_id, store=store)
    seen = record.calls[0].observation
    assert seen is not None
    assert seen.content == "Ada [1.1/doc_7]."
    assert result.with_references().startswith("Ada [1].\n\nReferences:\n[1] ada.md")
