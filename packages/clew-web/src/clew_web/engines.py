"""Search services with a documented API that answers in JSON: Serper, Brave, Tavily, SearXNG."""

from collections.abc import Iterator
from typing import Final

import msgspec

from clew_web.errors import WebToolError
from clew_web.request import Answer, WebRequest
from clew_web.results import Hit, plain
from clew_web.source import Query, Source, no_quota, wrong_key

SERPER: Final = "https://google.serper.dev/search"
BRAVE: Final = "https://api.search.brave.com/res/v1/web/search"
TAVILY: Final = "https://api.tavily.com/search"
INSTANCE: Final = "SEARXNG_BASE_URL"
"""The variable with the address of the SearXNG to ask: there is no usual one."""

_REFUSED: Final = frozenset({401, 403})

# ---------------------------------------------------------------- Serper


class _Organic(msgspec.Struct):
    title: str = ""
    link: str = ""
    snippet: str = ""
    answer: str = ""


class _Graph(msgspec.Struct, rename="camel"):
    title: str = ""
    description: str = ""
    description_link: str = ""


class _Serper(msgspec.Struct, rename="camel"):
    search_parameters: dict[str, object]
    organic: list[_Organic] = []
    answer_box: _Organic | None = None
    knowledge_graph: _Graph | None = None


def serper(url: str = SERPER) -> Source:
    """Google's results through serper.dev."""

    def request(query: Query, key: str) -> WebRequest:
        body = {"q": query.text, "num": query.limit}
        if query.language:
            body["hl"] = query.language
        return WebRequest(url, headers={"X-API-KEY": key}, json=body)

    def trouble(answer: Answer) -> WebToolError | None:
        if answer.status in _REFUSED:
            return wrong_key("Serper", "SERPER_API_KEY")
        return no_quota("Serper") if answer.status == 400 and b"credit" in answer.body else None

    return Source(
        "serper",
        "the web with Google, by Serper",
        request,
        _serper_hits,
        prefix="serp",
        key="SERPER_API_KEY",
        trouble=trouble,
        languages=True,
    )


def _serper_hits(answer: Answer) -> Iterator[Hit]:
    reply = msgspec.convert(answer.json(), _Serper)
    if (box := reply.answer_box) is not None and box.link:
        yield Hit(plain(box.title), box.link, plain(box.snippet or box.answer))
    if (graph := reply.knowledge_graph) is not None and graph.description_link:
        yield Hit(plain(graph.title), graph.description_link, plain(graph.description))
    for one in reply.organic:
        yield Hit(plain(one.title), one.link, plain(one.snippet))


# ---------------------------------------------------------------- Brave


class _BraveHit(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""


class _BraveWeb(msgspec.Struct):
    results: list[_BraveHit] = []


class _Brave(msgspec.Struct):
    type: str
    web: _BraveWeb = msgspec.field(default_factory=_BraveWeb)


def brave(url: str = BRAVE) -> Source:
    """The Brave Search API."""

    def request(query: Query, key: str) -> WebRequest:
        params = {"q": query.text, "count": str(query.limit), "text_decorations": "false"}
        return WebRequest(url, params, headers={"X-Subscription-Token": key})

    def trouble(answer: Answer) -> WebToolError | None:
        if answer.status in _REFUSED or b"SUBSCRIPTION_TOKEN_INVALID" in answer.body:
            return wrong_key("Brave", "BRAVE_API_KEY")
        return no_quota("Brave") if answer.status in {402, 429} and _month_is_over(answer) else None

    def read(answer: Answer) -> Iterator[Hit]:
        for one in msgspec.convert(answer.json(), _Brave).web.results:
            yield Hit(plain(one.title), one.url, plain(one.description))

    return Source(
        "brave",
        "the web with Brave Search",
        request,
        read,
        key="BRAVE_API_KEY",
        trouble=trouble,
    )


def _month_is_over(answer: Answer) -> bool:
    """Whether the last window (the month) of the rate limits is used up, not only the second."""
    limits, rest = (
        answer.headers.get(f"x-ratelimit-{name}", "").rpartition(",")[2].strip()
        for name in ("limit", "remaining")
    )
    return answer.status == 402 or (rest == "0" and limits not in {"", "0"})


# ---------------------------------------------------------------- Tavily


class _TavilyHit(msgspec.Struct):
    url: str
    title: str = ""
    content: str = ""
    score: float | None = None


class _Tavily(msgspec.Struct):
    results: list[_TavilyHit]


def tavily(url: str = TAVILY) -> Source:
    """The Tavily search API, whose scores are in [0, 1] already."""

    def request(query: Query, key: str) -> WebRequest:
        body = {"query": query.text, "max_results": query.limit}
        return WebRequest(url, headers={"Authorization": f"Bearer {key}"}, json=body)

    def trouble(answer: Answer) -> WebToolError | None:
        if answer.status in _REFUSED:
            return wrong_key("Tavily", "TAVILY_API_KEY")
        return no_quota("Tavily") if answer.status in {432, 433} else None

    def read(answer: Answer) -> Iterator[Hit]:
        for one in msgspec.convert(answer.json(), _Tavily).results:
            yield Hit(plain(one.title), one.url, plain(one.content), one.score)

    return Source(
        "tavily", "the web with Tavily", request, read, key="TAVILY_API_KEY", trouble=trouble
    )


# ---------------------------------------------------------------- SearXNG


class _SearxHit(msgspec.Struct):
    url: str
    title: str | None = ""
    content: str | None = ""


class _Searx(msgspec.Struct):
    results: list[_SearxHit]
    unresponsive_engines: list[object] = []


def searxng(url: str = "") -> Source:
    """Your SearXNG instance: `url` is its address, or the variable SEARXNG_BASE_URL has it."""

    def request(query: Query, key: str) -> WebRequest:
        params = {"q": query.text, "format": "json"}
        if query.language:
            params["language"] = query.language
        return WebRequest(f"{(url or key).rstrip('/')}/search", params)

    def trouble(answer: Answer) -> WebToolError | None:
        if answer.status != 403:
            return None
        text = (
            "this SearXNG does not answer in JSON: a person has to add json to search.formats in "
            "its settings.yml; use another source"
        )
        return WebToolError("refused", text)

    return Source(
        "searxng",
        "the web with SearXNG",
        request,
        _searx_hits,
        prefix="searx",
        key="" if url else INSTANCE,
        secret=False,
        trouble=trouble,
        languages=True,
    )


def _searx_hits(answer: Answer) -> Iterator[Hit]:
    reply = msgspec.convert(answer.json(), _Searx)
    if not reply.results and reply.unresponsive_engines:
        text = "none of the engines behind this SearXNG answered: use another source, or try later"
        raise WebToolError("unreachable", text)
    for one in reply.results:
        yield Hit(plain(one.title), one.url, plain(one.content))
