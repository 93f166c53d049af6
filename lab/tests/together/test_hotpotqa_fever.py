"""HotpotQA and FEVER: their own file formats, the paper's tools over paragraphs or a wiki."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, read, resume, run
from clew.stores import store_at
from clew.support.errors import ConfigError, ModelError
from clew.testing.models import ScriptedModel, act, finish, say
from clew_evals.environments import world
from clew_evals.scoring import ScoreInput, score
from clew_evals.texts import em, f1
from clew_evals.world import World
from tests.web.site import Site, SiteAnswer, Was, as_json

FERRY: dict[str, Any] = {
    "_id": "f1",
    "question": "In which country was the builder of the ferry Lome born?",
    "answer": "Norway",
    "type": "bridge",
    "level": "medium",
    "supporting_facts": [["Lome (ferry)", 1], ["Ada Holm", 0]],
    "context": [
        ["Lome (ferry)", ["Lome is a ferry on a lake.", " It was built by Ada Holm."]],
        ["Ada Holm", ["Ada Holm was born in Norway.", " She built boats.", " She built a mill."]],
        ["Mill", ["A mill grinds."]],
    ],
}
BRIDGES = {
    "_id": "b1",
    "question": "Which is longer, the Old Bridge or the New Bridge?",
    "answer": "the New Bridge",
    "type": "comparison",
    "level": "hard",
    "context": [["Old Bridge", ["It is 40 m long."]], ["New Bridge", ["It is 50 m long."]]],
}
CLAIM = {
    "id": 75397,
    "verifiable": "VERIFIABLE",
    "label": "REFUTES",
    "claim": "Ada Holm was born in Chile.",
    "evidence": [[[92206, 104971, "Ada_Holm", 0]], [[92206, 104972, "Norway", 3]]],
    "context": [["Ada Holm", ["Ada Holm was born in Norway."]]],
}
UNKNOWN = {
    "id": 2,
    "verifiable": "NOT VERIFIABLE",
    "label": "NOT ENOUGH INFO",
    "claim": "Ada Holm liked tea.",
    "evidence": [[[1, None, None, None]]],
}


def questions(folder: Path, *entries: object) -> Path:
    path = folder / "hotpot.json"
    path.write_text(json.dumps(entries, indent=1), "utf-8")
    return path


def claims(folder: Path, *lines: object) -> Path:
    path = folder / "fever.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return path


async def answered(
    there: World, index: int, *script: Any, store: Any, codec: str = "native"
) -> Any:
    """A case of a world, answered as an evaluation would."""
    case = there.cases[index]
    async with there.open(case) as episode:
        agent = Agent(
            model=ScriptedModel([*script]),
            tools=episode.tools,
            guards=episode.guards,
            codec=codec,
        )
        result = await run(agent, case.question, store=store, run_id=f"r{index}")
        record = await read(f"r{index}", store=store)
        assert await episode.reward(record) is None
    seen = ScoreInput(case, result.status, result.answer, [record])
    (mark,) = await score(seen)
    return record, mark


def test_questions_become_cases(tmp_path: Path) -> None:
    there = world("hotpotqa", questions(tmp_path, FERRY, BRIDGES))
    first, second = there.cases
    assert (first.id, first.category, first.gold) == ("f1", "bridge/medium", {"em": "Norway"})
    assert first.question.startswith(FERRY["question"])
    assert list(second.extra["context"]) == ["Old Bridge", "New Bridge"]
    (only,) = world("hotpotqa", questions(tmp_path, FERRY, BRIDGES), take=1, ask="").cases
    assert only.question == FERRY["question"]


async def test_paragraphs_are_searched_in_the_papers_format(tmp_path: Path) -> None:
    there = world("hotpotqa", questions(tmp_path, FERRY, BRIDGES))
    script = [
        say("Thought 1: The ferry first.\nAction 1: search[Lome (ferry)]"),
        say("Thought 2: And its builder.\nAction 2: search[Ada Holm]"),
        say("Thought 3: Did she build?\nAction 3: lookup[built]"),
        say("Thought 4: And what else?\nAction 4: lookup[built]"),
        say("Thought 5: Norway.\nAction 5: Finish[Norway.]"),
    ]
    async with store_at(tmp_path / "runs.db") as store:
        record, mark = await answered(there, 0, *script, store=store, codec="paper")
        assert (mark.scorer, mark.passed) == ("em", True)
        texts = [call.observation.evidence[0].text for call in record.calls[:4]]
        assert texts[1].startswith("Ada Holm was born in Norway.")
        assert texts[2:] == ["She built boats.", "She built a mill."]
        assert record.calls[3].args["number"] == 2
        # no other case's paragraphs are there
        script = [act("search", entity="Ada Holm"), finish("New Bridge, by 10 m")]
        record, mark = await answered(there, 1, *script, store=store)
        assert record.calls[0].observation.content["results"] == []
    answer = "New Bridge, by 10 m"
    assert (mark.passed, em(answer, "the New Bridge")) == (False, 0.0)
    assert f1(answer, "the New Bridge") == pytest.approx(4 / 7)


async def test_a_run_that_was_cut_goes_on_in_a_new_episode(tmp_path: Path) -> None:
    there = world("hotpotqa", questions(tmp_path, FERRY))
    script = [act("search", entity="Ada Holm"), act("lookup", word="built")]
    later = [*script, act("lookup", word="built"), finish("Norway")]
    async with store_at(tmp_path / "runs.db") as store:
        with pytest.raises(ModelError, match="script is over"):
            await answered(there, 0, *script, store=store)
        async with there.open(there.cases[0]) as episode:
            await episode.catch_up(await read("r0", store=store))
            agent = Agent(model=ScriptedModel(later), tools=episode.tools, guards=episode.guards)
            assert (await resume(agent, "r0", store=store)).answer == "Norway"
        last = (await read("r0", store=store)).calls[2]
    assert last.observation is not None
    assert last.observation.evidence[0].text == "She built a mill."


def wiki(was: Was) -> SiteAnswer:
    if was.query.get("list") == "search":
        return as_json({"batchcomplete": True, "query": {"search": [{"title": "Ada Holm"}]}})
    title = was.query["titles"]
    known = {"title": title, "fullurl": f"https://w.example/{title}", "extract": "Born in Norway."}
    page = known if title == "Ada Holm" else {"title": title, "missing": True}
    return as_json({"batchcomplete": True, "query": {"pages": [page]}})


async def test_wikipedia_is_searched_where_there_are_no_paragraphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"/api.php": wiki}) as site:
        monkeypatch.setenv("CLEW_WEB_HOSTS", site.host)
        api = f"{site.url}/api.php"
        there = world("hotpotqa", questions(tmp_path, FERRY), paragraphs=False, api=api)
        assert (there.name, there.cases[0].extra) == ("hotpotqa over Wikipedia", {})
        script = [act("search", entity="A. Holm"), act("search", entity="Ada Holm")]
        async with store_at(tmp_path / "runs.db") as store:
            record, mark = await answered(there, 0, *script, finish("Norway"), store=store)
            assert mark.passed
            assert record.calls[0].observation.content["similar"] == ["Ada Holm"]
            assert record.calls[1].observation.evidence[0].source == "https://w.example/Ada Holm"
        there = world("fever", claims(tmp_path, UNKNOWN), api=api)
        async with store_at(tmp_path / "claims.db") as store:
            script = [act("search", entity="Ada Holm"), finish("Not enough info.")]
            assert (await answered(there, 0, *script, store=store))[1].passed


async def test_claims_are_labelled(tmp_path: Path) -> None:
    there = world("fever", claims(tmp_path, CLAIM, UNKNOWN))
    first, second = there.cases
    assert (first.id, first.category, first.gold) == ("75397", "REFUTES", {"em": "REFUTES"})
    assert first.question.endswith("Claim: Ada Holm was born in Chile.")
    assert first.extra["evidence"] == ["Ada_Holm", "Norway"]
    assert (second.category, "context" in second.extra) == ("NOT ENOUGH INFO", False)
    script = [act("search", entity="Ada Holm"), finish("REFUTES")]
    async with store_at(tmp_path / "runs.db") as store:
        record, mark = await answered(there, 0, *script, store=store)
    assert (record.evidence[0].text, mark.passed) == ("Ada Holm was born in Norway.", True)


HOTPOT_WRONG = [
    ({**FERRY, "answer": None}, "entry 2: it has no answer (those of the test set are secret)"),
    ({**FERRY, "question": " "}, "entry 2: it has no question"),
    ({**FERRY, "_id": "b1"}, "entry 2: the id 'b1' is there twice"),
    ({**FERRY, "context": []}, "entry 2: it has no context: say paragraphs = false"),
    ({**FERRY, "context": [["Ada"]]}, "entry 2: Expected `array` of length 2"),
    ({"question": "?"}, "entry 2: Object missing required field `_id`"),
    (7, "entry 2: Expected `object`, got `int`"),
]


@pytest.mark.parametrize(("entry", "why"), HOTPOT_WRONG, ids=[why[:40] for _, why in HOTPOT_WRONG])
def test_a_bad_question_is_named(tmp_path: Path, entry: object, why: str) -> None:
    path = questions(tmp_path, BRIDGES, entry)
    with pytest.raises(ConfigError) as caught:
        world("hotpotqa", path)
    assert str(caught.value).startswith(f"{path}: {why}")


FEVER_WRONG = [
    ({**CLAIM, "label": "TRUE"}, "2: its label is 'TRUE'; to be scored it must be one of SUPPORTS"),
    ({**CLAIM, "label": None}, "2: it has no label, as in the test set"),
    ({**CLAIM, "claim": ""}, "2: it has no claim"),
    (
        {**CLAIM, "verifiable": "NOT VERIFIABLE"},
        "2: its label is REFUTES, but it is said to be NOT",
    ),
    ({**CLAIM, "verifiable": "NO"}, "2: Invalid enum value 'NO'"),
    ({**CLAIM, "id": 2}, "2: the id '2' is there twice"),
    ({**CLAIM, "evidence": [["Ada"]]}, "2: Expected `array`"),
]


@pytest.mark.parametrize(("line", "why"), FEVER_WRONG, ids=[why[:40] for _, why in FEVER_WRONG])
def test_a_bad_claim_is_named(tmp_path: Path, line: object, why: str) -> None:
    path = claims(tmp_path, UNKNOWN, line)
    with pytest.raises(ConfigError) as caught:
        world("fever", path)
    assert str(caught.value).startswith(f"{path}:{why}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"_id": "a"},\n {"_id": ]', "{path}:2: JSON is malformed"),
        ('{"_id": "a",', "{path}:1: Input data was truncated"),
        ("", "{path}: there is nothing in it"),
        ("[]", "{path}: there is nothing in it"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        world("hotpotqa", path)
    assert str(caught.value).startswith(why.format(path=path))
    with pytest.raises(ConfigError, match=r"none\.json: cannot be read: No such file"):
        world("hotpotqa", tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("hotpot", {}, "there is no world 'hotpot'; choose one of hotpotqa, fever"),
        ("hotpotqa", {"paragraph": False}, "unknown field `paragraph`; its options are paragraphs"),
        ("hotpotqa", {"paragraphs": "no"}, "Expected `bool`, got `str` - at `$.paragraphs`"),
        ("hotpotqa", {"take": -1}, "take is -1"),
    ],
)
def test_a_wrong_name_or_option_is_told(
    tmp_path: Path, name: str, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        world(name, questions(tmp_path, FERRY), **options)
    assert why in str(caught.value)


OWN = """
from pathlib import Path
from clew_evals.case import Case
from clew_evals.world import World

def mine(path, *, words="Who?"):
    return World("mine", [Case(Path(path).name, words, "me")])

def other(path):
    return 7
"""


def test_a_world_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ownworld.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    there = world("ownworld:mine", tmp_path / "a.txt", words="What?")
    assert [(case.id, case.question) for case in there.cases] == [("a.txt", "What?")]
    for name, options, why in (
        ("ownworld:mine", {"word": 1}, "unexpected keyword argument 'word'"),
        ("ownworld:other", {}, "it gives a int and no World"),
        ("ownworld:none", {}, "cannot be imported"),
    ):
        with pytest.raises(ConfigError, match=why):
            world(name, "a", **options)
