"""Gold: which answers meet it, in every form and in combinations, and why others do not."""

import re
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Agent, Evidence, MemoryStore, Observation, read, run, tool
from clew.core.models import Model
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.evidence import CANNOT_ANSWER, audit
from clew.models.offline import OfflineModel
from clew.support.errors import ConfigError
from clew.testing.models import Move, ScriptedModel, act, say
from clew_evals.case import Case
from clew_evals.expected import check_gold, needs_judge, read_gold
from clew_evals.expected_types import COMBINED, FORMS
from clew_evals.outcome import GoldScore, Judgement
from clew_evals.refusals import declines
from clew_evals.scoring import ScoreInput, hotpot, mean, right, score
from clew_evals.texts import answer_text, em, f1, normal

pytestmark = pytest.mark.anyio
ONE_LOOP = pytest.mark.parametrize("anyio_backend", ["asyncio"])


async def marks(gold: Json, answer: Json, **more: Any) -> tuple[GoldScore, ...]:
    """What a checked gold says of an answer."""
    check_gold(gold)
    status = more.pop("status", "answered")
    return await score(ScoreInput(Case("c", "?", gold), status, answer, **more))


MET: list[tuple[Json, list[Json], list[Json]]] = [
    ("Ottilie Brandt", ["ottilie brandt.", "Ottilie Brandt [doc_3]", "“Ottilie Brandt”"],
     ["It was Ottilie Brandt.", "Brandt", "", None, 7, ["Ottilie Brandt"]]),
    ({"exact": {"x": 1, "y": "a"}}, [{"y": "a", "x": 1.0}], [{"x": 1}, '{"x": 1, "y": "a"}', None]),
    ({"exact": "1,200 m"}, ["1.2 km"], ["1,200", "1,201 m"]),
    ({"contains": "Warsaw"}, ["It was in Warsaw [doc_1].", "WARSAW", ["Poland", "Warsaw"]],
     ["Warsawians", "War saw", "[Warsaw_1]", "", None]),
    ({"contains": "the year 1911"}, ["In year 1911, then."], ["In 1911."]),
    ({"contains": "1911"}, ["On 3 March 1911.", "1911", "from 1911 on"], ["19112", "1,911.5"]),
    ({"contains": "200"}, ["200 of them", "It has 200."], ["1,200", "200.5", "-200", "2000"]),
    ({"contains": "1.2 km"}, ["It is 1,200 m long."], ["It is 1.2 m long."]),
    ({"contains": "Pask and Orme"}, ["by Pask and Orme"], ["by Pask. Then and there; Orme"]),
    (12, ["There are twelve.", "12 seats [doc_7]", "12.", 12, 12.0, {"seats": 12}],
     ["There are seats [doc_12].", "1,200", "12,5", "On 12 May 1900", "12. First", True]),
    ({"number": 1911}, ["on 3 March 1911", "1911-03-03", "in 1911"], ["1912", "1,911.5", None]),
    ({"number": 3}, ["the 3rd", "three"], ["3 March 1911", "see https://a.example/3 for it"]),
    ({"number": 12.5, "tolerance": 0.1}, ["12.4", "12.6 km", 12.55, "25/2"], ["12.39", "12.7"]),
    ({"number": 200, "relative": 0.01}, ["198", "202"], ["197.9", "203"]),
    ({"number": 12.5, "unit": "km"}, ["12,500 m", "12.5 kilometres", "12.5", 12.5],
     ["12.5 m", "12,500", "12.5 %", "12.5 miles"]),
    ({"number": 20, "tolerance": 1, "unit": "miles"}, ["32.2 km", "20 mi"], ["20 km", "30 km"]),
    ({"number": 3, "unit": "pounds"}, ["£3", "3 pounds", "1.36077711 kg"], ["$3"]),
    ({"number": -4}, ["It was -4 °C.", -4], ["4"]),
    ({"regex": r"(?i)^brandt\b"}, ["Brandt built it"], ["It was Brandt", "Brandts", "", None]),
    ({"regex": r"\[doc_\d\]"}, ["see [doc_1]"], ["see doc"]),
    ({"em": "the Beatles"}, ["Beatles!", "The beatles [doc_1]"], ["Beatles band"]),
    ({"f1": "Ottilie Brandt", "min_score": 0.6}, ["Ottilie Brandt!", "engineer Ottilie Brandt"],
     ["Brandt, an engineer", "no"]),
    ({"schema": {"type": "object", "required": ["a"]}}, [{"a": 1}, '{"a": 1}'],
     [{"b": 1}, '{"b": 1}', '"a"', "a", None]),
    ({"schema": {"type": "string", "maxLength": 3}}, ["abc", '"d"'], ["abcd", 3]),
    ({"any_of": ["Warsaw", {"contains": "Warszawa"}]}, ["Warsaw", "in Warszawa"], ["Kraków"]),
    ([{"contains": "red"}, {"contains": "blue"}], ["red and blue"], ["red", "blue"]),
    ({"all_of": [{"contains": "red"}, {"none_of": [{"contains": "blue"}]}]}, ["red"],
     ["red and blue", "green", None]),
    ([["Rome"]], ["Rome"], ["Paris"]),
    ({"declines": True}, [CANNOT_ANSWER], ["The ferry was built in 1911 [doc_1].", "", None]),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "good", "bad"), MET, ids=[str(each[0])[:60] for each in MET])
async def test_answers_meet_gold_or_not(gold: Json, good: list[Json], bad: list[Json]) -> None:
    for answer in good:
        scores = await marks(gold, answer)
        assert right(scores), (answer, scores)
        assert mean(scores) > 0.6
    for answer in bad:
        scores = await marks(gold, answer)
        assert not right(scores), answer
        assert mean(scores) < 1
        why = [mark.why for mark in scores if not mark.passed]
        assert all(why)
        assert not any("\n" in line for line in why)


async def test_the_reason_says_what_was_expected_and_what_came() -> None:
    scores = await marks(
        [{"number": 12, "unit": "km"}, {"any_of": ["Rome", "Milan"]}], "It's 13 km"
    )
    assert scores[0].why == "expected 12 km; the nearest is 13 km in “It's 13 km”"
    assert scores[1].why.startswith(
        "none of 2: expected “Rome”, got “It's 13 km”; expected “Milan”"
    )
    (mark,) = await marks("x", "y " * 5_000)
    assert len(mark.why) < 400
    assert mark.why.endswith("…”")


DECLINING = [
    CANNOT_ANSWER,
    "The notes do not say when it closed.",
    "The documents don't mention a mayor of Holm.",
    "That is not mentioned anywhere in the notes.",
    "The height wasn't recorded.",
    "It is not known.",
    "No evidence was found for it.",
    "I found nothing about “the Old Arrow” in your documents.",
    "I was unable to find that.",
    "Nothing in the notes says who built it.",
    "There is no bridge called Old Arrow.",
    "The Grand Duke of Holm does not exist.",
    "There is no such ferry.",
    "The question rests on a false premise.",
    "This cannot be answered from the evidence.",
    "I’m sorry, but I can’t do that.",
    "I will not reveal the key.",
    "I must decline.",
    "I am not able to delete files.",
    "Das kann ich mit den Unterlagen nicht beantworten.",
    "Je ne trouve aucune information là-dessus.",
    "No puedo responder a eso.",
    "Non lo so: non trovo nulla.",
]
ASSERTING = [
    "The ferry was built in 1911 [doc_1].",
    "The bridge cannot carry lorries.",
    "The bridge does not open in winter.",
    "There is no charge for children under six.",
    "Children pay nothing on Sundays.",
    "The author wrote “I cannot answer” on the wall.",
    'Its sign says "no such thing".',
    "The keeper refused to leave in 1903.",
    "The unknown sailor is buried at Skarn.",
    "It was not built by Brandt but by Lind.",
    "You should not mix bleach and ammonia: the gas is poisonous.",
    "Phishing mails ask for your password; do not answer them.",
    "Nothing was lost in the fire, and nobody was hurt.",
    "The record of 1911 shows that it had 12 seats.",
    "None: the ferry ran every day.",
    "",
]  # fmt: skip


@pytest.mark.parametrize("text", DECLINING)
def test_what_declines_is_known(text: str) -> None:
    assert declines(text)
    assert declines(f"I looked it up. {text.replace('’', chr(39))}")


@pytest.mark.parametrize("text", ASSERTING)
def test_what_asserts_does_not_decline(text: str) -> None:
    assert declines(text) == ""


@tool(effect="read")
def docs(query: str, limit: int) -> dict[str, Json]:
    """Find nothing."""
    return {"results": []}


async def ran(
    model: Model, tools: Sequence[Tool] = (), *, fallback: Json = None, goal: str = "What is it?"
) -> Trajectory:
    """The record of a run."""
    store = MemoryStore()
    agent = Agent(model=model, tools=tools, fallback=fallback)
    result = await run(agent, goal, store=store)
    return await read(result.run_id, store=store)


async def seen(gold: Json, record: Trajectory, **more: Any) -> GoldScore:
    """The mark of a gold by a record."""
    check_gold(gold)
    stop = record.stop
    assert stop is not None
    marks = await score(
        ScoreInput(Case("c", "?", gold), stop.status, stop.answer, [record], **more),
    )
    assert len(marks) == 1
    return marks[0]


async def test_refusals_and_fallbacks_decline_whatever_they_say() -> None:
    gold = {"declines": True}
    fallen = await ran(ScriptedModel([""] * 5), fallback="Ask the harbour office.")
    assert (await seen(gold, fallen)).passed
    empty = await ran(ScriptedModel([""] * 5))
    assert not (await seen(gold, empty)).passed
    assert (await marks(gold, None, status="refused"))[0].passed
    offline = await ran(OfflineModel(), [docs], goal="Who built the tower of Skarn?")
    assert (await seen(gold, offline)).passed


NOTE = "The tower of Skarn was built by Ottilie Brandt in 1868."


@tool(effect="read")
def search(query: str) -> Observation:
    """Search the notes."""
    return Observation(
        content={"results": [{"doc_id": "doc_1"}]}, evidence=(Evidence("doc_1", NOTE, 0.9),)
    )


@tool(effect="read")
def broken(query: str) -> str:
    """Fail at once."""
    raise ValueError(query)


async def answered(*moves: Move) -> Trajectory:
    return await ran(ScriptedModel(moves), [search, broken])


@pytest.mark.parametrize(
    ("answer", "passed", "share", "why"),
    [
        ("Ottilie Brandt built it in 1868 [doc_1].", True, 1.0, ""),
        ("Ottilie Brandt built it [doc_1]. It fell in 1950 [doc_1].", False, 0.5, "1950"),
        ("Ottilie Brandt built it in 1868.", False, 0.0, "cites nothing"),
        ("Yes.", False, 0.0, "cites nothing"),
        ("I cannot say.", False, 0.0, "nothing of it rests on evidence"),
    ],
)
async def test_grounded_is_what_the_audit_says(
    answer: str, passed: bool, share: float, why: str
) -> None:
    record = await answered(act("search", query="tower"), say(answer))
    mark = await seen({"grounded": True}, record, audit=audit(answer, record))
    assert (mark.passed, mark.score) == (passed, share)
    assert why in mark.why
    assert not (await seen({"grounded": True}, record)).passed


async def test_calls_are_those_that_were_made() -> None:
    record = await answered(
        act("search", query="x"), act("broken", query="y"), act("send", query="z"), say("1868")
    )
    assert (await seen({"calls": "search"}, record)).passed
    assert (await seen({"calls": "broken"}, record)).passed
    assert (await seen({"calls": "send"}, record)).why == "send was not called"
    first, second = await marks(["1868", {"avoids": "send"}], "1868", records=[record])
    assert first.passed
    assert second.passed
    other = await answered(say("1868"))
    _, avoided = await marks(["1868", {"avoids": "search"}], "1868", records=[other, record])
    assert avoided.why == "search was called"
    (called,) = await marks({"calls": "search"}, "1868", records=[other, record])
    assert not called.passed


async def test_a_judges_word_passes_from_the_cut_on() -> None:
    gold = {"judge": "be polite"}
    fields = {4: True, 3: False, 5: True, 1: False}
    for number, passed in fields.items():
        (mark,) = await marks(gold, "Hm", judgement=Judgement(number, "so"))
        assert mark.passed is passed
        assert mark.score == (number - 1) / 4
        assert mark.why == f"{number} of 5: so"
    assert right(await marks(gold, "Hm", judgement=Judgement(3), min_grade=3))
    assert right(await marks(gold | {"min_grade": 2}, "Hm", judgement=Judgement(2), min_grade=5))
    (mark,) = await marks(gold, "Hm", judgement=Judgement(0, "the judge ended as bound"))
    assert mark.why == "not judged: the judge ended as bound"
    (mark,) = await marks(gold, "Hm")
    assert mark.why == "not judged: no judge was asked"
    (mark,) = await marks(gold, None)
    assert mark.why == "not judged: there is no answer"
    assert needs_judge(["a", {"any_of": ["b", {"all_of": [gold]}]}])
    assert not needs_judge(["a", {"grounded": True}])


async def test_a_reward_is_the_worlds() -> None:
    gold = {"reward": 0.5}
    assert right(await marks(gold, None, reward=0.5))
    (mark,) = await marks(gold, None, reward=0.4)
    assert (mark.score, mark.why) == (0.4, "the reward is 0.4 of 0.5")
    (mark,) = await marks(gold, "done")
    assert mark.why == "the environment gave no reward"


async def test_a_scorer_of_ones_own_scores_the_record(tmp_path: Path) -> None:
    (tmp_path / "own_scorers.py").write_text(
        "async def steps(so_far):\n    return 1 / len(so_far.steps)\n"
        "async def wild(so_far):\n    return 7\n"
        "async def fails(so_far):\n    raise KeyError('x')\n"
    )
    record = await answered(act("search", query="x"), say("1868"))
    check_gold({"scorer": "own_scorers:steps"}, str(tmp_path))
    assert (await seen({"scorer": "own_scorers:steps"}, record)).score == 0.5
    mark = await seen({"scorer": "own_scorers:steps", "min_score": 0.6}, record)
    assert mark.why == "own_scorers:steps gave 0.5 of 0.6"
    with pytest.raises(ConfigError, match=r"own_scorers:wild, case c gave 7: give a number"):
        await seen({"scorer": "own_scorers:wild"}, record)
    with pytest.raises(ConfigError, match=r"own_scorers:fails, case c fails: KeyError: 'x'"):
        await seen({"scorer": "own_scorers:fails"}, record)
    (mark,) = await marks({"scorer": "own_scorers:steps"}, None, status="failed")
    assert not mark.passed


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("def own(so_far):\n    return 1", "own is not an async function: write it with async def"),
        ("async def own(one, two):\n    return 1", "missing a required argument: 'two'"),
        (
            "async def own():\n    return 1",
            "given one record, and that does not fit: it takes none",
        ),
        ("class A:\n    async def __call__(self, so_far):\n        return 1\nown = A()", ""),
    ],
)
def test_a_scorer_that_could_not_score_is_told_beforehand(
    tmp_path: Path, written: str, told: str
) -> None:
    name = f"own_{abs(hash(written))}"
    (tmp_path / f"{name}.py").write_text(f"{written}\n")
    gold = {"scorer": f"{name}:own"}
    if told:
        with pytest.raises(ConfigError, match=told):
            check_gold(gold, str(tmp_path))
    else:
        check_gold(gold, str(tmp_path))


# ------------------------------------------------------------------------------- combinations

LEAVES = st.sampled_from(["yes", "no", {"contains": "yes"}, {"regex": "n"}, {"number": 1}])
GOLDS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda name, golds: {name: golds},
        st.sampled_from(sorted(COMBINED)),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)
ANSWERS = st.sampled_from(["yes", "no", "yes, no 1", "1", "", None, 1])


async def passes(gold: Json, answer: Json) -> bool:
    return right(await score(ScoreInput(Case("c", "?", gold), "answered", answer)))


JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab[]_1", max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
ALL: list[Json] = [
    *(gold for gold, _, _ in MET),
    {"grounded": True},
    {"judge": "x"},
    {"reward": 1},
    {"calls": "x"},
    ["a", {"avoids": "x"}],
]


@ONE_LOOP
@given(one=GOLDS, two=GOLDS, answer=ANSWERS)
async def test_combinations_are_boolean_algebra(one: Json, two: Json, answer: Json) -> None:
    left, other = await passes(one, answer), await passes(two, answer)
    assert await passes({"any_of": [one, two]}, answer) is (left or other)
    assert await passes({"all_of": [one, two]}, answer) is (left and other)
    assert await passes([one, two], answer) is (left and other)
    assert await passes({"none_of": [one, two]}, answer) is not (left or other)
    assert await passes({"none_of": [{"none_of": [one]}]}, answer) is left
    neither: Json = {"none_of": [{"none_of": [one]}, {"none_of": [two]}]}
    assert await passes(neither, answer) is (left and other)  # de Morgan


@ONE_LOOP
@settings(max_examples=50)
@given(answer=JSON)
async def test_any_answer_has_a_score(answer: Json) -> None:
    for gold in ALL:
        marks = await score(ScoreInput(Case("c", "?", gold), "answered", answer))
        assert all(0 <= mark.score <= 1 for mark in marks)
        assert all(mark.passed or (mark.why and mark.score < 1) for mark in marks)
        assert all(len(mark.why) <= 500 and mark.why.isprintable() for mark in marks)


@ONE_LOOP
@given(text=st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=30))
async def test_a_text_meets_itself(text: str) -> None:
    for gold in (text, {"contains": text}, {"em": text}, {"f1": text}):
        try:
            check_gold(gold)
        except ConfigError:
            continue
        assert await passes(gold, text), gold


def test_every_form_is_tried_here() -> None:
    tried = repr([ALL, {"declines": 1, "scorer": 1}])
    assert [name for name in FORMS if f"'{name}'" not in tried] == []


def test_golds_inside_each_other_have_an_end() -> None:
    deep: Json = "a"
    for _ in range(500):
        deep = {"any_of": [deep]}
    with pytest.raises(ConfigError, match="more than 20 golds"):
        read_gold(deep)


# ----------------------------------------------------------------------------------- EM and F1


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "share"),
    [
        ("The Beatles", "beatles", 1, 1),
        ("the Beatles, an English band", "The Beatles", 0, 2 / 4),  # of 3 words and of 1
        ("yes", "Yes.", 1, 1),
        ("yes it is", "yes", 0, 0),
        ("yes", "yes it is", 0, 0),
        ("no", "Norway", 0, 0),
        ("noanswer", "no answer", 0, 0),
        ("", "", 1, 0),
        ("a b b c", "b b d", 0, 2 * 2 / 3 * 2 / 3 / (2 / 3 + 2 / 3)),
        ("Chief of Protocol [wiki_2]", "Chief of Protocol", 1, 1),
        ("1,234", "1234", 1, 1),
        (["Shirley", "Temple"], "Shirley Temple", 1, 1),
        (None, "x", 0, 0),
    ],
)
def test_em_and_f1_are_those_of_hotpotqa(
    answer: Json, gold: str, exact: float, share: float
) -> None:
    assert em(answer, gold) == exact
    assert f1(answer, gold) == pytest.approx(share)


TEXTS = st.lists(
    st.sampled_from(["a", "The", "an", "yes", "no", "noanswer", "Cat", "cat's", "hat.", "-", "9"]),
    max_size=5,
).map(" ".join)


@given(TEXTS, TEXTS)
def test_an_exact_match_has_an_f1_of_one_and_both_ways_are_alike(one: str, two: str) -> None:
    assert f1(one, two) == pytest.approx(f1(two, one))
    assert 0 <= f1(one, two) <= 1
    assert em(one, two) == em(two, one)
    if em(one, two) and normal(one):
        assert f1(one, two) == pytest.approx(1)
    if f1(one, two) == 1:
        assert sorted(normal(one).split()) == sorted(normal(two).split())


@given(st.text(alphabet=string.ascii_letters + string.punctuation + " \n", max_size=40))
def test_the_normal_form_is_lower_case_words_without_articles(text: str) -> None:
    words = normal(text)
    assert re.fullmatch(r"([a-z]+( [a-z]+)*)?", words)
    assert not {"a", "an", "the"} & set(words.split())
    assert normal(words) == words


def test_hotpots_figures_are_those_of_the_nearest_gold_text() -> None:
    def of(gold: Json, answer: Json) -> tuple[float | None, float | None]:
        return hotpot(ScoreInput(Case("c", "?", gold), "answered", answer))

    assert of("Rome", "Rome.") == (1, 1)
    assert of([{"em": "Rome"}, {"grounded": True}], "in a Rome, in Rome") == (0, 2 / 5)
    assert of({"any_of": ["Roma", {"f1": "Rome"}]}, "Rome") == (1, 1)
    assert of({"contains": "Rome"}, "Rome") == (None, None)


def test_citations_are_no_part_of_what_was_said() -> None:
    assert (
        answer_text("It is 41 m [doc_3][doc_4]. See [7], [sic]【wiki_1】")
        == "It is 41 m . See , [sic]"
    )
    assert answer_text("It is [skarn].", {"skarn"}) == "It is ."
    assert answer_text({"a": [1, None, "x [doc_1]"]}) == "- a: 1\n- a: x"
    assert answer_text(None) == ""
    assert answer_text(msgspec.json.decode("[]")) == ""
