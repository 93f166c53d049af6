import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, MemoryStore, run
from clew.core.contents import Observation
from clew.core.tools import Tool
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel, act, finish
from clew.tools.schema import problems
from clew_web import (
    Answer,
    Hit,
    Kind,
    Query,
    Reach,
    Source,
    WebRequest,
    WebToolError,
    baidu,
    brave,
    search_tool,
    searxng,
    serper,
    tavily,
    usual_sources,
    web_search,
    wikipedia,
)
from clew_web.host_limits import share
from clew_web.results import LONGEST, doc_id, pieces, plain, same_page, shortened
from clew_web.source import parse_answer
from tests.web.site import Site, SiteAnswer, as_json, page

KEYS = {
    "SERPER_API_KEY": "serper-secret",
    "BRAVE_API_KEY": "brave-secret",
    "TAVILY_API_KEY": "tavily-secret",
}

# What the services answer, in the form that each documents.
SERPER = {
    "searchParameters": {"q": "skerryvore engineer", "type": "search", "engine": "google"},
    "answerBox": {
        "title": "Skerryvore engineer",
        "answer": "Alan Stevenson",
        "link": "https://lights.example/skerryvore",
    },
    "knowledgeGraph": {
        "title": "Skerryvore",
        "type": "Lighthouse",
        "description": "Skerryvore is a skerry off Tiree.",
        "descriptionSource": "Wikipedia",
        "descriptionLink": "https://en.wikipedia.org/wiki/Skerryvore",
        "attributes": {"Height": "48 m"},
    },
    "organic": [
        {
            "title": "The engineer of Skerryvore",
            "link": "https://www.lights.example/skerryvore/",
            "snippet": "The same page as above.",
            "position": 1,
        },
        {
            "title": "Tiree",
            "link": "https://tiree.example/",
            "snippet": "An island.",
            "position": 2,
        },
    ],
    "credits": 1,
}
BRAVE = {
    "type": "search",
    "query": {"original": "skerryvore", "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {
                "type": "search_result",
                "title": "Skerryvore &amp; more",
                "url": "https://a.example/s?utm_source=x",
                "description": "A <strong>lighthouse</strong> of 1844.",
                "extra_snippets": ["more"],
            }
        ],
    },
}
TAVILY = {
    "query": "skerryvore",
    "answer": None,
    "images": [],
    "results": [
        {"title": "A", "url": "https://a.example/", "content": "It is tall.", "score": 0.91},
        {"title": "B", "url": "https://b.example/", "content": "Skerryvore.", "score": 1.7},
    ],
    "response_time": 0.4,
}
SEARX = {
    "query": "skerryvore",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://a.example/",
            "title": "Skerryvore",
            "content": None,
            "engine": "bing",
            "engines": ["bing", "brave"],
            "score": 4.0,
        }
    ],
    "answers": [],
    "unresponsive_engines": [["google", "timeout"]],
}
WIKI = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {
                "pageid": 2,
                "ns": 0,
                "title": "Tiree",
                "index": 2,
                "fullurl": "https://en.wikipedia.org/wiki/Tiree",
                "extract": "Tiree is an island.",
            },
            {"pageid": 3, "ns": 0, "title": "Gone", "index": 3, "missing": True},
            {
                "pageid": 1,
                "ns": 0,
                "title": "Skerryvore",
                "index": 1,
                "fullurl": "https://en.wikipedia.org/wiki/Skerryvore",
                "extract": "Skerryvore is a remote island.\nIts engineer was Alan Stevenson.\n",
            },
        ]
    },
}
BAIDU = """<!DOCTYPE html><html><head><title>灯塔_百度搜索</title></head><body>
<div id="content_left"><div class="result c-container xpath-log new-pmd" id="1" mu="https://a.example/light">
 <h3 class="c-title t t tts-title"><a href="http://www.baidu.com/link?url=abc"><em>灯塔</em>的历史</a></h3>
 <div><span class="content-right_8Zs40">灯塔建于<em>1844</em>年。</span></div></div>
<div class="result-op c-container" mu="http://nourl.ubs.baidu.com/1">
 <h3><a href="http://www.baidu.com/link?url=def">工程师</a></h3><p>艾伦·史蒂文森 工程师</p></div>
<div class="c-container" data-tuiguang="1"><h3><a href="http://ad.example">买灯</a></h3></div>
<div class="result c-container"><h3></h3></div>
</div></body></html>"""
CAPTCHA = "<html><head><title>百度安全验证</title></head><body>网络不给力</body></html>"
NONE = "<html><body><div class='nors'>很抱歉，没有找到与“xyzzy”相关的网页。</div></body></html>"

Make = Callable[[str], Source]
SOURCES: dict[str, tuple[Make, Any]] = {
    "serper": (serper, SERPER),
    "brave": (brave, BRAVE),
    "tavily": (tavily, TAVILY),
    "searxng": (searxng, SEARX),
    "wiki": (lambda url: wikipedia(api=url), WIKI),
    "baidu": (baidu, BAIDU),
}
PATHS = {"searxng": "/search"}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


def good(name: str) -> SiteAnswer:
    body = SOURCES[name][1]
    return page(body) if isinstance(body, str) else as_json(body)


def at(name: str, site: Site) -> Source:
    return SOURCES[name][0](site.url)


def path(name: str) -> str:
    return PATHS.get(name, "")


async def searched(tool: Tool, query: str = "skerryvore engineer", **more: Any) -> Observation:
    args = {"query": query, **more}
    assert problems(tool.parameters, args) == []
    seen = await tool.call(args, "run:1.1")
    assert isinstance(seen, Observation)
    assert (seen.effect, seen.trust, tool.effect, tool.trust) == ("read", "untrusted") * 2
    results = seen.content["results"]
    for result, piece in zip(results, seen.evidence, strict=True):
        assert set(result) == {"doc_id", "score", "title", "snippet", "url"}
        assert 0 <= result["score"] <= 1
        assert (piece.doc_id, piece.text, piece.score, piece.source) == (
            result["doc_id"],
            result["snippet"],
            result["score"],
            result["url"],
        )
    assert not any(key in json.dumps(seen.content) for key in KEYS.values())
    return seen


async def refuses(tool: Tool, kind: Kind, *says: str, query: str = "skerryvore") -> None:
    with pytest.raises(WebToolError) as caught:
        await tool.call({"query": query}, "")
    assert str(caught.value).startswith(f"{kind}: ")
    assert [text for text in says if text not in str(caught.value)] == []
    assert not any(key in str(caught.value) for key in KEYS.values())


# ---------------------------------------------------------------- each source


async def test_serper_gives_google_results_with_its_answers_first() -> None:
    with Site({"": as_json(SERPER)}) as site:
        seen = await searched(search_tool(serper(site.url)), limit=3, language="de")
    (was,) = site.asked
    assert was.json == {"q": "skerryvore engineer", "num": 3, "hl": "de"}
    assert was.headers["x-api-key"] == "serper-secret"
    results = seen.content["results"]
    assert [result["url"] for result in results] == [
        "https://lights.example/skerryvore",
        "https://en.wikipedia.org/wiki/Skerryvore",
        "https://tiree.example/",
    ]
    assert results[0]["snippet"] == "Alan Stevenson"
    assert [result["score"] for result in results] == [1.0, 0.5, 0.0]
    assert {result["doc_id"].partition("_")[0] for result in results} == {"serp"}
    assert seen.content["note"].startswith(f"below 0.5 and so weak: {results[2]['doc_id']}.")


async def test_brave_gives_text_without_markup() -> None:
    with Site({"": as_json(BRAVE)}) as site:
        seen = await searched(search_tool(brave(site.url)), "lighthouse skerryvore")
    (was,) = site.asked
    assert was.headers["x-subscription-token"] == "brave-secret"
    assert was.query == {"q": "lighthouse skerryvore", "count": "5", "text_decorations": "false"}
    (result,) = seen.content["results"]
    assert (result["title"], result["snippet"], result["score"]) == (
        "Skerryvore & more",
        "A lighthouse of 1844.",
        1.0,
    )


async def test_tavily_has_scores_of_its_own() -> None:
    with Site({"": as_json(TAVILY)}) as site:
        seen = await searched(search_tool(tavily(site.url)))
    assert site.asked[0].headers["authorization"] == "Bearer tavily-secret"
    assert site.asked[0].json == {"query": "skerryvore engineer", "max_results": 5}
    assert [result["score"] for result in seen.content["results"]] == [0.91, 1.0]


async def test_searxng_is_found_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = search_tool(searxng())
    await refuses(tool, "no_key", "SEARXNG_BASE_URL")
    with Site({"/s/search": as_json(SEARX)}) as site:
        monkeypatch.setenv("SEARXNG_BASE_URL", f"{site.url}/s/")
        seen = await searched(tool, language="de")
    assert site.asked[0].query == {"q": "skerryvore engineer", "format": "json", "language": "de"}
    (result,) = seen.content["results"]
    assert (result["title"], result["snippet"], result["score"]) == ("Skerryvore", "", 0.5)


async def test_wikipedia_gives_beginnings_of_articles_in_its_order() -> None:
    with Site({"/de/api.php": as_json(WIKI)}) as site:
        tool = search_tool(wikipedia(api=f"{site.url}/{{language}}/api.php"))
        seen = await searched(tool, language="de", limit=2)
    (was,) = site.asked
    assert (was.query["gsrsearch"], was.query["gsrlimit"]) == ("skerryvore engineer", "2")
    assert was.headers["user-agent"].startswith("clew (")
    assert [(one["title"], one["score"]) for one in seen.content["results"]] == [
        ("Skerryvore", 1.0),
        ("Tiree", 0.0),
    ]
    assert seen.evidence[0].text.endswith("Alan Stevenson.")


async def test_baidu_is_read_from_its_page() -> None:
    with Site({"": page(BAIDU)}) as site:
        seen = await searched(search_tool(baidu(site.url)), "灯塔 工程师")
    assert (site.asked[0].query["wd"], site.asked[0].query["rn"]) == ("灯塔 工程师", "10")
    assert [(one["title"], one["snippet"], one["url"]) for one in seen.content["results"]] == [
        ("灯塔的历史", "灯塔建于1844年。", "https://a.example/light"),
        ("工程师", "艾伦·史蒂文森 工程师", "http://www.baidu.com/link?url=def"),
    ]
    assert [one["score"] for one in seen.content["results"]] == [0.333, 0.667]


# ---------------------------------------------------------------- what can go wrong


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (SiteAnswer(b"slow down", status=429, headers={"retry-after": "99"}), "busy", "pause (99)"),
        (
            SiteAnswer(b"oh", status=500, headers={"retry-after": "99"}),
            "unreachable",
            "fails (500)",
        ),
        (SiteAnswer(b"", status=404), "not_found", "no such page"),
        (SiteAnswer(b"x", "image/png"), "not_readable", "image/png"),
        (None, "timeout", "did not answer in 0.3 s"),
    ],
    ids=["429", "500", "404", "a picture", "silence"],
)
async def test_every_source_says_what_is_wrong(
    name: str, answer: SiteAnswer | None, kind: Kind, says: str
) -> None:
    with Site({path(name): answer}) as site:
        tool = search_tool(at(name, site), Reach(seconds=0.3 if answer is None else 20))
        await refuses(tool, kind, says)
    assert len(site.asked) == 1


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "baidu"])
@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b"null", b'{"results": 1, "query": 2, "organic": 3}']
)
async def test_malformed_bodies_are_no_results(name: str, body: bytes) -> None:
    with Site({path(name): SiteAnswer(body, "application/json")}) as site:
        await refuses(search_tool(at(name, site)), "bad_answer")


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("serper", as_json({"searchParameters": {}, "organic": []})),
        ("brave", as_json({"type": "search", "mixed": {}})),
        ("tavily", as_json({"results": []})),
        ("searxng", as_json({"results": [], "unresponsive_engines": []})),
        ("wiki", as_json({"batchcomplete": True})),
        ("baidu", page(NONE)),
    ],
)
async def test_nothing_found_says_what_to_try(name: str, empty: SiteAnswer) -> None:
    with Site({path(name): empty}) as site:
        seen = await searched(search_tool(at(name, site)))
    assert seen.content["results"] == []
    assert seen.content["note"].startswith("nothing found: try")


@pytest.mark.parametrize(
    ("name", "answer", "kind", "says"),
    [
        (
            "serper",
            as_json({"message": "Unauthorized.", "statusCode": 403}, 403),
            "wrong_key",
            "SERPER_API_KEY",
        ),
        (
            "serper",
            as_json({"message": "Not enough credits", "statusCode": 400}, 400),
            "quota",
            "used up",
        ),
        ("serper", as_json({"message": "Missing query", "statusCode": 400}, 400), "bad_answer", ""),
        (
            "brave",
            as_json(
                {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, 422
            ),
            "wrong_key",
            "BRAVE_API_KEY",
        ),
        ("brave", as_json({"error": {"code": "VALIDATION"}}, 422), "bad_answer", "422"),
        (
            "brave",
            as_json(
                {"error": {"code": "RATE_LIMITED"}},
                429,
                retry_after="99",
                x_ratelimit_limit="1, 2000",
                x_ratelimit_remaining="1, 0",
            ),
            "quota",
            "used up",
        ),
        (
            "brave",
            as_json(
                {"error": {"code": "RATE_LIMITED"}},
                429,
                retry_after="99",
                x_ratelimit_limit="50, 0",
                x_ratelimit_remaining="0, 0",
            ),
            "busy",
            "too often",
        ),
        ("brave", as_json({}, 402), "quota", "used up"),
        (
            "tavily",
            as_json({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401),
            "wrong_key",
            "TAVILY_API_KEY",
        ),
        ("tavily", as_json({"detail": {"error": "exceeds your plan"}}, 432), "quota", "used up"),
        ("searxng", page("Forbidden", 403), "refused", "settings.yml"),
        (
            "searxng",
            as_json({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}),
            "unreachable",
            "none of the engines",
        ),
        (
            "wiki",
            as_json({"error": {"code": "ratelimited", "info": "Slow down."}}),
            "busy",
            "too often",
        ),
        (
            "wiki",
            as_json({"error": {"code": "missingparam", "info": "<b>No</b> way"}}),
            "refused",
            "No way",
        ),
        ("wiki", as_json({"error": {"info": 1}}), "bad_answer", "form"),
        ("baidu", page(CAPTCHA), "captcha", "another source"),
        ("baidu", page("<html><body><div id=new>hello</div></body></html>"), "layout_changed", ""),
        ("baidu", page(""), "layout_changed", "a person has to look"),
        (
            "baidu",
            page("<html><body><div class=c-container><h3></h3></div>没有找到</body></html>"),
            "layout_changed",
            "",
        ),
    ],
)
async def test_refusals_are_told_apart(
    name: str, answer: SiteAnswer, kind: Kind, says: str
) -> None:
    with Site({path(name): answer}) as site:
        await refuses(search_tool(at(name, site)), kind, says)


async def test_the_word_error_in_a_result_is_no_error() -> None:
    body = {"batchcomplete": True, "query": {"pages": [], "error": "none"}}
    with Site({"": as_json(body)}) as site:
        assert (await searched(search_tool(at("wiki", site)))).content["results"] == []


def test_baidu_may_send_to_its_captcha() -> None:
    """The page that it sends to needs no mark of its own: its host is enough."""
    where = "https://wappass.baidu.com/static/captcha/tuxing_v2.html?logid=1"
    trouble = baidu().trouble(Answer(where))
    assert trouble is not None
    assert trouble.kind == "captcha"


@pytest.mark.parametrize("name", ["serper", "brave", "tavily"])
async def test_a_key_that_is_missing_or_odd_is_told_by_its_variable(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SOURCES[name][0]("http://127.0.0.1:9/")
    monkeypatch.setenv(source.key, "a b")
    await refuses(search_tool(source), "wrong_key", source.key)
    monkeypatch.setenv(source.key, "")
    await refuses(search_tool(source), "no_key", source.key, "a person has to set it")


async def test_a_key_that_a_server_sends_back_goes_no_further() -> None:
    fields = {"url": "https://a.example/", "title": "brave-secret", "description": "brave-secret!"}
    body = {"type": "search", "web": {"results": [fields]}}
    with Site({"": as_json(body)}) as site:
        seen = await searched(search_tool(brave(site.url)))
    assert seen.content["results"][0]["snippet"] == "(the key)!"


@pytest.mark.parametrize(
    ("query", "says"),
    [("", "no word"), ("?!", "no word"), ("a" * 401, "401 characters")],
)
async def test_what_cannot_be_searched_is_not_sent(query: str, says: str) -> None:
    await refuses(search_tool(wikipedia(api="http://127.0.0.1:9/")), "bad_query", says, query=query)


@pytest.mark.parametrize(
    "args",
    [{}, {"query": 1}, {"query": "a", "limit": 0}, {"query": "a", "limit": 21},
     {"query": "a", "language": "x.evil.example/"}, {"query": "a", "more": 1}],
)  # fmt: skip
def test_arguments_are_strict(args: dict[str, Any]) -> None:
    schema = search_tool(wikipedia()).parameters
    assert problems(schema, args)
    assert not problems(schema, {"query": "a", "language": "zh-min-nan"})


# ---------------------------------------------------------------- web_search


async def test_web_search_stops_at_the_first_source_that_finds_something() -> None:
    routes: dict[str, Any] = {
        "/a": page(CAPTCHA),
        "/b": as_json({"results": []}),
        "/c": good("wiki"),
    }
    with Site(routes) as site:
        tool = web_search(
            [baidu(f"{site.url}/a"), tavily(f"{site.url}/b"), wikipedia(api=f"{site.url}/c"),
             brave(f"{site.url}/d")]
        )  # fmt: skip
        seen = await searched(tool)
    assert [was.path for was in site.asked] == ["/a", "/b", "/c"]
    assert [result["title"] for result in seen.content["results"]] == ["Skerryvore", "Tiree"]
    (failed,) = seen.content["failed"]
    assert failed["source"] == "baidu"
    assert failed["why"].startswith("captcha: ")
    assert tool.attempts.timeout > 4 * 12


async def test_web_search_asks_all_at_once_and_ranks_what_they_find() -> None:
    routes: dict[str, Any] = {"/a": as_json(SERPER), "/b": good("wiki"), "/c": page("", 404)}
    with Site(routes) as site:
        sources = [serper(f"{site.url}/a"), wikipedia(api=f"{site.url}/b"), baidu(f"{site.url}/c")]
        seen = await searched(web_search(sources, at_once=True))
    assert sorted(was.path for was in site.asked) == ["/a", "/b", "/c"]
    results = seen.content["results"]
    assert [(one["score"], one["url"]) for one in results] == [
        (1.0, "https://lights.example/skerryvore"),
        (1.0, "https://en.wikipedia.org/wiki/Skerryvore"),
        (0.0, "https://tiree.example/"),
        (0.0, "https://en.wikipedia.org/wiki/Tiree"),
    ]
    assert results[1]["doc_id"].startswith("wiki_")
    assert seen.content["failed"] == [
        {"source": "baidu", "why": "not_found: 127.0.0.1 has no such page: check the address"}
    ]


async def test_web_search_fails_only_where_all_sources_do() -> None:
    with Site({"/a": page(CAPTCHA), "/b": as_json({}, 403)}) as site:
        tool = web_search([baidu(f"{site.url}/a"), serper(f"{site.url}/b")])
        await refuses(tool, "all_failed", "baidu: captcha: ", "serper: wrong_key: ")
    with Site({"/a": page(CAPTCHA), "/b": page(NONE)}) as site:
        seen = await searched(web_search([baidu(f"{site.url}/a"), baidu(f"{site.url}/b")]))
    assert (seen.content["results"], len(seen.content["failed"])) == ([], 1)
    assert seen.content["note"].startswith("nothing found by any source")


def test_web_search_needs_a_source() -> None:
    with pytest.raises(ConfigError, match="no source"):
        web_search([])


def test_what_is_asked_by_default_is_what_the_environment_configures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [one.name for one in usual_sources()] == ["serper", "brave", "tavily", "wiki", "baidu"]
    monkeypatch.delenv("BRAVE_API_KEY")
    monkeypatch.setenv("TAVILY_API_KEY", "")
    monkeypatch.setenv("SEARXNG_BASE_URL", "http://localhost:8080")
    assert [one.name for one in usual_sources()] == ["serper", "searxng", "wiki", "baidu"]


async def test_the_usual_sources_are_looked_up_at_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    tool = web_search()
    with Site({"/search": as_json(SEARX)}) as site:
        monkeypatch.setenv("SEARXNG_BASE_URL", site.url)
        seen = await searched(tool)
    assert [one["title"] for one in seen.content["results"]] == ["Skerryvore"]


async def test_a_run_cites_what_it_found_by_an_id_that_stays(tmp_path: Path) -> None:
    with Site({"": good("wiki")}) as site:
        tool = search_tool(wikipedia(api=site.url))
        first = (await searched(tool)).content["results"][0]["doc_id"]
        script = [
            act("wiki_search", query="skerryvore engineer"),
            act("wiki_search", query="alan stevenson"),
            finish(f"Alan Stevenson [{first}]"),
        ]
        agent = Agent(model=ScriptedModel(script), tools=[tool])
        result = await run(agent, "Who?", store=MemoryStore())
    assert [piece.doc_id for piece in result.cited] == [first]
    assert len(result.evidence) == 2


async def test_a_failed_search_is_an_observation_with_its_kind() -> None:
    with Site({"": page(CAPTCHA)}) as site:
        script = [act("baidu_search", query="灯塔"), finish("no")]
        agent = Agent(model=ScriptedModel(script), tools=[search_tool(baidu(site.url))])
        store = MemoryStore()
        result = await run(agent, "Who?", store=store)
    assert result.status == "answered"


# ---------------------------------------------------------------- the door for one more


async def test_a_source_is_two_functions() -> None:
    def request(query: Query, key: str) -> WebRequest:
        return WebRequest(site.url, {"q": query.text, "n": str(query.limit)})

    source = Source(
        "notes", "my notes", request,
        lambda answer: [Hit(one["t"], one["u"], one["s"]) for one in answer.json()],
    )  # fmt: skip
    rows = [
        {"t": "Light", "u": "https://a.example/", "s": "tall"},
        {"t": "Bad", "u": "javascript:1", "s": ""},
    ]
    with Site({"": as_json(rows)}) as site:
        seen = await searched(search_tool(source), "light", limit=1)
    assert site.asked[0].query == {"q": "light", "n": "1"}
    (result,) = seen.content["results"]
    assert result["doc_id"].startswith("notes_")
    assert search_tool(source).name == "notes_search"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "ftp://a.example/", "http://", "http://[bad/", "https://a:b/"]
)
def test_what_leads_to_no_page_is_no_result(url: str) -> None:
    assert pieces("x", "q", [Hit("t", url, "s")]) == []


GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["results", "organic", "web", "query", "pages", "url", "link", "title",
                         "searchParameters", "type", "search", "error", "code", "batchcomplete"]),
        inner, max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@given(GARBAGE, st.sampled_from(sorted(SOURCES)))
def test_whatever_a_service_answers_there_are_results_or_trouble(value: Any, name: str) -> None:
    source = SOURCES[name][0]("https://a.example/")
    answer = Answer("https://a.example/", json.dumps(value).encode())
    try:
        parsed = parse_answer(source, answer)
    except WebToolError:
        return
    assert all(piece.doc_id for piece in pieces(source.name, "q", parsed))


# ---------------------------------------------------------------- ids, scores, texts


def test_ids_are_a_function_of_page_and_passage() -> None:
    one = doc_id("wiki", "https://en.wikipedia.org/wiki/Skerryvore", "A passage.")
    assert one == doc_id("wiki", "http://en.m.wikipedia.org/wiki/Skerryvore#History", "A passage.")
    other = doc_id("wiki", "https://en.wikipedia.org/wiki/Skerryvore", "Another.")
    assert one != other
    assert one.rpartition("_")[0] == other.rpartition("_")[0]
    assert one == "wiki_" + one.removeprefix("wiki_").lower()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example/x/", "http://www.a.example/x", True),
        ("https://a.example/x?utm_source=1&b=2&a=1", "https://a.example/x?a=1&b=2", True),
        ("https://A.example/%C3%A4", "https://a.example/ä", True),
        ("https://a.example:443/", "https://a.example", True),
        ("https://a.example:8443/", "https://a.example", False),
        ("https://a.example/x?a=1", "https://a.example/x?a=2", False),
        ("https://a.example/X", "https://a.example/x", False),
    ],
)
def test_pages_are_known_again(one: str, other: str, same: bool) -> None:
    assert (same_page(one) == same_page(other)) is same


@pytest.mark.parametrize(
    ("query", "text", "score"),
    [
        ("Skerryvore engineer", "The engineer of SKERRYVORE was Alan Stevenson.", 1.0),
        ("Who discovered radium?", "Radium was a discovery.", 0.5),
        ("discover", "discovered", 1.0),
        ("art", "artist", 0.0),
        ("Zürich", "zurich", 1.0),
        ("who was it", "it was he", 0.667),
        ("灯塔历史", "灯塔的历史", 0.667),
        ("塔", "灯塔", 1.0),
        ("", "anything", 0.0),
        ("word", "", 0.0),
    ],
)
def test_a_score_is_the_share_of_the_query_that_is_there(
    query: str, text: str, score: float
) -> None:
    assert share(query, text) == score


@given(st.text(max_size=40), st.text(max_size=200))
def test_scores_ids_and_texts_are_total(query: str, text: str) -> None:
    assert 0 <= share(query, text) <= 1
    assert len(shortened(text, 50)) <= 50
    assert "\n" not in plain(text)
    assert all(piece.snippet == text for piece in pieces("x", query, [Hit(query, "", text)]))


@pytest.mark.parametrize(
    ("text", "told"),
    [("a <b>b</b> &amp; c\n d", "a b & c d"), ("1 < 2 > 0", "1 < 2 > 0"), (None, ""), (3, ""),
     ("<!-- x -->y\x00z", "y z")],
)  # fmt: skip
def test_text_is_shown_without_markup(text: object, told: str) -> None:
    assert plain(text) == told


def test_long_snippets_end_with_a_sentence_or_a_word() -> None:
    assert shortened("One two. Three four five", 12) == "One two."
    assert shortened("One two three four", 12) == "One two"
    assert shortened("x" * 20, 12) == "x" * 12
    (piece,) = pieces("x", "q", [Hit("t", "https://a.example/", "word " * 1_000)])
    assert len(piece.snippet) <= LONGEST
