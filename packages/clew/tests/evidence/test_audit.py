"""Answers held against real records: runs with search, calculation and other tools."""

import json
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from clew import (
    Agent,
    ConfigError,
    MemoryStore,
    Observation,
    Result,
    ToolError,
    read,
    resume,
    run,
    tool,
)
from clew.core.contents import Evidence
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.evidence import CANNOT_ANSWER, Audit, Grounded, audit, examined
from clew.testing.models import Move, ScriptedModel, act, finish, say
from clew.toolbox.calc import calc

TOWER = "The tower of Skarn, 41.6 m high, was built by Ottilie Brandt on 14 September 1868."
KEEPER = "Its keeper Jens Aamodt wrote: “The light never sleeps.” See https://skarn.example/log"
PIECES = [
    Evidence("doc_1", TOWER, 0.9, "notes/skarn.md", 100),
    Evidence("doc_2", KEEPER, 0.8, "https://skarn.example/keeper"),
    Evidence("doc_3", "Rumour has it that 77 ghosts live there with Elsa Vik.", 0.3, "rumours"),
]
GOAL = "Who built the tower of Skarn for Baron Holk?"


@tool(effect="read")
def search(query: str) -> Observation:
    """Search."""
    if query == "nothing":
        return Observation(content={"results": [], "note": "nothing was found"})
    results = [{"doc_id": p.doc_id, "title": f"About {p.source[:5]}", "url": ""} for p in PIECES]
    return Observation(content={"results": results}, evidence=tuple(PIECES))


@tool(effect="read")
def broken(query: str) -> Observation:
    """Fail, though with something to cite."""
    return Observation(
        content="x", ok=False, outcome="not_done", evidence=(Evidence("bad_1", TOWER, 1.0),)
    )


@tool(effect="read")
def weather(place: str) -> str:
    """Tell the weather."""
    if place == "nowhere":
        raise ToolError("there is no such place: 99")
    return f"{place}: 17 degrees"


@tool(effect="pure")
def double(number: int) -> int:
    """Twice."""
    return 2 * number


@tool(effect="pure")
def weigh(number: int) -> str:
    """A pure tool with a unit."""
    return "5 kg"


@tool(effect="pure")
def odd(number: int) -> dict[str, int]:
    """A pure tool without a result."""
    return {"other": number}


TOOLS: list[Tool] = [search, broken, weather, double, weigh, odd, calc()]


async def told(*moves: Move, goal: str = GOAL, **fields: Any) -> tuple[Result, Trajectory]:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel(list(moves)), tools=TOOLS, **fields)
    result = await run(agent, goal, store=store, run_id="run")
    return result, await read("run", store=store)


async def after(*moves: Move, goal: str = GOAL) -> Trajectory:
    return (await told(*moves, say("?"), goal=goal))[1]


FOUND = act("search", query="tower")


def work(expression: str) -> Move:
    return act("calc", expression=expression)


def states(found: Audit) -> list[str]:
    return [claim.state for claim in found.claims]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Ottilie Brandt built it [doc_1].", "supported"),
        ("O. Brandt built it in 1868 [doc_1].", "supported"),
        ("It is about 42 m high and from September 1868 [doc_1].", "supported"),
        ("It is 4,160 cm high [doc_1].", "supported"),
        ("It opened on 1868-09-14 [doc_1].", "supported"),
        ("It is from the 1860s, or the 19th century [doc_1].", "supported"),
        ('Aamodt wrote: "The light never sleeps" [doc_2].', "supported"),
        ("The log is at http://www.skarn.example/log/ [doc_2].", "supported"),
        ("It is at https://skarn.example/keeper [doc_2].", "supported"),
        ("About Notes tells it [doc_1].", "supported"),
        ("Brandt and Aamodt were there [doc_1, doc_2].", "supported"),
        ("The tower is old [doc_1].", "not checkable"),
        ("Ottilie Berg built it [doc_1].", "unsupported"),
        ("Clara Brandt built it [doc_1].", "unsupported"),
        ("P. Brandt built it [doc_1].", "unsupported"),
        ("It is 42.6 m high [doc_1].", "unsupported"),
        ("It is 41.6 kg high [doc_1].", "unsupported"),
        ("It opened on 15 September 1868 [doc_1].", "unsupported"),
        ("It opened in the 1870s [doc_1].", "unsupported"),
        ("It opened at 9 am [doc_1].", "unsupported"),
        ('Aamodt wrote: "The light often sleeps" [doc_2].', "unsupported"),
        ("The log is at https://skarn.example/log2 [doc_2].", "unsupported"),
        ("Ottilie Brandt built it [doc_2].", "unsupported"),
        ("Ottilie Brandt built it [doc_9].", "unsupported"),
        ("Ottilie Brandt built it [doc_1][doc_9].", "unsupported"),
        ("It has 77 ghosts [doc_3].", "unsupported"),
        ("It has ghosts [doc_3].", "unsupported"),
        ("It has 77 ghosts and is 41.6 m high [doc_1][doc_3].", "unsupported"),
        ("It has ghosts and is 41.6 m high [doc_1][doc_3].", "supported"),
        ("Ottilie Brandt built it.", "uncited"),
        ("It was for Baron Holk [doc_1].", "unsupported"),
    ],
)  # fmt: skip
async def test_claims(answer: str, state: str) -> None:
    found = audit(answer, await after(FOUND))
    assert states(found) == [state]
    assert found.ok is (state in {"supported", "not checkable"})
    assert bool(found.problems) is not found.ok
    assert bool(found.claims[0].problem) is not found.ok


async def test_it_says_where_each_fact_stands() -> None:
    answer = "Yes. Ottilie Brandt built it, 41.6 m high [doc_1]."
    found = audit(answer, await after(FOUND))
    name, number = found.claims[1].facts
    assert answer[name.start : name.end] == "Ottilie Brandt"
    assert (number.kind, number.normal) == ("number", "41.6 m")
    assert number.source is not None
    assert (number.source.where, number.source.doc_id, number.source.call) == (
        "evidence",
        "doc_1",
        "1.1",
    )
    offset = number.source.offset
    assert TOWER[offset : offset + number.source.length] == "41.6 m"
    assert number.source.in_source == 100 + offset
    (reference,) = found.references
    assert str(reference) == "[doc_1] notes/skarn.md · About notes (score 0.90)"
    assert [answer[a:b] for a, b in reference.spans] == ["[doc_1]"]
    assert found.count("supported") == 1
    assert json.loads(msgspec.json.encode(found))["claims"][1]["state"] == "supported"


async def test_it_says_what_is_missing_and_where_it_could_be_had() -> None:
    record = await after(FOUND)
    (problem,) = audit("Jens Aamodt built it in 1877 [doc_1].", record).problems
    assert "'Jens Aamodt' does not stand in [doc_1] (it stands in [doc_2]: cite that)" in problem
    assert "'1877' does not stand in [doc_1]" in problem
    weak = audit("Elsa Vik is one of 77 ghosts [doc_3].", record)
    assert weak.weak == ("doc_3",)
    assert "stands only in [doc_3], which is weak evidence (score 0.30)" in weak.problems[0]
    assert "[doc_3] is weak evidence (score 0.30, under 0.50)" in weak.problems[0]
    assert audit("Elsa Vik is one of 77 ghosts [doc_3].", record, threshold=0.3).ok
    (problem,) = audit("Ottilie Brandt built it in 1999.", record).problems
    assert "it cites nothing; 'Ottilie Brandt' needs a citation" in problem
    assert "'1999' stands in no evidence" in problem
    assert "…" in audit(f"Anna {'very ' * 50}Lind [doc_1].", record).problems[0]


async def test_failed_observations_are_no_evidence() -> None:
    record = await after(act("broken", query="x"), FOUND)
    assert "[bad_1] is not in this record" in audit("Brandt built it [bad_1].", record).problems[0]


async def test_the_best_score_of_an_id_counts() -> None:
    PIECES.append(Evidence("doc_3", "Rumour has it that 77 ghosts live there.", 0.7, "rumours"))
    try:
        assert audit("It has 77 ghosts [doc_3].", await after(FOUND)).ok
    finally:
        PIECES.pop()


@pytest.mark.parametrize(
    ("moves", "answer", "ok"),
    [
        ([work("1868 - 1800")], "68 years [doc_1].", False),
        ([work("1868 - 1797")], "It is 71 years [doc_1].", False),
        ([work("41.6 * 100")], "It is 4160 [doc_1].", True),
        ([work("41.6 * 3")], "It is 124.8, about 125 [doc_1].", False),
        ([work("41.6 / 100")], "It is 41.6 percent [doc_1].", True),
        ([work("1868 + 10")], "1868 + 10 is 1878. Built 1868 [doc_1].", True),
        ([work("1868 + 10"), work("1878 * 2")], "3756. Of 1868 [doc_1].", True),
        ([work("1868 + 33"), work("1901 * 2")], "3802. Of 1868 [doc_1].", False),
        ([act("double", number=1868)], "3736. Of 1868 [doc_1].", True),
        ([work("1868 - 1797")], "It began in 1797 [doc_1].", False),
        ([work("1868 / 3736")], "It is 12 %, of 1868 [doc_1].", False),
        ([work("1868 / 1868 / 2")], "It is 50 %, of 1868 [doc_1].", True),
        ([act("weigh", number=1868)], "It weighs 5 m and is of 1868 [doc_1].", False),
        ([work("1868 + 33"), work("1901 - 33")], "1901 and [doc_1].", False),
        ([act("odd", number=1868)], "4444. Of 1868 [doc_1].", False),
        ([act("weather", place="Skarn"), work("17 * 2")], "34. Of 1868 [doc_1].", True),
    ],
)  # fmt: skip
async def test_calculations(moves: list[Move], answer: str, ok: bool) -> None:
    found = audit(answer, await after(FOUND, *moves))
    assert found.ok is ok, found.problems


async def test_a_calculation_from_nowhere_is_named() -> None:
    record = await after(FOUND, act("calc", expression="1868 - 1797"))
    (problem,) = audit("It is 71 years [doc_1].", record).problems
    assert "comes from the calculation 2.1, whose 1797 stands in nothing that is cited" in problem


async def test_what_the_person_said_is_no_evidence_but_may_be_repeated() -> None:
    goal = "Was the tower of Skarn by Anna Lind for Elsa Vik built in 1890? It cost 5 million."
    record = await after(FOUND, act("calc", expression="5 * 2"), goal=goal)
    assert states(audit("You ask about 1890 and Anna Lind.", record)) == ["not checkable"]
    assert states(audit("Yes, in 1890 [doc_1].", record)) == ["unsupported"]
    assert states(audit("Anna Lind built Skarn [doc_1].", record)) == ["unsupported"]
    assert states(audit("Skarn cost 10 million twice, 10 [doc_1].", record)) == ["unsupported"]
    assert states(audit("Twice that is 10. It is of 1868 [doc_1].", record)) == ["supported"] * 2


async def test_a_name_of_the_question_counts_where_the_evidence_knows_it() -> None:
    record = await after(FOUND, goal="Who kept the tower of Ottilie Brandt?")
    found = audit("Jens Aamodt kept the tower of Brandt [doc_2].", record)
    assert states(found) == ["supported"]
    assert [f.source.where for f in found.claims[0].facts if f.source] == ["evidence", "question"]


async def test_other_tools_need_no_citation() -> None:
    record = await after(FOUND, act("weather", place="Skarn"))
    found = audit("It has 17 degrees. Jens Aamodt kept it [doc_2].", record)
    assert states(found) == ["supported", "supported"]
    assert found.claims[0].facts[0].source is not None
    assert found.claims[0].facts[0].source.where == "observation"


async def test_citations_are_required_when_searching_was_used() -> None:
    unsearched = await after(act("weather", place="Skarn"), act("weather", place="nowhere"))
    assert states(audit("Ottilie Brandt built it.", unsearched)) == ["not checkable"]
    assert states(audit("Ottilie Brandt built it.", unsearched, citations="always")) == ["uncited"]
    nothing = await after(act("search", query="nothing"))
    assert states(audit("Ottilie Brandt built it.", nothing)) == ["uncited"]
    assert audit("Ottilie Brandt built it.", nothing, citations="never").ok
    assert audit("Yes.", nothing).problems == ("the answer cites nothing",)
    assert audit("I cannot answer this with the evidence at hand.", nothing).ok
    assert audit("", nothing).ok
    assert not audit("I cannot say, but it was 1850.", nothing).ok


async def test_a_paragraph_may_share_a_citation() -> None:
    record = await after(FOUND)
    answer = "Ottilie Brandt built it. It is 41.6 m high [doc_1]. It is of 1868.\n\nIt is of 1868."
    assert states(audit(answer, record)) == ["uncited", "supported", "uncited", "uncited"]
    shared = audit(answer, record, scope="paragraph")
    assert states(shared) == ["supported"] * 3 + ["uncited"]


async def test_headings_rest_on_all_that_is_cited() -> None:
    answer = "# The Tower of Skarn, 1868\n- built by Ottilie Brandt [doc_1]"
    assert audit(answer, await after(FOUND)).ok


@dataclass
class Height:
    metres: float
    builder: str
    sure: bool
    sources: list[str]


async def test_answers_that_are_no_text() -> None:
    record = await after(FOUND)
    found = audit(Height(41.6, "Ottilie Brandt", True, ["doc_1"]), record)
    assert found.text == "- metres: 41.6\n- builder: Ottilie Brandt"
    assert states(found) == ["supported", "supported"]
    assert [reference.doc_id for reference in found.references] == ["doc_1"]
    assert (
        states(audit(Height(42.6, "Anna Lind", True, ["[doc_1]"]), record)) == ["unsupported"] * 2
    )
    assert states(audit(["Ottilie Brandt", None, "doc_7"], record)) == ["unsupported"]


async def test_an_ungrounded_answer_goes_back_and_then_the_fallback_stands_in() -> None:
    wrong = "Anna Lind built it [doc_1]."
    result, record = await told(
        FOUND, finish(wrong), say(wrong), finish(wrong),
        checks=[Grounded()], fallback=CANNOT_ANSWER, tries=2,
    )  # fmt: skip
    assert (result.status, result.answer, result.fallback) == ("failed", CANNOT_ANSWER, True)
    assert result.audit is None
    assert len(record.rejected) == 3
    assert "'Anna Lind' does not stand in [doc_1]" in record.rejected[0]
    assert "cannot answer with the evidence at hand" in record.rejected[0]


async def test_a_corrected_answer_passes_and_carries_its_audit() -> None:
    result, _ = await told(
        FOUND, finish("Anna Lind built it [doc_1]."), finish("Ottilie Brandt built it [doc_1]."),
        checks=[Grounded(threshold=0.6)],
    )  # fmt: skip
    assert (result.ok, result.answer) == (True, "Ottilie Brandt built it [doc_1].")
    assert isinstance(result.audit, Audit)
    assert (result.audit.ok, result.audit.threshold) == (True, 0.6)


async def test_without_the_check_there_is_no_audit_in_the_result() -> None:
    async def fine(answer: Any, trajectory: Trajectory) -> str | None:
        return None

    result, _ = await told(say("Yes."), checks=[fine])
    assert (result.ok, result.audit) == (True, None)


async def test_many_problems_are_told_in_few_lines() -> None:
    record = await after(FOUND)
    said = await Grounded()(" ".join(f"It was in {1900 + n}." for n in range(12)), record)
    assert said is not None
    assert said.count("\n- “It was") == 8
    assert "- and 4 more" in said


async def test_an_entailment_model_stands_beside_the_audit() -> None:
    asked: list[tuple[str, list[str]]] = []

    async def entails(claim: str, passages: Any) -> Any:
        asked.append((claim, list(passages)))
        return "contradicts" if "never" in claim else "neither" if "maybe" in claim else "entails"

    record = await after(FOUND)
    answer = "Ottilie Brandt built it [doc_1]. She never lived [doc_1]. Yes. It maybe fell [doc_2]."
    check = Grounded(entails=entails)
    said = await check(answer, record)
    assert said is not None
    assert "by a model's word the passages contradict it" in said
    assert "by a model's word the passages do not say it" in said
    assert [claim for claim, _ in asked] == [
        "Ottilie Brandt built it [doc_1].", "She never lived [doc_1].", "It maybe fell [doc_2].",
    ]  # fmt: skip
    assert asked[0][1] == [TOWER]
    found = await examined(audit("Brandt built it [doc_9].", record), record, entails)
    assert states(found) == ["unsupported"]
    assert len(asked) == 3
    assert repr(check).endswith("<locals>.entails)")
    assert Agent(model=ScriptedModel([]), checks=[check]).spec.parts["checks"] == [repr(check)]


@dataclass(frozen=True)
class Strict:
    async def __call__(self, claim: str, passages: Any) -> Any:
        return "neither"


def test_the_check_has_the_same_name_in_every_process() -> None:
    assert repr(Grounded()) == "Grounded(threshold=0.5, citations='searched', scope='sentence')"
    assert repr(Grounded(entails=Strict())).endswith("entails=Strict())")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"threshold": 1.5}, "scores lie between 0 and 1"),
        ({"citations": "often"}, "choose one of searched, always, never"),
        ({"scope": "page"}, "choose one of sentence, paragraph"),
    ],
)
def test_settings_that_there_are_not(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Grounded(**settings)


async def test_what_a_person_adds_counts_as_asked() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([FOUND, say("x"), say("y")]), tools=TOOLS)
    await run(agent, GOAL, store=store, run_id="run")
    await resume(agent, "run", say="I mean the one of Tove Lund.", store=store)
    found = audit("Tove Lund and Ottilie Brandt [doc_1].", await read("run", store=store))
    assert [bool(fact.source) for fact in found.claims[0].facts] == [False, True]
    found = audit("You mean Tove Lund. It is high [doc_1].", await read("run", store=store))
    assert found.claims[0].facts[0].source is not None
    assert found.claims[0].facts[0].source.where == "question"
