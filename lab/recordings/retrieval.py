"""Tool retrieval: how many of the tools a query needs are among the first that are found.

By words alone, and fused with the vectors of the extra `embeddings`. Where that is not installed,
its figures are told to be left out, and count as missed.
"""

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

import anyio
import msgspec

from clew import Agent, ConfigError, Context, Limits, MemoryStore, Tool, read, resume, run
from clew.core.codes import FINISH
from clew.core.prompts import Prompt
from clew.testing.models import Move, ScriptedModel, act, acts, say
from clew.tools.definitions import published
from clew.tools.retrieval import CachedEmbedding, Embed, Retrieval
from clew.tools.retrieval.meaning import Meaning, ranking_of
from clew.tools.retrieval.vector_store import VectorStore
from clew.tools.schema import example
from recordings.data import records
from recordings.forms import Record
from recordings.part import Figure, Judging, Part, count
from recordings.retrieval_limits import Case, alike, limits

TOOLS: Final = "retrieval-tools"
QUERIES: Final = "retrieval-queries"
FIRST: Final = (5, 10)
WORDS: Final[Mapping[int, float]] = {5: 0.728, 10: 0.792}
FUSED: Final[Mapping[int, float]] = {5: 0.80, 10: 0.87}
"""What recall has to be on any queries: so much less as chance allows with so few (`slack`)."""

INDEXED: Final = 1.0
"""Seconds in which so many definitions are to be indexed by words."""
DEFINITIONS: Final = 3_400

TIMED: Final = 15
"""Every so many queries are embedded one by one, as in a run, to see how long that takes."""

TURNS: Final = 12
LEFT_OUT: Final = "left out: the extra embeddings is not installed"


def measure(sample: int) -> Part:
    """Rank the tools for every nth query."""
    queries = [*records(QUERIES, sample=sample)]
    judging, usable = usable_definitions()
    part = evidence(usable, queries, "multilingual", aimed=sample == 1)
    return replace(
        part,
        figures=[*part.figures, *judging.figures()],
        misses=[*judging.misses, *part.misses],
    )


def usable_definitions() -> tuple[Judging, list[Record]]:
    """The published definitions that make a tool, and how many were judged."""
    judging, usable = Judging(), list[Record]()
    for each in records(TOOLS):
        with judging.one(each.get("tool_id")):
            if not isinstance(each["name"], str) or not isinstance(each["tool_id"], str):
                raise TypeError("its name or id is no text")
            published([each], _perform, effect="read")
            usable.append(each)
    return judging, usable


def evidence(
    definitions: Sequence[Record],
    queries: Sequence[Record],
    embed: Embed | str,
    *,
    aimed: bool = False,
) -> Part:
    """The figures of these tools and queries; `aimed` says whether the aims hold for them."""
    catalogue = Catalogue.of(definitions)
    strange = [query for query in queries if not catalogue.has(query)]
    queries = [query for query in queries if catalogue.has(query)]
    if not queries:
        nothing = Figure("queries whose tools are all defined", "0", "", "1 or more", met=False)
        return Part("Tool retrieval", "Nothing to rank.", [nothing])
    seconds = _indexed(definitions)
    max_bytes = INDEXED * max(1.0, len(definitions) / DEFINITIONS)
    met = not aimed or seconds < max_bytes
    figures = [
        Figure(
            "all definitions indexed by words, in seconds",
            f"{seconds:.2f}",
            f"{len(definitions):,}",
            f"< {max_bytes:g}" if aimed else "",
            met,
        ),
    ]
    by_words = Ranked.of(Retrieval(embed="words"), catalogue, queries)
    figures += by_words.figures("by words", WORDS if aimed else {})
    figures += by_words.categories("by words")
    figures.append(by_words.latency("by words"))
    misses = [f"{query['qid']}: needs a tool that is not defined" for query in strange]
    misses += by_words.misses("by words")
    try:
        figures += _fused(catalogue, queries, embed, FUSED if aimed else {})
    except ConfigError:
        figures += [
            Figure(f"fused, recall@{k}", LEFT_OUT, f"{len(queries):,}", f"≥ {minimum:g}", met=False)
            for k, minimum in FUSED.items()
        ]
    figures += anyio.run(_one_run, catalogue, queries[:: max(1, len(queries) // TURNS)][:TURNS])
    return Part(
        "Tool retrieval", _text(catalogue, definitions), figures, misses,
        finding="the tools that a query needs are among the first that are shown",
        lead=("by words, recall@10", "fused, recall@10"),
    )  # fmt: skip


def _text(catalogue: "Catalogue", definitions: Sequence[Record]) -> str:
    return (
        f"{len(definitions):,} published tool definitions, {len(catalogue.tools):,} names (the "
        "first of each counts). The tools are ranked for each query; recall@k is the share of the "
        "needed tools among the first k, averaged over the queries. By words: SQLite's FTS5, "
        "Porter stems, BM25 with the weights 3, 1 and ½ for names, descriptions and parameters "
        "(docs/decisions/0025-tool-retrieval.md). Fused: with the vectors of all-MiniLM-L6-v2 in 8 "
        "bits (docs/decisions/0053-tool-embeddings.md). The weight of the words was chosen on "
        "other requests and on half of these queries. An aim allows two standard errors of the "
        "mean. What has been tried since was chosen on half of the queries, by a hash; the others "
        "are held apart. Intervals of 95 % by drawing conversations again. Two tools are alike if "
        "the vectors of their descriptions have a cosine of 0.8 or more. Times are those of the "
        "machine that wrote this page."
    )


@dataclass(frozen=True)
class Catalogue:
    """The tools to choose from; `names` gives for each published definition its tool's name."""

    tools: tuple[Tool, ...]
    names: Mapping[str, str]

    @classmethod
    def of(cls, definitions: Sequence[Record]) -> "Catalogue":
        """One tool for each name."""
        first: dict[str, Record] = {}
        for each in definitions:
            first.setdefault(each["name"], each)
        made = published(first.values(), _perform, effect="read")
        legal = {each.name: each.tool.name for each in made}
        names = {each["tool_id"]: legal[each["name"]] for each in definitions}
        return cls(tuple(each.tool for each in made), names)

    def has(self, query: Record) -> bool:
        """Whether all that a query needs is defined."""
        need = query.get("need") or ()
        return bool(need) and all(tool_id in self.names for tool_id in need)

    def needed(self, query: Record) -> list[str]:
        """The names of the tools that a query needs."""
        return list(dict.fromkeys(self.names[tool_id] for tool_id in query["need"]))


async def _perform(name: str, args: dict[str, Any], key: str) -> str:
    return f"{name} was called"


def _indexed(definitions: Sequence[Record]) -> float:
    """How long an index of all definitions takes, those with the same name included."""
    tools = [published([each], _perform, effect="read")[0].tool for each in definitions]
    begun = time.perf_counter()
    Retrieval(embed="words").rank(tools, ["a query"])
    return time.perf_counter() - begun


@dataclass
class Ranked:
    """Every query with the ranking it got."""

    catalogue: Catalogue
    queries: Sequence[Record]
    rankings: list[list[str]] = field(default_factory=list[list[str]])
    times: list[float] = field(default_factory=list[float])

    @classmethod
    def of(cls, find: Retrieval, catalogue: Catalogue, queries: Sequence[Record]) -> "Ranked":
        """Ask with each query; the first, which makes the index, is asked once more."""
        ranked = cls(catalogue, queries)
        for query in [*queries[:1], *queries]:
            begun = time.perf_counter()
            names = find.rank(catalogue.tools, [query["query"]])
            ranked.times.append(time.perf_counter() - begun)
            ranked.rankings.append(names)
        del ranked.times[0], ranked.rankings[0]
        return ranked

    def recall(self, k: int, category: str = "") -> float:
        """The mean share of needed tools among the first k."""
        return statistics.fmean(self._shares(k, category))

    def slack(self, k: int) -> float:
        """Two standard errors of the mean: by so much another sample of queries may be below it."""
        shares = self._shares(k)
        if len(shares) < 2:
            return 1.0
        return 2 * statistics.stdev(shares) / math.sqrt(len(shares))

    def _shares(self, k: int, category: str = "") -> list[float]:
        return [
            len({*needed} & {*names[:k]}) / len(needed)
            for query, names in zip(self.queries, self.rankings, strict=True)
            if category in {"", query.get("category", "")}
            for needed in [self.catalogue.needed(query)]
        ]

    def figures(self, way: str, aims: Mapping[int, float]) -> Iterator[Figure]:
        """Recall, judged where there are aims."""
        for k in FIRST:
            value, minimum = self.recall(k), aims.get(k)
            slack = self.slack(k)
            aim = "" if minimum is None else f"≥ {minimum:g} − {slack:.3f}"
            met = minimum is None or value >= minimum - slack
            yield Figure(f"{way}, recall@{k}", f"{value:.4f}", f"{len(self.queries):,}", aim, met)

    def categories(self, way: str) -> Iterator[Figure]:
        """Recall in each category of queries."""
        sizes = defaultdict[str, int](int)
        for query in self.queries:
            sizes[query.get("category", "")] += 1
        for category, size in sorted(sizes.items()):
            got = " / ".join(f"{self.recall(k, category):.4f}" for k in FIRST)
            yield Figure(f"{way}, recall@5 / @10, {category}", got, f"{size:,}")

    def latency(self, way: str) -> Figure:
        """How long a query took."""
        times = sorted(1000 * each for each in self.times)
        last = times[min(len(times) - 1, int(0.95 * len(times)))]
        got = f"{statistics.median(times):.1f} / {last:.1f}"
        return Figure(f"{way}, milliseconds a query: median / p95", got, f"{len(times):,}")

    def misses(self, way: str) -> Iterator[str]:
        """The tools that are not among the first ten, each with its place for its queries."""
        groups = defaultdict[str, list[str]](list)
        for query, names in zip(self.queries, self.rankings, strict=True):
            for name in self.catalogue.needed(query):
                rank = names.index(name) + 1 if name in names else 0
                if rank not in range(1, FIRST[-1] + 1):
                    short = str(query["qid"]).removeprefix("bfcl-")
                    groups[name].append(f"{short} ({rank or 'no like word'})")
        for name, ranks in groups.items():
            yield f"{way}, {name}: {', '.join(ranks)}"


# ------------------------------------------------------------------------------------ vectors


def _fused(
    catalogue: Catalogue, queries: Sequence[Record], embed: Embed | str, aims: Mapping[int, float]
) -> list[Figure]:
    """Recall and time of words and vectors together. Raises `ConfigError` without the extra."""
    plain = Retrieval(embed=embed)
    few = Ranked.of(plain, catalogue, queries[::TIMED])
    ranking = ranking_of(embed)
    parts = [(Remembered(each), reads) for each, reads in ranking.parts] if ranking else []
    for each, _ in parts:
        each.learn([query["query"] for query in queries])
    ranked = Ranked.of(Retrieval(embed=Meaning((*parts,))), catalogue, queries)
    latency = few.latency("fused, embedding the query included")
    cases = [
        Case(query, catalogue.needed(query), names)
        for query, names in zip(queries, ranked.rankings, strict=True)
    ]
    known, _ = parts[0]  # all-MiniLM-L6-v2
    known.learn([tool.description for tool in catalogue.tools])
    why = limits("fused", cases, alike(catalogue.tools, known))
    return [*ranked.figures("fused", aims), *why, *ranked.categories("fused"), latency]


class Remembered:
    """An embedding with the vectors of texts that it has seen, on the disk from run to run."""

    def __init__(self, inner: Embed) -> None:
        self._inner = inner
        self._known: dict[str, Any] = {}
        if isinstance(inner, CachedEmbedding):
            self.model = inner.model

    def learn(self, texts: Sequence[str]) -> None:
        """Embed together what is not known yet."""
        store = VectorStore.of(f"{getattr(self, 'model', '')}, recorded queries")
        kept = store.read(texts)
        self._known = {text: msgspec.json.decode(vector) for text, vector in kept.items()}
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            rows = [[float(number) for number in row] for row in self._inner(missing)]
            self._known |= dict(zip(missing, rows, strict=True))
            store.write({text: msgspec.json.encode(self._known[text]) for text in missing})

    def __call__(self, texts: Sequence[str]) -> Any:
        """The vectors that are known, else made."""
        if all(text in self._known for text in texts):
            return [self._known[text] for text in texts]
        return self._inner(texts)


# ------------------------------------------------------------------------------------ one run


async def _one_run(catalogue: Catalogue, queries: Sequence[Record]) -> list[Figure]:
    """Queries one after the other as words of one conversation; then all that was shown is called.

    Nothing is left out of the prompt once it was there, and each call reaches its tool.
    """
    sent: list[Prompt] = []

    def answer(prompt: Prompt) -> Move:
        sent.append(prompt)
        return say("Well.")

    def call_all(prompt: Prompt) -> Move:
        sent.append(prompt)
        tools = [tool for tool in prompt.tools if tool.name != FINISH]
        return acts(*(act(tool.name, **example(tool.parameters)) for tool in tools))

    model = ScriptedModel([*[answer] * len(queries), call_all, answer])
    store = MemoryStore()
    agent = Agent(
        model=model,
        tools=catalogue.tools,
        context=Context(retrieval=Retrieval(k=FIRST[-1], embed="words")),
        limits=Limits(steps=99, tool_calls=999, calls_per_step=999),
    )
    first, *rest = [query["query"] for query in queries]
    run_id = (await run(agent, first, store=store)).run_id
    for words in (*rest, "Call every tool that you were shown."):
        await resume(agent, run_id, say=words, store=store)
    record = await read(run_id, store=store)
    seen = [call.observation for call in record.calls]
    reached = sum(one is not None and one.made for one in seen)
    grown = sum(
        [tool.name for tool in after.tools][: len(before.tools)]
        == [tool.name for tool in before.tools]
        for before, after in pairwise(sent)
    )
    turns = len(sent) - 1
    visible_count = len(record.visible_tools)
    return [
        count(
            f"tools shown in a run over {len(queries)} queries, then called",
            reached,
            visible_count,
            exactly=visible_count,
        ),
        count("its prompts that kept all tools of the one before", grown, turns, exactly=turns),
    ]
