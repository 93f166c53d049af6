"""What limits recall on the recorded queries: turns of conversations, and tools that are alike.

Half of the queries, by the hash of their conversation, are held apart: what was tried last was
judged on the others only (docs/decisions/0053-tool-embeddings.md; the weight of the words, before
that, on half of all, drawn otherwise). A turn of a conversation is ranked without those before it.
Two tools are alike if the vectors of their descriptions are near (`ALIKE`). Where the right tool
and one like it compete, the recordings count only the one that its query was written for.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from clew import Tool
from clew.tools.retrieval import Embed
from clew.tools.retrieval.load_extra import load
from recordings.forms import Record
from recordings.part import Figure

ALIKE: Final = 0.8
"""The cosine between two descriptions from which on the tools count as alike."""
RESAMPLES: Final = 1_000
FIRST: Final = (5, 10)
REACH: Final = 50
"""So many a reranker could put into another order: what is not among them, it cannot find."""
APART, LOOKED_AT = "held apart", "of the other half"


@dataclass(frozen=True)
class Case:
    """A query, the tools it needs, and those that were found for it, best first."""

    query: Record
    needed: Sequence[str]
    texts: Sequence[str]

    @property
    def talk(self) -> str:
        """The conversation that it is a turn of, or else the query itself."""
        return str(self.query["qid"]).partition("#")[0]

    @property
    def half(self) -> str:
        """Which half it belongs to: turns of the same conversation are in the same."""
        odd = blake2b(self.talk.encode(), digest_size=8).digest()[0] % 2
        return APART if odd else LOOKED_AT

    @property
    def alone(self) -> bool:
        """Whether it makes sense without earlier turns."""
        return not str(self.query.get("category", "")).startswith("multi_turn")

    def share(self, k: int, alike: Mapping[str, frozenset[str]]) -> float:
        """The share of needed tools of which it, or one that is like it, is among the first k.

        A tool that is needed itself stands for no other.
        """
        first = {*self.texts[:k]}
        good = [name for name in self.needed if first & (self.others(name, alike) | {name})]
        return len(good) / len(self.needed)

    def others(self, name: str, alike: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """The tools that are like a needed one, without those that are needed too."""
        return alike.get(name, frozenset()).difference(self.needed)


def limits(way: str, cases: Sequence[Case], alike: Mapping[str, frozenset[str]]) -> list[Figure]:
    """Recall in each half, of queries that stand alone, of turns, and if tools alike count."""
    apart = [case for case in cases if case.half == APART]
    groups = {
        APART: (apart, {}),
        LOOKED_AT: ([case for case in cases if case.half != APART], {}),
        f"{APART}, queries that stand alone": ([case for case in apart if case.alone], {}),
        f"{APART}, turns of conversations": ([case for case in apart if not case.alone], {}),
        f"{APART}, if a tool alike counts": (apart, alike),
    }
    figures = [
        Figure(f"{way}, recall@{k}, {what}", _interval(chosen, k, good), f"{len(chosen):,}")
        for what, (chosen, good) in groups.items()
        for k in ((*FIRST, REACH) if what == APART else FIRST)
        if chosen
    ]
    doubtful = sum(any(case.others(name, alike) for name in case.needed) for case in cases)
    return [
        *figures,
        Figure(f"queries of which a needed tool has one alike (cosine ≥ {ALIKE:g})",
               f"{doubtful / len(cases):.3f} ({doubtful:,})", f"{len(cases):,}"),
    ]  # fmt: skip


def _interval(cases: Sequence[Case], k: int, alike: Mapping[str, frozenset[str]]) -> str:
    """The mean share, with the interval of 95 % by drawing conversations again (bootstrap)."""
    talks = defaultdict[str, list[float]](list)
    for case in cases:
        talks[case.talk].append(case.share(k, alike))
    sums = [(sum(shares), len(shares)) for shares in talks.values()]
    draw = random.Random(0)
    means = sorted(_mean(draw.choices(sums, k=len(sums))) for _ in range(RESAMPLES))
    low, high = means[RESAMPLES // 40], means[-1 - RESAMPLES // 40]
    return f"{_mean(sums):.3f} ({low:.3f} to {high:.3f})"


def _mean(sums: Sequence[tuple[float, int]]) -> float:
    return sum(good for good, _ in sums) / sum(count for _, count in sums)


def alike(tools: Sequence[Tool], embed: Embed) -> dict[str, frozenset[str]]:
    """For each tool the others with a description near to its own."""
    return {name: frozenset(others) for name, others in _pairs(tools, embed)}


def _pairs(tools: Sequence[Tool], embed: Embed) -> Iterator[tuple[str, list[str]]]:
    numpy: Any = load("numpy")
    rows = numpy.asarray(embed([tool.description for tool in tools]), dtype=numpy.float32)
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / numpy.where(lengths == 0, 1, lengths)
    for index, (tool, row) in enumerate(zip(tools, rows, strict=True)):
        near = numpy.flatnonzero(rows @ row >= ALIKE).tolist()
        yield tool.name, [tools[other].name for other in near if other != index]
