from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, MemoryStore, fork, read, resume, run
from clew.core.contents import Observation
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel, act, finish, say
from clew.tools import tool
from clew_web import Article, KeepPlace, Reach, WebToolError, paper_tools
from clew_web.paper import sentences
from tests.web.site import Site, SiteAnswer, Was, as_json

NOTES = {
    "Skerryvore": [
        "Skerryvore is a skerry off Tiree. ",
        "Its lighthouse was built by Dr. Alan Stevenson.",
        "The lighthouse is 48.5 metres tall!",
        "Mr. Tomison kept the lighthouse.",
    ],
    "Tiree": "Tiree is an island.\n\n== Life ==\nIt has no lighthouse. It has sheep.",
}


async def called(name: str, **args: Json) -> Observation:
    (tool,) = (one for one in paper_tools(NOTES) if one.name == name)
    seen = await tool.call(args, "run:1.1")
    assert isinstance(seen, Observation)
    return seen


# ---------------------------------------------------------------- over given texts


async def test_search_gives_the_first_paragraph() -> None:
    seen = await called("search", entity="tiree")
    (result,) = seen.content["results"]
    assert (result["title"], result["snippet"], result["score"]) == (
        "Tiree",
        "Tiree is an island.",
        1.0,
    )
    (piece,) = seen.evidence
    assert (piece.doc_id, piece.text) == (result["doc_id"], result["snippet"])
    assert piece.doc_id.startswith("text_")


async def test_search_gives_similar_titles_where_there_is_none() -> None:
    seen = await called("search", entity="Skerivore lighthouse")
    assert (seen.content["results"], seen.content["similar"]) == ([], ["Skerryvore", "Tiree"])
    assert "search one of the similar names" in seen.content["note"]
    seen = await called("search", entity="Xyzzy")
    assert seen.content["similar"] == []
    assert "search another name" in seen.content["note"]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [(1, "Its lighthouse was built by Dr. Alan Stevenson."),
     (2, "The lighthouse is 48.5 metres tall!"),
     (3, "Mr. Tomison kept the lighthouse.")],
)  # fmt: skip
async def test_lookup_gives_a_sentence(number: int, sentence: str) -> None:
    seen = await called("lookup", title="Skerryvore", word="LIGHThouse", number=number)
    assert (seen.content["number"], seen.content["of"]) == (number, 3)
    (piece,) = seen.evidence
    text = " ".join(part.strip() for part in NOTES["Skerryvore"])
    assert (piece.text, text[piece.offset :].startswith(sentence)) == (sentence, True)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"title": "Skerryvore", "word": "lighthouse", "number": 4}, "no more sentences have"),
        ({"title": "Skerryvore", "word": "sheep"}, "no sentence of 'Skerryvore' has 'sheep'"),
        ({"title": "Nowhere", "word": "sheep"}, "there is no article 'Nowhere'"),
    ],
)
async def test_lookup_says_what_is_not_there(args: dict[str, Json], says: str) -> None:
    seen = await called("lookup", **args)
    assert seen.content["results"] == []
    assert says in seen.content["note"]


async def test_lookup_needs_to_know_where() -> None:
    with pytest.raises(WebToolError, match="Search an entity first"):
        await called("lookup", word="sheep")
    with pytest.raises(WebToolError, match="no word"):
        await called("search", entity="?")


def test_there_must_be_something_to_search() -> None:
    with pytest.raises(ConfigError, match="nothing to search"):
        paper_tools({})


async def test_a_function_of_ones_own_finds_articles() -> None:
    async def find(title: str) -> Article | tuple[str, ...]:
        return Article(title, "https://a.example/", f"{title} is it.") if title == "A" else ("A",)

    search, _ = paper_tools(find)
    seen = await search.call({"entity": "A"}, "")
    assert seen.evidence[0].source == "https://a.example/"
    assert (await search.call({"entity": "B"}, "")).content["similar"] == ["A"]


# ---------------------------------------------------------------- the place that is kept


@tool(effect="pure", inline=True)
def other() -> dict[str, int]:
    """Do something else."""
    return {"results": 1}


def agent(*script: Any) -> Agent:
    return Agent(
        model=ScriptedModel([*script]),
        tools=[*paper_tools(NOTES), other],
        guards=[KeepPlace()],
    )


SCRIPT = [
    act("lookup", word="lighthouse"),
    act("search", entity="Nowhere"),
    act("search", entity="Skerryvore"),
    act("lookup", word="lighthouse"),
    act("other"),
    act("lookup", word="Lighthouse"),
    act("search", entity="Tiree"),
    act("lookup", word="lighthouse"),
    act("lookup", word="lighthouse", title="Skerryvore"),
    act("lookup", word="lighthouse", title="Skerryvore", number=3),
    act("lookup", word="sheep"),
    act("lookup", word="sheep"),
    finish("done"),
]


def texts_in(record: Any) -> list[str]:
    texts: list[str] = []
    for call in record.calls:
        if call.action.name == "lookup":
            content = call.observation.content
            first = content if isinstance(content, str) else content["results"]
            texts.append(first[0]["snippet"] if isinstance(first, list) and first else "-")
    return texts


WANTED = [
    "-",
    "Its lighthouse was built by Dr. Alan Stevenson.",
    "The lighthouse is 48.5 metres tall!",
    "It has no lighthouse.",
    "Its lighthouse was built by Dr. Alan Stevenson.",
    "Mr. Tomison kept the lighthouse.",
    "It has sheep.",
    "-",
]


async def test_lookup_goes_on_where_the_record_says() -> None:
    store = MemoryStore()
    result = await run(agent(*SCRIPT), "?", store=store)
    record = await read(result.run_id, store=store)
    assert texts_in(record) == WANTED
    assert record.calls[3].args == {"word": "lighthouse", "title": "Skerryvore", "number": 1}


async def test_a_fork_goes_on_at_the_right_sentence() -> None:
    store = MemoryStore()
    result = await run(agent(*SCRIPT), "?", store=store)
    script = [*SCRIPT[:5], act("lookup", word="lighthouse"), finish("done")]
    forked = await fork(agent(*script), result.run_id, at=5, store=store)
    record = await read(forked.run_id, store=store)
    assert texts_in(record)[-1] == "The lighthouse is 48.5 metres tall!"


async def test_a_resumed_run_goes_on_at_the_right_sentence() -> None:
    store = MemoryStore()
    script = [SCRIPT[2], SCRIPT[3], say("wait")]
    first = await run(agent(*script), "?", store=store)
    script += [act("lookup", word="lighthouse"), finish("done")]
    await resume(agent(*script), first.run_id, say="go on", store=store)
    record = await read(first.run_id, store=store)
    assert texts_in(record)[-1] == "The lighthouse is 48.5 metres tall!"


async def test_the_papers_own_format_needs_one_argument_only() -> None:
    lines = [
        "Thought 1: I search.\nAction 1: search[Skerryvore]",
        "Thought 2: I look.\nAction 2: lookup[lighthouse]",
        "Thought 3: And on.\nAction 3: lookup[lighthouse]",
        "Thought 4: I know.\nAction 4: Finish[48.5 metres]",
    ]
    model = ScriptedModel([say(line) for line in lines])
    asked = Agent(model=model, tools=paper_tools(NOTES), guards=[KeepPlace()], codec="paper")
    store = MemoryStore()
    result = await run(asked, "How tall is it?", store=store)
    record = await read(result.run_id, store=store)
    assert (result.answer, texts_in(record)) == ("48.5 metres", WANTED[1:3])


# ---------------------------------------------------------------- over a wiki


PAGES = {
    "Skerryvore": {
        "title": "Skerryvore",
        "fullurl": "https://en.wikipedia.org/wiki/Skerryvore",
        "extract": "Skerryvore is a skerry. It is remote.\n\n\n== Tower ==\nIt is tall.",
    },
    "Light": {
        "title": "Light",
        "fullurl": "https://en.wikipedia.org/wiki/Light",
        "pageprops": {"disambiguation": ""},
        "extract": "Light may be:",
    },
    "Stub": {"title": "Stub", "fullurl": "https://en.wikipedia.org/wiki/Stub"},
}


def wiki(was: Was) -> SiteAnswer:
    if was.query.get("list") == "search":
        rows = [{"ns": 0, "title": "Skerryvore"}, {"ns": 0, "title": "Dubh Artach"}]
        return as_json({"batchcomplete": True, "query": {"search": rows}})
    title = was.query["titles"]
    page = PAGES.get(title, {"title": title, "missing": True})
    if title == "A|B":
        page = {"title": title, "invalid": True}
    return as_json({"batchcomplete": True, "query": {"pages": [page]}})


async def test_a_wiki_is_searched_as_it_is_now() -> None:
    with Site({"/de": wiki}) as site:
        search, lookup = paper_tools(
            language="de", api=f"{site.url}/{{language}}", reach=Reach(allow=(site.host,))
        )
        seen = await search.call({"entity": "Skerryvore"}, "")
        assert seen.content["results"][0]["snippet"] == "Skerryvore is a skerry. It is remote."
        assert seen.evidence[0].doc_id.startswith("wiki_")
        for title in ("Nowhere", "Light", "Stub", "A|B"):
            seen = await search.call({"entity": title}, "")
            assert seen.content["similar"] == ["Skerryvore", "Dubh Artach"]
        seen = await lookup.call({"title": "Skerryvore", "word": "tall"}, "")
        assert (seen.content["results"][0]["snippet"], seen.content["of"]) == ("It is tall.", 1)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (as_json({}), "bad_answer"),
        (as_json([1]), "bad_answer"),
        (as_json({}, 404), "not_found"),
        (as_json({"error": {"code": "internal_api_error", "info": ""}}), "refused"),
    ],
)
async def test_a_wiki_that_is_none_is_told(answer: SiteAnswer, kind: str) -> None:
    with Site({"/": answer}) as site:
        search, _ = paper_tools(api=site.url, reach=Reach(allow=(site.host,)))
        with pytest.raises(WebToolError) as caught:
            await search.call({"entity": "Skerryvore"}, "")
    assert caught.value.kind == kind


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. A met J. R. B in St. Ives. He left", ["Dr. A met J. R. B in St. Ives.", "He left"]),
        ("It is 3.5 m. Then it grew.", ["It is 3.5 m.", "Then it grew."]),
        ("He said “No.” She left.", ["He said “No.”", "She left."]),
        ("e.g. this. and this", ["e.g. this. and this"]),
        ("一。二！三", ["一。", "二！", "三"]),
        ("== Head ==\nOne\nTwo. ", ["One", "Two."]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_end_where_they_do(text: str, texts: list[str]) -> None:
    assert [sentence for _, sentence in sentences(text)] == texts


@pytest.mark.parametrize("text", ["." * 300_000, "A. " * 100_000, "Mr. " * 80_000, "x. Y" * 80_000])
def test_sentences_take_time_by_their_length(text: str) -> None:
    """Squared, each of these would take minutes."""
    assert sum(len(sentence) for _, sentence in sentences(text)) <= len(text)


@given(st.text(alphabet="Ab. !?\n。=”1", max_size=80))
def test_sentences_are_what_stands_at_their_offsets(text: str) -> None:
    for offset, sentence in sentences(text):
        assert text[offset : offset + len(sentence)] == sentence
