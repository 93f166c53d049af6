"""The tool `web_search`: one source after another until one finds something, or all at once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import anyio

from clew import ConfigError, Tool
from clew.concurrency.tasks import one_error
from clew.interfaces import Json
from clew.support.error_text import described
from clew.tools import Attempts
from clew.tools.schema import checked
from clew_web.access_policy import Reach, reach_of_environment
from clew_web.baidu import baidu
from clew_web.engines import brave, searxng, serper, tavily
from clew_web.errors import WebToolError
from clew_web.results import SearchHit, clean_text, observation, same_page
from clew_web.source import SLACK, Query, Source, parameters, query_of, search
from clew_web.wiki import wikipedia

SECONDS: Final = 12.0
"""What one of several sources may take."""

_DESCRIPTION: Final = (
    "Search the web: the place to begin for facts. Use the few words that matter, names first. "
    "Several sources are asked where one fails. Each result has a doc_id to cite as [doc_id], and "
    "a score: below 0.5 it is weak evidence."
)
_NOTHING: Final = "nothing found by any source: try fewer or other words, or the names alone"


class SourceFailure(NamedTuple):
    """A source that was asked in vain."""

    source: str
    why: str


def usual_sources() -> tuple[Source, ...]:
    """Serper, Brave, Tavily and SearXNG if they are configured, then Wikipedia, then Baidu.

    Baidu comes last because it has no API and asks programs for captchas.
    """
    keyed = (serper(), brave(), tavily(), searxng())
    return (*(source for source in keyed if source.configured), wikipedia(), baidu())


def web_search(
    sources: Sequence[Source] | None = None,
    *,
    at_once: bool = False,
    reach: Reach | None = None,
) -> Tool:
    """The tool `web_search`, the only one that falls back to another source.

    Without `sources` it uses those that the environment configures, looked up at each call. It asks
    one after another until one finds something; `at_once` asks all, which is faster, costs what all
    of them cost, and ranks results by score. Raises `ConfigError`.
    """
    if sources is not None and not sources:
        message = "web_search has no source: name one, or leave them out for the usual ones"
        raise ConfigError(message)
    access = reach or reach_of_environment()
    out = replace(access, seconds=min(access.seconds, SECONDS))
    wanted = 6 if sources is None else len(sources)

    async def call(args: dict[str, Json], key: str) -> Any:
        query, here = query_of(args), usual_sources() if sources is None else sources
        hits, failed = await (_all if at_once else _first)(here, query, out)
        if len(failed) == len(here):
            why = "; ".join(f"{one.source}: {one.why}" for one in failed)
            raise WebToolError("all_failed", f"no source could be searched ({why})")
        told: dict[str, Json] = {"failed": [one._asdict() for one in failed]} if failed else {}
        return observation(_ranked(hits)[: query.limit], "" if hits else _NOTHING, **told)

    return checked(
        Tool(
            name="web_search",
            description=_DESCRIPTION,
            parameters=parameters(languages=True),
            call=call,
            effect="read",
            attempts=Attempts(timeout=out.seconds * (1 if at_once else wanted) + SLACK),
            trust="untrusted",
            examples=({"query": "Skerryvore lighthouse engineer"},),
        )
    )


async def _first(
    sources: Sequence[Source], query: Query, reach: Reach
) -> tuple[list[SearchHit], list[SourceFailure]]:
    """What the first source finds that finds anything."""
    failed: list[SourceFailure] = []
    for source in sources:
        hits = await _asked_of(source, query, reach)
        if isinstance(hits, SourceFailure):
            failed.append(hits)
        elif hits:
            return hits, failed
    return [], failed


async def _asked_of(source: Source, query: Query, reach: Reach) -> list[SearchHit] | SourceFailure:
    """What a source finds, or why it failed: whatever it raises is its own affair."""
    try:
        return await search(source, query, reach)
    except WebToolError as trouble:
        return SourceFailure(source.name, str(trouble))
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- a source is anybody's code
        return SourceFailure(
            source.name, f"broken: {clean_text(described(error))}; use another source"
        )


async def _all(
    sources: Sequence[Source], query: Query, reach: Reach
) -> tuple[list[SearchHit], list[SourceFailure]]:
    """What all sources find, in the order of the sources whichever answers first."""
    came: dict[int, list[SearchHit] | SourceFailure] = {}

    async def ask(index: int, source: Source) -> None:
        came[index] = await _asked_of(source, query, reach)

    with one_error():
        async with anyio.create_task_group() as group:
            for index, source in enumerate(sources):
                group.start_soon(ask, index, source)
    hits, failed = list[SearchHit](), list[SourceFailure]()
    for index in sorted(came):
        one = came[index]
        if isinstance(one, SourceFailure):
            failed.append(one)
        else:
            hits += one
    return hits, failed


def _ranked(hits: Sequence[SearchHit]) -> list[SearchHit]:
    """Best first, each page once, by its best piece; ties in the order in which they came."""
    pages: dict[str, SearchHit] = {}
    for piece in sorted(hits, key=lambda piece: -piece.score):
        pages.setdefault(same_page(piece.url or piece.title), piece)
    return list(pages.values())
