"""Memories ranked by words, each in the light of its run.

A memory weighs what of the query it has: the sum of its words' weights, which are those of BM25
(https://doi.org/10.1561/1500000019), as a rare word says more. How often a word stands in so short
a text, and how long that is, says nothing more. What was said just before and after it counts too,
and so does what the other memories of its run have of the query, each word of which saturates there
as in BM25. docs/long-runs.md says what this is worth.
"""

import heapq
import math
import sqlite3
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew.tools.search_words import grams, terms

COMMON: Final = 750
"""A word that so many memories have counts only in those that have another word of the query."""

MAX_TERMS: Final = 32
RUN_BITS: Final = 20
"""A place is the number of a run and, in so many bits, that of a memory in it."""

_CANDIDATES: Final = 200
"""So many memories, the best by themselves, are seen in the light of their runs."""

_CONTEXT: Final = 0.5
"""The weight of each neighbour, of the run, and of a run's best memory beside all of its words."""

_SATURATION: Final = 1.2
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)  # not those of `calendar`, which depend on the locale


@dataclass(frozen=True)
class ByWords:
    """What memories have of a query by themselves, by their places, and runs, by their numbers."""

    own: Mapping[int, float]
    run_scores: Mapping[int, float]

    def memories(self) -> dict[int, float]:
        """The scores of the best memories and of those beside them (places that may be empty)."""
        own = self.own
        best = heapq.nlargest(_CANDIDATES, own, key=own.__getitem__)
        return {
            position: own.get(position, 0.0)
            + _CONTEXT * (own.get(position - 1, 0.0) + own.get(position + 1, 0.0))
            + _CONTEXT * self.run_scores[position >> RUN_BITS]
            for position in {position + step for position in best for step in (-1, 0, 1)}
        }

    def runs(self) -> dict[int, float]:
        """The scores of the runs that have a word of the query."""
        best = best_of_runs(self.own)
        return {run: score + _CONTEXT * best[run] for run, score in self.run_scores.items()}


def indexed(text: str, year: int, month: int, day: int) -> str:
    """What of a memory can be searched for: its words, and those of the day it is of."""
    return f"{text} {grams(text)} {day} {_MONTHS[month - 1]} {year}"


def find(connection: sqlite3.Connection, query: str) -> dict[str, list[int]]:
    """The places that have each term of a query; of a common one those that have another too.

    A query of one common word alone finds the newest.
    """
    matches = {term: _positions(connection, term) for term in terms(query)[:MAX_TERMS]}
    common = {term for term, positions in matches.items() if len(positions) == COMMON}
    rare = [term for term, positions in matches.items() if 0 < len(positions) < COMMON]
    for term in common:
        if others := rare or [other for other in common if other != term]:
            matches[term] = _positions(connection, f"{term} AND ({' OR '.join(others)})")
    return matches


def weigh(matches: Mapping[str, Sequence[int]], total: int) -> ByWords:
    """Weigh the memories that have a term of a query; `total` are there at most."""
    own: dict[int, float] = {}
    runs: dict[int, float] = {}
    for positions in matches.values():
        weight = math.log(1 + (total - len(positions) + 0.5) / (len(positions) + 0.5))
        for position in positions:
            own[position] = own.get(position, 0.0) + weight
        for run, times in Counter([position >> RUN_BITS for position in positions]).items():
            share = times * (_SATURATION + 1) / (times + _SATURATION)
            runs[run] = runs.get(run, 0.0) + weight * share
    return ByWords(own, runs)


def best_of_runs(memories: Mapping[int, float]) -> dict[int, float]:
    """The score of the best memory of each run."""
    best: dict[int, float] = {}
    for position, value in memories.items():
        run = position >> RUN_BITS
        best[run] = max(best.get(run, 0.0), value)
    return best


def beside(best: Sequence[int], fits: Container[int]) -> list[int]:
    """Places in their order, but each that fits by itself before its neighbours that do not."""
    neighbours = dict[int, None]()
    for position in best:
        around = [one for one in (position - 1, position + 1) if one in fits]
        if position not in fits and not any(one in neighbours for one in around):
            neighbours.update(dict.fromkeys(around[:1]))
        neighbours[position] = None
    return list(neighbours)


def ordered(scores: Mapping[int, float]) -> list[int]:
    """Places or runs, the best first; of equals the newest."""
    return sorted(scores, key=lambda number: (-scores[number], -number))


def _positions(connection: sqlite3.Connection, expression: str) -> list[int]:
    rows = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?",
        (expression, COMMON),
    )
    return [position for (position,) in rows]
