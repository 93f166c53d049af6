"""A source of search results: one function to ask it, one to read its answer."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from clew import Tool
from clew.core.redaction import blots_out
from clew.interfaces import Json
from clew.support.short_text import one_line
from clew.tools import Attempts
from clew.tools.schema import checked
from clew_web.access_policy import Reach, reach_of_environment, status_failure
from clew_web.errors import WebToolError
from clew_web.http_request import port, read_url
from clew_web.request import Answer, WebRequest
from clew_web.results import Hit, SearchHit, observation, pieces

MAX_QUERY_CHARS: Final = 400
MAX_RESULTS: Final = 20
SLACK: Final = 5.0
"""Seconds by which a tool's deadline lies behind that of its requests: it can still say why."""

_LANGUAGE: Final = "^[a-z]{2,12}(-[a-z]{2,12})*$"
_NOTHING: Final = "nothing found: try fewer or other words, or the names alone"


@dataclass(frozen=True, slots=True)
class Query:
    """A query: at most `limit` results, in `language` ("en") if one is given."""

    text: str
    limit: int = 5
    language: str = ""


def _as_usual(answer: Answer) -> WebToolError | None:
    """Nothing that only this source says."""


@dataclass(frozen=True)
class Source:
    """A source of search results: its tool is `NAME_search`, its ids begin with `prefix`.

    `request(query, key)` makes the request, `read(answer)` returns the results, best first, and
    `trouble(answer)` interprets the source's own errors. The key is the value of the environment
    variable `key` at each call (empty: none is needed); a `secret` key is removed from results.
    `languages` says that `Query.language` works. `about` is for the model. The server may have a
    private address, since a person chose it.
    """

    name: str
    title: str
    request: Callable[[Query, str], WebRequest]
    read: Callable[[Answer], Iterable[Hit]]
    prefix: str = ""
    key: str = ""
    trouble: Callable[[Answer], WebToolError | None] = _as_usual
    secret: bool = True
    languages: bool = False
    about: str = ""

    @property
    def configured(self) -> bool:
        """Whether it needs no key, or the key is set."""
        return not self.key or bool(os.environ.get(self.key))


def search_tool(source: Source, reach: Reach | None = None) -> Tool:
    """The tool that searches only this source. Raises `ConfigError`."""
    out = reach or reach_of_environment()

    async def call(args: dict[str, Json], key: str) -> Any:
        hits = await search(source, query_of(args), out)
        return observation(hits, "" if hits else _NOTHING)

    description = (
        f"Search {source.title}{source.about}. Use the few words that matter, names first. Each "
        "result has a doc_id to cite as [doc_id], and a score: below 0.5 it is weak evidence."
    )
    return checked(
        Tool(
            name=f"{source.name}_search",
            description=description,
            parameters=parameters(languages=source.languages),
            call=call,
            effect="read",
            attempts=Attempts(timeout=out.seconds + SLACK),
            trust="untrusted",
            examples=({"query": "Skerryvore lighthouse engineer"},),
        )
    )


def parameters(*, languages: bool) -> dict[str, Json]:
    """The arguments of a search tool."""
    properties: dict[str, Json] = {
        "query": {"type": "string", "description": "Words to find"},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_RESULTS,
            "default": Query("").limit,
            "description": "How many results at most",
        },
    }
    if languages:
        properties["language"] = {
            "type": "string",
            "pattern": _LANGUAGE,
            "description": "In which language, by its code, such as en, de, zh",
        }
    return {
        "type": "object",
        "properties": properties,
        "required": ["query"],
        "additionalProperties": False,
    }


def query_of(args: dict[str, Json]) -> Query:
    """The query of a call. Raises `WebToolError` where nothing could be found by it."""
    text = one_line(args["query"])
    if len(text) > MAX_QUERY_CHARS:
        raise WebToolError(
            "bad_query",
            f"the query has {len(text):,} characters, at most {MAX_QUERY_CHARS} are sent: give "
            "the few words that matter",
        )
    if not any(sign.isalnum() for sign in text):
        raise WebToolError("bad_query", "the query holds no word: give the words that matter")
    return Query(text, args.get("limit", Query("").limit), args.get("language", ""))


async def search(source: Source, query: Query, reach: Reach) -> list[SearchHit]:
    """The source's results, without any trace of the key. Raises `WebToolError`."""
    key = find_key(source)
    request = source.request(query, key)
    url = read_url(request.url)
    out = replace(reach, allow=(*reach.allow, f"{url.host}:{port(url)}"))
    answer = await out.ask(request)
    if source.secret and blots_out(key):
        answer = replace(answer, body=answer.body.replace(key.encode(), b"(the key)"))
    hits = parse_answer(source, answer)
    return pieces(source.prefix or source.name, query.text, hits)[: query.limit]


def parse_answer(source: Source, answer: Answer) -> list[Hit]:
    """What the answer says that was found. Raises `WebToolError`."""
    try:
        if trouble := source.trouble(answer) or status_failure(answer):
            raise trouble
        return list(source.read(answer))
    except (KeyError, TypeError, AttributeError, msgspec.ValidationError) as error:
        text = f"{source.title} does not answer in the form that it documents: use another source"
        raise WebToolError("bad_answer", text) from error


def find_key(source: Source) -> str:
    """The key from the environment; "" where none is needed. Raises `WebToolError`."""
    key = os.environ.get(source.key, "").strip() if source.key else ""
    if source.key and not key:
        text = f"{source.title} needs {source.key}: a person has to set it; use another source"
        raise WebToolError("no_key", text)
    if not all(32 < ord(sign) < 127 for sign in key):
        text = f"{source.key} has a space or an odd character: a person has to mend it"
        raise WebToolError("wrong_key", text)
    return key


def wrong_key(source_title: str, variable: str) -> WebToolError:
    """The source does not take the key."""
    text = f"{source_title} does not take the key in {variable}: a person has to set a good one"
    return WebToolError("wrong_key", f"{text}; use another source")


def no_quota(source_title: str) -> WebToolError:
    """There is nothing left of what was paid for."""
    text = f"the searches paid for at {source_title} are used up: use another source"
    return WebToolError("quota", text)
