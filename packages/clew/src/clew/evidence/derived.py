"""Values that a passage does not write but that follow from what it writes.

A remainder, a sum, a duration, an age, a share, an arrival: what is added, subtracted, multiplied
or divided exactly, by at most two steps, and rounded as the claim rounds it.
"""

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Final, NamedTuple

from clew.evidence.amounts import CALENDAR, CLOCK, DAY, FACTOR, Quantity, amounts, ordinal_of
from clew.evidence.claims import claims
from clew.evidence.dates import Date
from clew.evidence.facts import Fact
from clew.evidence.numbers import YEAR, Number, NumberReading
from clew.evidence.stemming import stem
from clew.evidence.tone import RECKONING
from clew.evidence.words import flat, words
from clew.support.lazy_regex import Lazy

DAYTIME: Final = 24 * 60
_POINTS: Final = frozenset({CALENDAR, CLOCK, DAY})
"""Dimensions of points in time: they have a distance and no sum."""
_NO_SUM: Final = _POINTS | {FACTOR, "%", "deg"}
_RANGE: Final = Lazy(
    r"(?<![\w.,])(\d{1,4}) ?(?:to|-|–|bis|through|à|al?|t/m|do) ?(\d{1,4})(?!\w|[.,]\d)"
)
_DAYS_OF_A_YEAR: Final = Fraction("365.25")
AHEAD: Final = 16
"""So many characters behind a span may say that it is later or earlier."""
TERMS: Final = 8
"""So many amounts are taken where three or four go together."""


class StatedValue(NamedTuple):
    """A value that a claim states: what it may lie between, in the base unit of its dimension."""

    dimension: str
    minimum: Fraction
    maximum: Fraction

    def fits(self, value: Fraction, dimension: str) -> bool:
        """Whether a computed value is this one; a bare number may leave its unit out."""
        same = self.dimension in {dimension, "" if dimension in {"year", "s"} else dimension}
        return same and self.minimum <= value <= self.maximum


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that was computed, and the amounts of the question that it used."""

    span: tuple[int, int]
    """Where the first amount of the passage is that it was computed from."""
    asked: tuple[Quantity, ...] = ()
    sure: bool = False
    """Whether it is a time of day, or the passage itself says how much later."""

    @property
    def counted(self) -> bool:
        """Whether it is sure to be a result: it says so, or takes a number that was asked about."""
        return self.sure or any(each.dimension != CALENDAR for each in self.asked)


def speaks_of_a_result(text: str) -> bool:
    """Whether a claim or its question speaks of what is left, more, later, in total."""
    return not RECKONING.isdisjoint(word.key for word in words(text))


def derived(claim: str, fact: Fact, passage: str, question: str) -> Derived | None:
    """How the value follows from amounts of the passage, and perhaps one that was asked about."""
    wanted = _compound(claim, fact) or _wanted(fact)
    if not wanted:
        return None
    stated, asked = amounts(passage), amounts(question)
    ends = [sentence.end for sentence in claims(passage)]
    for steps in (_in_one_step, _in_two_steps):
        for value, dimension, used in steps(stated, asked):
            if not any(each.fits(value, dimension) for each in wanted):
                continue
            inside = [each for each in used if each in stated]
            outside = tuple(each for each in used if each not in stated)
            circular = any(each.value == value for each in outside)
            if inside and not circular and _together(inside, ends):
                sure = dimension == CLOCK or _stated_later(inside, passage)
                return Derived((inside[0].start, inside[0].end), outside, sure)
    return None


def _stated_later(used: Sequence[Quantity], passage: str) -> bool:
    """Whether the passage itself reckons from a point in time: "ten years later"."""
    spans = (each for each in used if each.dimension in {"year", "s"})
    pointed = any(each.dimension in {CALENDAR, DAY} for each in used)
    return pointed and any(
        speaks_of_a_result(passage[each.end : each.end + AHEAD]) for each in spans
    )


def _together(used: Sequence[Quantity], ends: Sequence[int]) -> bool:
    """Whether amounts stand in one sentence or two that follow; named years may stand anywhere."""
    if all(each.dimension in {CALENDAR, DAY} for each in used):
        return True
    indexes = [bisect_right(ends, each.start) for each in used]
    return max(indexes) - min(indexes) <= 1


def _compound(claim: str, fact: Fact) -> list[StatedValue]:
    """An hour and 45 minutes are asked for together."""
    return [
        StatedValue(each.dimension, each.value, each.value)
        for each in amounts(claim)
        if each.start <= fact.start
        and fact.end <= each.end
        and each.end - each.start > fact.end - fact.start
        and not each.per
    ]


def _wanted(fact: Fact) -> list[StatedValue]:
    match fact.value:
        case Number():
            around = [_around(each, fact.value) for each in fact.value.readings if not each.rare]
            if year := fact.value.year:
                around.append(StatedValue(CALENDAR, Fraction(year), Fraction(year)))
            return around
        case Date() if fact.value.minutes:
            return [StatedValue(CLOCK, Fraction(m), Fraction(m)) for m in fact.value.minutes]
        case Date():
            days = [ordinal for day in fact.value.readings
                    if (ordinal := ordinal_of(*day)) is not None]  # fmt: skip
            return [StatedValue(DAY, Fraction(day), Fraction(day)) for day in days]
        case _:
            return []


def _around(reading: NumberReading, number: Number) -> StatedValue:
    """What rounds to a number as it is written; more than it, or less, where it says so."""
    share = not reading.unit.dimension and reading.raw.denominator > 1 and reading.raw < 1
    dimension = FACTOR if share else reading.unit.dimension
    half = reading.width / 2
    integral = not reading.unit.dimension and reading.raw.denominator == 1 and not number.about
    low = 0 if integral else (half if number.about != "over" else Fraction(0))
    high = 0 if integral else (half if number.about != "under" else Fraction(0))
    if number.about == "over":
        high = reading.width
    if number.about == "under":
        low = reading.width
    return StatedValue(dimension, reading.value - low, reading.value + high)


_Step = tuple[Fraction, str, tuple[Quantity, ...]]


def _in_one_step(stated: Sequence[Quantity], asked: Sequence[Quantity]) -> Iterator[_Step]:
    for one, other in permutations(stated, 2):
        if one.start != other.start:
            yield from _pair(one, other)
    for one, other in product(stated, asked):
        yield from _pair(one, other)
        yield from _pair(other, one)


def _pair(one: Quantity, other: Quantity) -> Iterator[_Step]:
    """What two amounts give, in this order."""
    used = (one, other)
    if one.per or other.per:
        yield from _rated(one, other)
    elif one.dimension == other.dimension:
        yield from _alike(one, other)
    elif one.dimension in _POINTS:
        yield from _later(one, other)
    elif other.dimension == "%":
        for share in (other.value, 100 - other.value, 100 + other.value):
            yield one.value * share / 100, one.dimension, used
    elif other.dimension in {"", FACTOR} and other.value and one.dimension not in _POINTS:
        yield one.value * other.value, one.dimension, used
        yield one.value / other.value, one.dimension, used
        if 0 < other.value < 1:
            yield one.value * (1 - other.value), one.dimension, used
            yield one.value * (1 + other.value), one.dimension, used


def _alike(one: Quantity, other: Quantity) -> Iterator[_Step]:
    """Sum, difference and share of two amounts of one dimension."""
    used, between = (one, other), one.value - other.value
    match one.dimension:
        case "calendar year":
            yield between, "year", used
        case "day of the calendar":
            yield between * 86400, "s", used
            yield between / _DAYS_OF_A_YEAR, "year", used
        case "clock":
            yield between % DAYTIME * 60, "s", used
        case dimension:
            yield between, dimension, used
            if dimension not in _NO_SUM:
                yield one.value + other.value, dimension, used
    if one.dimension not in _NO_SUM and other.value:
        share = one.value / other.value
        yield 100 * share, "%", used
        yield 100 * abs(share - 1), "%", used
        yield share, FACTOR, used
        if one.dimension:
            yield share, "", used


def _later(point: Quantity, other: Quantity) -> Iterator[_Step]:
    """A point in time, so much later or earlier."""
    used, span = (point, other), other.value
    if other.dimension == "s":
        length = {CLOCK: span / 60, DAY: span / 86400, CALENDAR: span / YEAR}[point.dimension]
    elif other.dimension == "year" and point.dimension == CALENDAR:
        length = span
    elif other.dimension == "year" and point.dimension == DAY and span.denominator == 1:
        yield from _anniversaries(point, other)
        return
    else:
        return
    for value in (point.value + length, point.value - length):
        yield value % DAYTIME if point.dimension == CLOCK else value, point.dimension, used


def _anniversaries(point: Quantity, other: Quantity) -> Iterator[_Step]:
    """The same day so many years later or earlier."""
    day = dt.date.fromordinal(int(point.value))
    for year in (day.year + int(other.value), day.year - int(other.value)):
        if (ordinal := ordinal_of(year, day.month, day.day)) is not None:
            yield Fraction(ordinal), DAY, (point, other)


def _rated(rate: Quantity, other: Quantity) -> Iterator[_Step]:
    """A rate, applied to an amount of either side of it."""
    if rate.per is None or other.per is not None or not rate.value:
        return
    used = (rate, other)
    if other.dimension == rate.dimension:
        yield other.value / rate.value * rate.per.factor, rate.per.dimension, used
    if other.dimension == rate.per.dimension:
        yield other.value / rate.per.factor * rate.value, rate.dimension, used


def _in_two_steps(stated: Sequence[Quantity], asked: Sequence[Quantity]) -> Iterator[_Step]:
    """Many of a sum, a sum of several, each so many times."""
    counts = [each for each in asked if not each.dimension and each.value.denominator == 1]
    counts = counts[:TERMS]
    by_dimension: dict[str, list[Quantity]] = {}
    for each in stated:
        if each.dimension not in _NO_SUM and not each.per:
            by_dimension.setdefault(each.dimension, []).append(each)
    for dimension, known in by_dimension.items():
        for one, other in permutations(known[:TERMS], 2):
            for count in counts:
                yield (one.value + other.value) * count.value, dimension, (one, other, count)
                yield one.value * count.value + other.value, dimension, (one, other, count)
            for first, second in permutations(counts, 2):
                value = one.value * first.value + other.value * second.value
                yield value, dimension, (one, other, first, second)
        for many in range(3, min(len(known), TERMS) + 1):
            for start in range(len(known) - many + 1):
                row = known[start : start + many]
                yield sum((each.value for each in row), Fraction(0)), dimension, tuple(row)
    for dimension, known in by_dimension.items():
        for (one, other), third in product(combinations(known[:TERMS], 2), known[:TERMS]):
            if dimension and third not in {one, other}:
                yield abs(one.value - other.value) + third.value, dimension, (one, other, third)


def within(claim: str, fact: Fact, passage: str) -> tuple[int, int] | None:
    """Section 13 where the passage speaks of sections 12 to 15: of the same thing, in between."""
    before = words(claim[: fact.start])
    if not isinstance(fact.value, Number) or not fact.value.bare or not before:
        return None
    raw = fact.value.readings[0].raw
    for match in _RANGE.finditer(flat(passage)):
        named = words(passage[: match.start()])
        alike = named and stem(stem(named[-1].key)) == stem(stem(before[-1].key))
        if alike and int(match[1]) <= raw <= int(match[2]):
            return match.start(), match.end()
    return None
