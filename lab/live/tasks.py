"""The tasks: which they are, to which half each belongs, and the tools that each is given.

`tasks.jsonl` names them; it was drawn once (`python -m live.draw`). Tasks of clew's gold sets are
read from the package, those over recorded pages from the recordings.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from clew import ConfigError
from clew.core.contents import Observation
from clew.core.judging import Guard
from clew.core.tools import Tool
from clew.core.values import Json
from clew.toolbox import calc
from clew.toolbox.docs import Library, docs_tools
from clew_evals import Case
from clew_evals.gold import FOREIGN, NOTES, foreign, gold
from clew_web import KeepPlace, paper_tools
from clew_web.paper import Find
from clew_web.wiki import Article
from live import recorded

Half: TypeAlias = Literal["tuning", "unseen"]
HALVES: Final[Sequence[Half]] = get_args(Half)

LISTED: Final = Path(__file__).with_name("tasks.jsonl")

FOLDERS: Final = {"gold": NOTES, "foreign": FOREIGN}
ALIKE: Final = 0.5
"""A page is found if its name and what is searched have this share of their words in common."""
PASSAGES: Final = 2
LENGTH: Final = 700
KEPT: Final = ("doc_id", "title", "snippet")
"""How many passages a search of documents gives, how long, and what of each."""

SIMILAR: Final = 5
"""Else so many names are told."""

SOURCES: Final = (*FOLDERS, recorded.HOTPOTQA, recorded.FEVER)


class Listed(msgspec.Struct, frozen=True):
    """A line of `tasks.jsonl`."""

    id: str
    source: str
    half: Half


@dataclass(frozen=True)
class Task:
    """A question with its gold, its tools, and the guards that these need."""

    listed: Listed
    case: Case
    tools: Sequence[Tool]
    guards: Sequence[Guard] = ()


def listed() -> list[Listed]:
    """All tasks that were drawn."""
    return [msgspec.json.decode(line, type=Listed) for line in LISTED.read_bytes().splitlines()]


def hashed(name: str) -> str:
    """What decides to which half a task belongs: the lower hashes of a source are for tuning."""
    return hashlib.sha256(name.encode()).hexdigest()


def tasks(half: Half | None = None, sources: Sequence[str] = SOURCES) -> list[Task]:
    """The tasks of a half, or all, of some sources.

    Raises `ConfigError` for an unknown source, and where there are no recordings.
    """
    if strange := [name for name in sources if name not in SOURCES]:
        raise ConfigError(f"no source {strange[0]!r}: there are {', '.join(SOURCES)}")
    return [task(one) for one in listed() if half in {None, one.half} and one.source in sources]


def task(one: Listed) -> Task:
    """A drawn task, with its tools. Raises `ConfigError` where its data are not there."""
    case = _cases(one.source)[one.id]
    if one.source in FOLDERS:
        return Task(one, case, (_search(one.source), calc()))
    return Task(one, case, paper_tools(_find(one.source)), (KeepPlace(),))


@cache
def _cases(source: str) -> Mapping[str, Case]:
    shipped = {"gold": gold, "foreign": foreign}.get(source)
    if shipped is not None:
        return {case.id: case for case in shipped().cases}
    return {name: one.case() for name, one in recorded.questions().items() if one.source == source}


@cache
def _search(source: str) -> Tool:
    """`docs` with two short passages: a processor reads some fifty tokens a second."""
    search, _ = docs_tools(Library(FOLDERS[source]))

    async def call(args: dict[str, Json], key: str) -> Observation:
        observation: Observation = await search.call(
            {"query": args["query"], "limit": PASSAGES}, key
        )
        content: Any = observation.content
        visible = [
            {name: piece[name][:LENGTH] if name == "snippet" else piece[name] for name in KEPT}
            for piece in content["results"]
        ]
        return msgspec.structs.replace(observation, content={**content, "results": visible})

    return replace(
        search,
        call=call,
        parameters={
            **search.parameters,
            "properties": {"query": search.parameters["properties"]["query"]},
        },
        examples=({"query": "harbour master appointed"},),
    )


@cache
def _pool(source: str) -> Mapping[str, str]:
    """The pages of all drawn questions of a source: each has those of the others as distractors."""
    pages: dict[str, str] = {}
    for one in listed():
        if one.source == source:
            pages.update(recorded.questions()[one.id].pages)
    return pages


def _find(source: str) -> Find:
    """Finds a page by the name that was searched, or by one with mostly the same words."""
    pages = _pool(source)
    words = {title: _words(title) for title in pages}

    async def find(title: str) -> Article | Sequence[str]:
        asked = _words(title)
        alike = {name: _alike(asked, results) for name, results in words.items()}
        ranked = sorted(pages, key=lambda name: -alike[name])
        if alike[ranked[0]] >= ALIKE:
            return Article(ranked[0], "", pages[ranked[0]])
        return [name for name in ranked[:SIMILAR] if alike[name]]

    return find


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that they have in common (Jaccard)."""
    return len(one & other) / len(one | other) if one | other else 0.0


def sources() -> Iterator[tuple[str, int, int]]:
    """Of each source how many tasks are in the two halves."""
    for source in SOURCES:
        halves = [one.half for one in listed() if one.source == source]
        yield source, halves.count("tuning"), halves.count("unseen")
