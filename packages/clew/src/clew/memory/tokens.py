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

from clew.tools.retrieval.words import grams, terms

COMMON: Final = 750
"""A word that so many memories have counts only in those that have another word of the query."""

MOST_TERMS: Final = 32
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
    whole_runs: Mapping[int, float]

    def memories(self) -> dict[int, float]:
        """The scores of the best memories and of those beside them (places that may be empty)."""
        own = self.own
        best = heapq.nlargest(_CANDIDATES, own, key=own.__getitem__)
        return {
            place: own.get(place, 0.0)
            + _CONTEXT * (own.get(place - 1, 0.0) + own.get(place + 1, 0.0))
            + _CONTEXT * self.whole_runs[place >> RUN_BITS]
            for place in {place + step for place in best for step in (-1, 0, 1)}
        }

    def runs(self) -> dict[int, float]:
        """The scores of the runs that have a word of the query."""
        best = best_of_runs(self.own)
        return {run: whole + _CONTEXT * best[run] for run, whole in self.whole_runs.items()}


def indexed(text: str, year: int, month: int, day: int) -> str:
    """What of a memory can be searched for: its words, and those of the day it is of."""
    return f"{text} {grams(text)} {day} {_MONTHS[month - 1]} {year}"


def find(connection: sqlite3.Connection, query: str) -> dict[str, list[int]]:
    """The places that have each term of a query; of a common one those that have another too.

    A query of one common word alone finds the newest.
    """
    found = {term: _places(connection, term) for term in terms(query)[:MOST_TERMS]}
    common = {term for term, places in found.items() if len(places) == COMMON}
    rare = [term for term, places in found.items() if 0 < len(places) < COMMON]
    for term in common:
        if others := rare or [other for other in common if other != term]:
            found[term] = _places(connection, f"{term} AND ({' OR '.join(others)})")
    return found


def weigh(found: Mapping[str, Sequence[int]], total: int) -> ByWords:
    """Weigh the memories that have a term of a query; `total` are there at most."""
    own: dict[int, float] = {}
    runs: dict[int, float] = {}
    for places in found.values():
        weight = math.log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
        for place in places:
            own[place] = own.get(place, 0.0) + weight
        for run, times in Counter([place >> RUN_BITS for place in places]).items():
            share = times * (_SATURATION + 1) / (times + _SATURATION)
            runs[run] = runs.get(run, 0.0) + weight * share
    return ByWords(own, runs)


def best_of_runs(memories: Mapping[int, float]) -> dict[int, float]:
    """The score of the best memory of each run."""
    best: dict[int, float] = {}
    for place, value in memories.items():
        run = place >> RUN_BITS
        best[run] = max(best.get(run, 0.0), value)
    return best


def beside(best: Sequence[int], fits: Container[int]) -> list[int]:
    """Places in their order, but each that fits by itself before its neighbours that do not."""
    found = dict[int, None]()
    for place in best:
        around = [one for one in (place - 1, place + 1) if one in fits]
        if place not in fits and not any(one in found for one in around):
            found.update(dict.fromkeys(around[:1]))
        found[place] = None
    return list(found)


def ordered(scores: Mapping[int, float]) -> list[int]:
    """Places or runs, the best first; of equals the newest."""
    return sorted(scores, key=lambda number: (-scores[number], -number))


def _places(connection: sqlite3.Connection, expression: str) -> list[int]:
    rows = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?",
        (expression, COMMON),
    )
    return [place for (place,) in rows]
