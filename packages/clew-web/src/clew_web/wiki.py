"""Wikipedia, or any other MediaWiki with TextExtracts, by its API."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from clew_web.access_policy import status_failure
from clew_web.errors import WebToolError
from clew_web.request import Answer, WebRequest
from clew_web.results import Hit, plain
from clew_web.source import Query, Source

WIKIPEDIA: Final = "https://{language}.wikipedia.org/w/api.php"
LANGUAGE: Final = "en"

_SIMILAR: Final = 5
_ALWAYS: Final = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "utf8": "1",
    "redirects": "1",
}


class Article(NamedTuple):
    """A page of a wiki as plain text; headings are lines such as `== Life ==`."""

    title: str
    url: str
    text: str


class _WikiPage(msgspec.Struct):
    title: str
    index: int = 0
    extract: str = ""
    fullurl: str = ""
    missing: bool = False
    invalid: bool = False
    pageprops: dict[str, object] = {}


class _Title(msgspec.Struct):
    title: str


class _WikiResults(msgspec.Struct):
    pages: list[_WikiPage] = []
    search: list[_Title] = []


class _Error(msgspec.Struct):
    code: str
    info: str = ""


class _Wiki(msgspec.Struct):
    batchcomplete: bool = False
    query: _WikiResults | None = None
    error: _Error | None = None


def wikipedia(language: str = LANGUAGE, api: str = WIKIPEDIA) -> Source:
    """Wikipedia in `language`, or that of the call; each result is the start of an article.

    `api` is the address of another wiki's `api.php`; `{language}` in it stands for the language.
    """

    def request(query: Query, key: str) -> WebRequest:
        params = {
            **_ALWAYS,
            "generator": "search",
            "gsrsearch": query.text,
            "gsrlimit": str(query.limit),
            "prop": "extracts|info",
            "inprop": "url",
            "exintro": "1",
            "explaintext": "1",
            "exlimit": "max",
        }
        return WebRequest(api.replace("{language}", query.language or language), params)

    return Source(
        "wiki",
        "Wikipedia",
        request,
        _hits,
        trouble=_trouble,
        languages=True,
        about=" for what an encyclopedia knows; each result is the beginning of an article",
    )


def article_request(title: str, language: str = LANGUAGE, api: str = WIKIPEDIA) -> WebRequest:
    """What to ask for a whole article."""
    params = {
        **_ALWAYS,
        "titles": title,
        "prop": "extracts|info|pageprops",
        "ppprop": "disambiguation",
        "inprop": "url",
        "explaintext": "1",
        "exlimit": "1",
    }
    return WebRequest(api.replace("{language}", language), params)


def similar_request(title: str, language: str = LANGUAGE, api: str = WIKIPEDIA) -> WebRequest:
    """What to ask for titles like one that there is no article of."""
    params = {**_ALWAYS, "list": "search", "srsearch": title, "srlimit": str(_SIMILAR)}
    params |= {"srinfo": "", "srprop": ""}
    return WebRequest(api.replace("{language}", language), params)


def read_article(answer: Answer) -> Article | None:
    """The article; None where there is none, or only a list of things of that name.

    Raises `WebToolError`.
    """
    pages = _read(answer).pages
    if not pages or pages[0].missing or pages[0].invalid or "disambiguation" in pages[0].pageprops:
        return None
    (page, *_) = pages
    return Article(page.title, page.fullurl, page.extract)


def read_similar(answer: Answer) -> tuple[str, ...]:
    """The titles. Raises `WebToolError`."""
    return tuple(one.title for one in _read(answer).search)


def _read(answer: Answer) -> _WikiResults:
    if trouble := _trouble(answer) or status_failure(answer):
        raise trouble
    try:
        reply = msgspec.convert(answer.json(), _Wiki)
    except msgspec.ValidationError as error:
        raise _unlike() from error
    if reply.query is None and not reply.batchcomplete:
        raise _unlike()
    return reply.query or _WikiResults()


def _unlike() -> WebToolError:
    return WebToolError(
        "bad_answer", "the wiki does not answer as a MediaWiki does: use another source"
    )


def _trouble(answer: Answer) -> WebToolError | None:
    """What the wiki says of itself: errors come with a good status."""
    if answer.status != 200 or b'"error"' not in answer.body[:2_000]:
        return None
    error = msgspec.convert(answer.json(), _Wiki).error
    if error is None:
        return None
    if error.code in {"ratelimited", "maxlag"}:
        return WebToolError("busy", "the wiki is asked too often: try another source, or later")
    text = f"the wiki refuses this ({plain(error.info)[:160] or error.code}): ask otherwise"
    return WebToolError("refused", text)


def _hits(answer: Answer) -> Iterator[Hit]:
    for page in sorted(_read(answer).pages, key=lambda page: page.index):
        if not page.missing:
            yield Hit(page.title, page.fullurl, page.extract.strip())
