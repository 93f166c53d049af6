"""Tool retrieval for requests in everyday words, over a thousand of the published tools.

`everyday.tsv` has 639 requests that we wrote as a person would ask, avoiding the words of the
tool's definition, before any ranking had been run on them. Beside each stand the tools that would
do, the one it was written for first: published catalogues have many that do the same. Half of them,
by the hash of that tool's name, are held apart: settings were chosen on the others only.

`everyday.unseen.jsonl` and `everyday.seen.jsonl` have 100 each by somebody who had not seen how
tools are ranked, every sixth in a language other than English. Of these the settings were chosen
with the seen ones, and the unseen ones were ranked once, with what had been chosen.
"""

import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from clew import ConfigError, Tool
from clew.tools.retrieval import Embed, Retrieval
from clew.tools.retrieval.documents import document
from clew.tools.retrieval.lexical import Lexical
from clew.tools.retrieval.meaning import Meaning, ranking_of
from clew_evals.statistics import wilson
from recordings.forms import Record
from recordings.part import Figure, Part
from recordings.retrieval import FIRST, LEFT_OUT, Catalogue, usable_definitions
from recordings.retrieval_limits import REACH

REQUESTS: Final = Path(__file__).with_name("everyday.tsv")
CATALOGUE: Final = 1_000
APART, TUNED = "held apart", "of the other half"
UNSEEN, SEEN = "unseen", "seen"
HALVES: Final = (UNSEEN, SEEN, APART, TUNED)
AIMS: Final[Mapping[str, Mapping[int, float]]] = {
    UNSEEN: {5: 0.75, 10: 0.80},
    APART: {5: 0.60, 10: 0.70},
}
"""What recall by words and meaning must be on the halves held apart, or something has broken."""


@dataclass(frozen=True)
class Request:
    """What a person would say, and the tools of which any one would do."""

    words: str
    tools: tuple[str, ...]
    text: str = ""
    """The half that its file names."""

    @property
    def half(self) -> str:
        """Which half it belongs to: of ours, requests for the same tool are in the same."""
        return self.text or (APART if digest(self.tools[0], 8)[0] % 2 == 0 else TUNED)


def digest(name: str, size: int = 16) -> bytes:
    """The hash of a name, by which names are spread evenly and everywhere alike."""
    return blake2b(name.encode(), digest_size=size).digest()


def requests() -> list[Request]:
    """All that we wrote."""
    lines = REQUESTS.read_text(encoding="utf-8").splitlines()
    told = (line.split("\t") for line in lines)
    return [Request(words, tuple(tools.split())) for words, tools in told]


def written_apart(half: str) -> list[Request]:
    """Those of one half that were written by somebody who did not know the ranking."""
    lines = REQUESTS.with_suffix(f".{half}.jsonl").read_text(encoding="utf-8").splitlines()
    told = map(json.loads, lines)
    return [Request(one["text"], tuple(one["tools"]), half) for one in told]


def measure(sample: int) -> Part:
    """Rank the tools for every nth request."""
    judging, usable = usable_definitions()
    asked = [*written_apart(UNSEEN), *written_apart(SEEN), *requests()]
    part = evidence(usable, asked[::sample], "multilingual", aimed=sample == 1)
    return replace(
        part,
        figures=[*part.figures, *judging.figures()],
        misses=[*judging.misses, *part.misses],
    )


def evidence(
    definitions: Sequence[Record],
    asked: Sequence[Request],
    embed: Embed | str,
    *,
    aimed: bool = False,
) -> Part:
    """The figures of these tools and requests; `aimed` says whether the aims hold for them."""
    first: dict[str, Record] = {}
    for each in definitions:
        first.setdefault(each["name"], each)
    chosen = sorted(first, key=digest)[:CATALOGUE]
    catalogue = Catalogue.of([first[name] for name in chosen])
    legal = {name: catalogue.names[first[name]["tool_id"]] for name in chosen}
    known = [
        replace(each, tools=tuple(legal[name] for name in each.tools if name in legal))
        for each in asked
        if each.tools[0] in legal
    ]
    halves = {each.words: each.half for each in asked}
    there = [half for half in HALVES if half in halves.values()]
    figures = [
        Figure("requests whose tool is there", f"{len(known):,}", f"{len(asked):,}"),
        Figure(
            "of these without a word of its name or description",
            f"{sum(_apart_in_words(catalogue.tools, known)):,}",
            f"{len(known):,}",
        ),
    ]
    misses = list[str]()
    if known:
        for way, meaning in (("by words", None), ("by words and meaning", embed)):
            aims = AIMS if aimed and meaning is not None else {}
            try:
                results = RankedRequests.of(catalogue.tools, known, meaning)
            except ConfigError:
                figures += [Figure(f"{way}, recall@{k}, {there[0]}", LEFT_OUT, "") for k in FIRST]
                continue
            figures += results.figures(way, halves, aims)
            if meaning is not None:
                misses += results.misses(way, halves)
    return Part(
        "Tool retrieval, everyday words", TEXT, figures, misses,
        finding="a request in other words than the tool's finds it by meaning, seldom by words",
        lead=(f"by words, recall@5, {UNSEEN}", f"by words and meaning, recall@5, {UNSEEN}"),
    )  # fmt: skip


TEXT: Final = (
    "Requests in everyday words for 1,000 of the published tools (the first by a hash of their "
    "names). *Unseen* and *seen*: written by somebody who had not seen how tools are ranked, every "
    "sixth in a language other than English; settings were chosen with the seen ones, and the "
    "unseen ones were ranked with what had been chosen (lab/recordings/everyday.unseen.jsonl, "
    "everyday.seen.jsonl). *Held apart* and *of the other half*: written by the hand that wrote "
    "the ranking, before it was run on them, avoiding the words of the definitions; settings were "
    "chosen on the other half (lab/recordings/everyday.tsv). recall@k is the share of requests for "
    "which one of the tools that would do is among the first k, with Wilson's interval of 95 %. "
    "Times are those of the machine that wrote this page; the index by meaning is made once and "
    "then kept on disk."
)


def _apart_in_words(tools: Sequence[Tool], asked: Sequence[Request]) -> Iterator[bool]:
    """For each request whether it shares no word with its tool, stemmed as the index stems."""
    by_name = {tool.name: tool for tool in tools}
    for each in asked:
        text = document(by_name[each.tools[0]])
        plain = type(text)(text.name, text.description, "")
        yield not Lexical([plain]).shares(each.words)


@dataclass(frozen=True)
class RankedRequests:
    """The place of the first tool that would do for each request; 0 where there is none."""

    asked: Sequence[Request]
    indexes: Sequence[int]
    times: Sequence[float]
    built: float

    @classmethod
    def of(
        cls, tools: Sequence[Tool], asked: Sequence[Request], embed: Embed | str | None
    ) -> "RankedRequests":
        """Ask with each request. Raises `ConfigError` without the extra."""
        find = Retrieval(embed="words" if embed is None else _unkept(embed))
        begun = time.process_time()
        find.rank(tools, ["a request"])
        built = time.process_time() - begun
        listed, times = list[int](), list[float]()
        for each in asked:
            begun = time.perf_counter()
            ranked = find.rank(tools, [each.words])
            times.append(time.perf_counter() - begun)
            listed.append(next((n for n, name in enumerate(ranked, 1) if name in each.tools), 0))
        return cls(asked, listed, times, built)

    def figures(
        self, way: str, halves: Mapping[str, str], aims: Mapping[str, Mapping[int, float]]
    ) -> Iterator[Figure]:
        """Recall in each half, and the times."""
        for half in HALVES:
            paths = [
                path
                for each, path in zip(self.asked, self.indexes, strict=True)
                if halves[each.words] == half
            ]
            for k in (*FIRST, REACH) if paths else ():
                recall = statistics.fmean(1 <= path <= k for path in paths)
                low, high = wilson(recall, len(paths))
                value = aims.get(half, {}).get(k)
                yield Figure(
                    f"{way}, recall@{k}, {half}",
                    f"{recall:.3f} ({low:.3f} to {high:.3f})",
                    f"{len(paths):,}",
                    "" if value is None else f"≥ {value:g}",
                    value is None or recall >= value,
                )
        times = sorted(1000 * each for each in self.times)
        got = f"{statistics.median(times):.1f} / {times[int(0.95 * (len(times) - 1))]:.1f}"
        yield Figure(f"{way}, milliseconds a request: median / p95", got, f"{len(times):,}")
        yield Figure(f"{way}, seconds of CPU to index", f"{self.built:.2f}", f"{CATALOGUE:,} tools")

    def misses(self, way: str, halves: Mapping[str, str]) -> Iterator[str]:
        """The requests whose tools are not among the first ten, of those not chosen by."""
        for each, path in zip(self.asked, self.indexes, strict=True):
            if halves[each.words] in AIMS and not 1 <= path <= FIRST[-1]:
                yield f"{way}, {each.tools[0]} ({path or 'not found'}): {each.words}"


def _unkept(embed: Embed | str) -> Meaning | None:
    """The ranking with plain functions, so that no vectors of earlier runs are taken from disk."""
    ranking = ranking_of(embed)
    if ranking is None:
        return None
    return Meaning(tuple((_plain(each), reads) for each, reads in ranking.parts))


def _plain(embed: Embed) -> Embed:
    return lambda texts: embed(texts)  # noqa: PLW0108 -- it has no `model`, which would be kept
