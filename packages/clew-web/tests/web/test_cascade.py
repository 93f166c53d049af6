"""A source that fails takes no other with it, in a run, and what tools return is recorded plain."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from clew import Agent, Evidence, MemoryStore, Observation, Tool, read, run, tool
from clew.core.values import Json
from clew.testing.models import ScriptedModel, act, finish
from clew_web import (
    Answer,
    Hit,
    Query,
    Source,
    WebRequest,
    baidu,
    usual_sources,
    web_search,
    wikipedia,
)
from tests.web.site import Site, as_json, page
from tests.web.test_search import WIKI

CARD = """<html><body><div class="result-op c-container" mu="http://nourl.ubs.baidu.com/1">
 <h3><a href="http://www.baidu.com/link?url=def">工程师</a></h3><p>艾伦·史蒂文森 工程师</p></div>
</body></html>"""


async def searched(made: Tool, query: str = "skerryvore engineer") -> Observation:
    """What a run observed of one search."""
    store = MemoryStore()
    script = ScriptedModel([act(made.name, query=query), finish("Known.")])
    result = await run(Agent(model=script, tools=[made]), "Who?", store=store)
    (call, *_) = (await read(result.run_id, store=store)).calls
    assert call.observation is not None
    return call.observation


def titles(seen: Observation) -> list[str]:
    assert seen.ok, seen.content
    return [one["title"] for one in seen.content["results"]]


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_card_of_baidu_without_an_address_of_its_own_is_a_result(at_once: bool) -> None:
    with Site({"": page(CARD)}) as site:
        seen = await searched(web_search([baidu(site.url)], at_once=at_once), "灯塔 工程师")
    assert titles(seen) == ["工程师"]
    assert seen.evidence[0].source == "http://www.baidu.com/link?url=def"


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def raising(error: BaseException) -> Callable[[Answer], list[Hit]]:
    def answered(answer: Answer) -> list[Hit]:
        raise error

    return answered


NONE: Any = None
HIGH: Any = "high"
STRANGE: Any = object()
BAD: dict[str, Callable[[Answer], Any]] = {
    "raises": raising(ZeroDivisionError("none")),
    "raises what cannot be told": raising(OddError()),
    "exits": raising(SystemExit(3)),
    "gives no list": lambda answer: 3,
    "gives no hits": lambda answer: ["hit"],
    "a title that is none": lambda answer: [Hit(NONE, "https://a.example/", "x")],
    "a score that is none": lambda answer: [Hit("t", "https://a.example/", "x", HIGH)],
}


def own(url: str, read_it: Callable[[Answer], Any]) -> Source:
    def request(query: Query, key: str) -> WebRequest:
        return WebRequest(url)

    return Source("own", "my own", request, read_it)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", BAD)
async def test_a_source_that_breaks_takes_no_other_with_it(name: str, at_once: bool) -> None:
    with Site({"/a": as_json([]), "/b": as_json(WIKI)}) as site:
        sources = [own(f"{site.url}/a", BAD[name]), wikipedia(api=f"{site.url}/b")]
        seen = await searched(web_search(sources, at_once=at_once))
    assert "Skerryvore" in titles(seen)
    (failed,) = seen.content["failed"]
    assert failed["source"] == "own"
    assert "broken" in failed["why"] or "bad_answer" in failed["why"]


async def test_a_request_that_cannot_be_made_takes_no_other_with_it() -> None:
    def request(query: Query, key: str) -> WebRequest:
        raise RuntimeError("no request today")

    with Site({"": as_json(WIKI)}) as site:
        sources = [Source("own", "my own", request, lambda answer: []), wikipedia(api=site.url)]
        seen = await searched(web_search(sources))
    assert "Skerryvore" in titles(seen)
    assert "RuntimeError: no request today" in seen.content["failed"][0]["why"]


@pytest.mark.parametrize("at_once", [False, True])
async def test_halves_of_characters_in_a_result_spoil_nothing(at_once: bool) -> None:
    def halved(answer: Answer) -> list[Hit]:
        return [Hit("a \ud83d light", "https://a.example/\ud83d", "tall \udc00", float("nan"))]

    with Site({"/a": as_json([]), "/b": as_json(WIKI)}) as site:
        sources = [own(f"{site.url}/a", halved), wikipedia(api=f"{site.url}/b")]
        seen = await searched(web_search(sources, at_once=at_once))
    assert "a ? light" in titles(seen), seen.content


def test_baidu_is_asked_last_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERPER_API_KEY", "BRAVE_API_KEY", "TAVILY_API_KEY", "SEARXNG_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert [one.name for one in usual_sources()] == ["wiki", "baidu"]


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "otherwise"


class IntSubclass(int):
    pass


class Part(float):
    pass


class Row(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Raw(bytes):
    pass


class Word(StrEnum):
    YES = "yes"


SUBCLASSES: list[tuple[Any, Json]] = [
    (Text("text"), "text"),
    ({"a": Text("text"), "b": [IntSubclass(3), Part(0.5)]}, {"a": "text", "b": [3, 0.5]}),
    (Row([IntSubclass(1), Table(a=Part(1.5))]), [1, {"a": 1.5}]),
    (Raw(b"abc"), "YWJj"),
    (Word.YES, "yes"),
    (Observation(content=Text("text")), "text"),
]


@pytest.mark.parametrize(("value", "recorded"), SUBCLASSES, ids=repr)
async def test_a_subclass_is_recorded_as_what_it_is_a_kind_of(value: Any, recorded: Json) -> None:
    @tool(effect="read")
    def give(query: str) -> Any:
        """Give it."""
        return value

    seen = await searched(give)
    assert seen.ok, seen.content
    assert seen.content == recorded


async def test_evidence_of_such_texts_is_recorded_plain() -> None:
    piece = Evidence(Text("d_1"), Text("tall"), Part(0.5), Text("https://a.example/"))

    @tool(effect="read")
    def give(query: str) -> Observation:
        """Give it."""
        return Observation(content="seen", evidence=(piece,))

    seen = await searched(give)
    assert seen.ok, seen.content
    assert seen.evidence == (Evidence("d_1", "tall", 0.5, "https://a.example/"),)


@pytest.mark.parametrize(
    "evidence",
    ["none", (3,), (Evidence("d", "t", 0.5, STRANGE),)],
    ids=["text", "number", "strange"],
)
async def test_evidence_that_is_none_is_told(evidence: Any) -> None:
    @tool(effect="read")
    def give(query: str) -> Observation:
        """Give it."""
        return Observation(content="seen", evidence=evidence)

    seen = await searched(give)
    assert (seen.ok, seen.code) == (False, "bad_output")
