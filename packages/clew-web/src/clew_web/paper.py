"""The environment of the ReAct paper: `search` an entity, `lookup` a word in it, `finish`.

Between calls the tools keep nothing. Where the last search led is in the record, and the guard
`KeepPlace` reads it there: it writes into each `lookup` the title that was searched last, and which
of the sentences with the word is next. Without the guard the model says so itself.
"""

import difflib
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from clew import Call, ConfigError, Observation, Tool, Trajectory, Verdict
from clew.interfaces import Json
from clew.support.text_folding import caseless
from clew.tools import Attempts
from clew.tools.schema import checked
from clew_web.access_policy import Reach, reach_of_environment
from clew_web.errors import WebToolError
from clew_web.host_limits import share
from clew_web.results import LONGEST, SearchHit, doc_id, observation, shortened
from clew_web.source import SLACK, query_of
from clew_web.wiki import (
    LANGUAGE,
    WIKIPEDIA,
    Article,
    article_request,
    read_article,
    read_similar,
    similar_request,
)

SEARCH: Final = "search"
LOOKUP: Final = "lookup"

Find: TypeAlias = Callable[[str], Awaitable[Article | Sequence[str]]]
"""From a title to the article, or to similar titles if there is none."""

_SIMILAR: Final = 5
_NEAR: Final = 0.6
_SCORE_OF_TEXT: Final = 5.0
_BEGINNING: Final = 1_000


def paper_tools(
    over: Mapping[str, str | Sequence[str]] | Find | None = None,
    *,
    language: str = LANGUAGE,
    api: str = WIKIPEDIA,
    reach: Reach | None = None,
) -> tuple[Tool, Tool]:
    """The tools `search` and `lookup`; give the agent the guard `KeepPlace()` with them.

    `over` is a mapping from titles to texts (or lists of sentences), a function, or None for
    today's Wikipedia.
    """
    out = reach or reach_of_environment()
    seconds, prefix = out.seconds + SLACK, "wiki"
    if over is None:
        find = _wikipedia(out, language, api)
    elif callable(over):
        find, prefix = over, "text"
    else:
        find, seconds, prefix = _find_in_texts(over), _SCORE_OF_TEXT, "text"

    async def search(args: dict[str, Json], key: str) -> Any:
        title = query_of({"query": args["entity"]}).text
        article = await find(title)
        if not isinstance(article, Article):
            return _similar(title, article)
        first = shortened(article.text.strip().split("\n")[0])
        return observation([_piece(prefix, article, article.text.find(first), first)])

    async def lookup(args: dict[str, Json], key: str) -> Any:
        title, word = args.get("title", ""), args["word"]
        number: int = args.get("number", 1)
        if not title:
            text = "in which article? Search an entity first, or give its title"
            raise WebToolError("bad_query", text)
        article = await find(title)
        if not isinstance(article, Article):
            return _similar(title, article)
        return _sentence(prefix, article, word, number)

    return (
        _tool(SEARCH, _SEARCHES, _ENTITY, search, {"entity": "Skerryvore"}, seconds),
        _tool(LOOKUP, _LOOKS_UP, _WORD, lookup, {"word": "engineer"}, seconds),
    )


_SEARCHES: Final = (
    "Search for an entity by its exact name: gives the first paragraph of the article about it, or "
    "similar names if there is no such article."
)
_LOOKS_UP: Final = (
    "Look a word up in the article that was searched last: gives the next sentence with it."
)
_ENTITY: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "entity": {"type": "string", "minLength": 1, "description": "A name, e.g. Skerryvore"}
    },
    "required": ["entity"],
    "additionalProperties": False,
}
_WORD: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "word": {"type": "string", "minLength": 1, "description": "A word or a few, as written"},
        "title": {
            "type": "string",
            "description": "The article, if not the one that was searched last",
        },
        "number": {
            "type": "integer",
            "minimum": 1,
            "description": "Which of the sentences, if not the next",
        },
    },
    "required": ["word"],
    "additionalProperties": False,
}


def _tool(
    name: str,
    description: str,
    parameters: dict[str, Json],
    call: Callable[[dict[str, Json], str], Any],
    example: dict[str, Json],
    seconds: float,
) -> Tool:
    return checked(
        Tool(
            name=name,
            description=description,
            parameters=parameters,
            call=call,
            effect="read",
            attempts=Attempts(timeout=seconds),
            trust="untrusted",
            examples=(example,),
        )
    )


def _piece(prefix: str, article: Article, offset: int, text: str) -> SearchHit:
    """Its score is 1: it was not searched for but asked for by name."""
    name = doc_id(prefix, article.url or article.title, text)
    return SearchHit(name, 1.0, article.title, text, article.url, offset)


def _sentence(prefix: str, article: Article, word: str, number: int) -> Observation:
    """The sentence of that number among those with the word."""
    there = [one for one in sentences(article.text) if caseless(word) in caseless(one[1])]
    if number > len(there):
        more = "no more sentences have" if there else f"no sentence of {article.title!r} has"
        note = f"{more} {word[:80]!r}: look up another word, or search another entity"
        return observation([], note, of=len(there))
    offset, sentence = there[number - 1]
    piece = _piece(prefix, article, offset, sentence[:LONGEST])
    return observation([piece], number=number, of=len(there))


def _similar(title: str, titles: Sequence[str]) -> Observation:
    note = f"there is no article {title[:80]!r}: "
    note += "search one of the similar names" if titles else "search another name for it"
    return observation([], note, similar=list(titles))


def _wikipedia(reach: Reach, language: str, api: str) -> Find:
    async def find(title: str) -> Article | Sequence[str]:
        article = read_article(await reach.ask(article_request(title, language, api)))
        if article is not None and article.text:
            return article
        return read_similar(await reach.ask(similar_request(title, language, api)))

    return find


def _find_in_texts(texts: Mapping[str, str | Sequence[str]]) -> Find:
    joined = {
        title: text if isinstance(text, str) else " ".join(part.strip() for part in text)
        for title, text in texts.items()
    }
    folded = {caseless(title).strip(): title for title in joined}
    if not joined:
        message = "there is nothing to search: give texts by their titles"
        raise ConfigError(message)

    async def find(title: str) -> Article | Sequence[str]:
        if (known := folded.get(caseless(title))) is not None:
            return Article(known, "", joined[known])
        near = difflib.get_close_matches(caseless(title), folded, n=_SIMILAR, cutoff=_NEAR)
        scores = {
            name: share(title, f"{name} {text[:_BEGINNING]}") for name, text in joined.items()
        }
        holding = [name for name in sorted(joined, key=lambda name: -scores[name]) if scores[name]]
        return list(dict.fromkeys([*(folded[one] for one in near), *holding]))[:_SIMILAR]

    return find


class _PaperHit(msgspec.Struct):
    title: str


class _PaperResults(msgspec.Struct):
    results: list[_PaperHit]


@dataclass(frozen=True, slots=True)
class KeepPlace:
    """A guard that adds to `lookup` which article was searched last, and which sentence is next.

    It keeps the arguments that the model wrote.
    """

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Amend a `lookup` that leaves out title or number, by what the record says."""
        if call.action.name != LOOKUP or {"title", "number"} <= call.args.keys():
            return None
        title, seen = _last_searched(trajectory)
        title = call.args.get("title", title)
        if not title:
            return None
        number = call.args.get("number", seen[title, caseless(call.args["word"])] + 1)
        args = {**call.args, "title": title, "number": number}
        return Verdict("amend", f"in {title!r}, sentence {number} of those with it", args=args)


def _last_searched(trajectory: Trajectory) -> tuple[str, Counter[tuple[str, str]]]:
    """The title searched last, and how many sentences were seen since, by title and word."""
    title, seen = "", Counter[tuple[str, str]]()
    for other in trajectory.calls:
        hits = _results_of(other)
        if not hits:
            continue
        if other.action.name == SEARCH:
            title, seen = hits[0].title, Counter[tuple[str, str]]()
        else:
            seen[other.args.get("title", title), caseless(other.args["word"])] += 1
    return title, seen


def _results_of(call: Call) -> list[_PaperHit]:
    """What the call found."""
    if call.action.name not in {SEARCH, LOOKUP} or call.observation is None:
        return []
    try:
        return msgspec.convert(call.observation.content, _PaperResults).results
    except msgspec.ValidationError:
        return []


_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W_a-z])|[。！？]+[”’」』）]*\s*"
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:[A-Z]|[A-Z]\.[A-Z]|e\.g|i\.e|approx|c|ca|cf|Co|Corp|Dr|ed|eds|et al|etc|fl|Gen|Gov|"
    r"Inc|Jr|Lt|Ltd|Mr|Mrs|Ms|Mt|No|no|Nos|pp|p|Prof|Rev|Sen|Sr|St|Univ|vol|vs|[Jj]an|[Ff]eb|Mar|"
    r"Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.)$"
)
_LONGEST: Final = 12
"""Characters before a full stop that can be an abbreviation, with what stands before it."""

_HEADING: Final = re.compile(r"=+.*=+")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence with its offset in characters: no line's end is within one, nor a heading."""
    begin = 0
    for line in text.splitlines(keepends=True):
        if not _HEADING.fullmatch(line.strip()):
            yield from ((begin + offset, sentence) for offset, sentence in _of_line(line))
        begin += len(line)


def _of_line(line: str) -> Iterator[tuple[int, str]]:
    begin = 0
    for end in (*(match.end() for match in _END.finditer(line)), len(line)):
        tail = line[max(begin, end - 2 * _LONGEST) : end].rstrip()
        if end < len(line) and _ABBREVIATION.search(tail[-_LONGEST:]):
            continue
        piece = line[begin:end]
        if sentence := piece.strip():
            yield begin + len(piece) - len(piece.lstrip()), sentence
        begin = end
