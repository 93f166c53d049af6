"""References at the end of the answer's text, where they are asked for; the record knows none."""

from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, Result, Trajectory, delegate, read, replay, run
from clew.agent_files import load_agent
from clew.core.events import Evidence, Observation
from clew.evidence import Grounded
from clew.strategies import vote
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


async def answered(answer: Any, store: Any = None, **more: Any) -> tuple[Result, Trajectory]:
    kept = store or MemoryStore()
    model = ScriptedModel([act("look"), finish(answer)])
    given = {"references": True, **more}
    result = await run(Agent(model=model, tools=[look], **given), "Who?", store=kept)
    return result, await read(result.run_id, store=kept)


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
    assert result.answer == text
    assert result.numbered is ("References:" in text)
    for number, piece in enumerate(result.cited, start=1):
        assert f"\n[{number}] " in text
        assert f"[{piece.doc_id}" in answer or f"{piece.doc_id}]" in answer
    assert record.stop is not None
    assert record.stop.answer == answer  # the record has it as the model wrote it


async def test_unless_asked_for_nothing_changes_and_no_setting_does() -> None:
    store = MemoryStore()
    plain, record = await answered("Ada [doc_7].", store, references=False)
    assert (plain.answer, plain.numbered) == ("Ada [doc_7].", False)
    agent = Agent(model=ScriptedModel([]), tools=[look])
    assert agent.setting == agent.replace(references=True).setting
    await replay(agent.replace(references=True), record.run_id, store=store)


async def test_they_are_audited_as_they_were_written() -> None:
    result, _ = await answered("There is a passage [doc_7].", checks=[Grounded()])
    assert result.numbered
    assert [one.doc_id for one in result.audit.references] == ["doc_7"]
    assert "<th>[1]</th><td>ada.md: passage 0</td>" in result._repr_html_()


async def test_what_was_not_found_has_none() -> None:
    result, _ = await answered("?", checks=[lambda *_: "no"], fallback="[doc_7] or so", tries=0)
    assert (result.answer, result.numbered) == ("[doc_7] or so", False)


async def test_an_answer_that_is_no_text_has_no_end() -> None:
    with pytest.raises(ConfigError, match="references stand at the end of a text, and this agent"):
        Agent("offline", answer=int, references=True)
    for wrong in ("yes", 1, None):
        with pytest.raises(ConfigError, match=r"references is .*: give True or False"):
            Agent("offline", references=wrong)  # type: ignore[arg-type]  # which is the point


async def test_who_asked_an_agent_gets_its_own_ids() -> None:
    inner = Agent(
        model=ScriptedModel([act("look"), finish("Ada [doc_7].")]), tools=[look], references=True
    )
    asks = ScriptedModel([act("expert", task="Who?"), say("Ada [1.1/doc_7].")])
    agent = Agent(model=asks, tools=[delegate(inner, name="expert", description="Knows people.")])
    store = MemoryStore()
    result = await run(agent.replace(references=True), "Who?", store=store)
    record = await read(result.run_id, store=store)
    seen = record.calls[0].observation
    assert seen is not None
    assert seen.content == "Ada [1.1/doc_7]."
    assert result.answer.startswith("Ada [1].\n\nReferences:\n[1] ada.md")


async def test_a_vote_gives_them_with_the_answer_that_was_taken() -> None:
    model = ScriptedModel(
        [act("look"), act("look"), finish("Ada [doc_7]."), finish("Ada [doc_7].")]
    )
    agent = Agent(model=model, tools=[look], references=True)
    voted = await vote(agent, "Who?", 2, store=MemoryStore())
    assert voted.answer == "Ada [1].\n\nReferences:\n[1] ada.md · Ada Holm (score 0.50)"
    assert voted.counts[0].answer == "Ada [doc_7]."


def test_an_agent_file_may_ask_for_them(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('model = "offline"\nreferences = true\n')
    assert load_agent(file).agent.references
    file.write_text('model = "offline"\nreferences = true\nanswer = "builtins:int"\n')
    with pytest.raises(ConfigError, match=r"my.toml, line 2: references stand at the end of"):
        load_agent(file)
