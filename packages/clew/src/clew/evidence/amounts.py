"""The amounts of a text that can be reckoned with: counts, measures, years, days, times of day."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from clew.evidence.dates import Date, dates
from clew.evidence.numbers import RANK, Number, numbers
from clew.evidence.units import SYMBOLS, WORDS, Unit
from clew.evidence.words import flat
from clew.support.lazy_regex import Lazy

CALENDAR: Final = "calendar year"
"""The dimension of a year that is named, such as 1902."""
DAY: Final = "day of the calendar"
"""The dimension of a whole date, in days."""
CLOCK: Final = "clock"
"""The dimension of a time of day, in minutes."""
FACTOR: Final = "factor"
"""The dimension of twice, half and a third."""
MAX_AMOUNTS: Final = 24
"""So many amounts of a text are reckoned with, the first ones."""

_UNIT: Final = r"(?P<unit>[^\W\d_]{1,20}(?:[²³](?!\w))?)(?!\w)"
_ONE: Final = Lazy(
    rf"(?<!\w)(?:(?P<half>half|halb\w*|medio|media|mezz[ao]|demi\w*)[ -](?:(?:an?|of an?) )?"
    rf"|(?:an?|eine?[nmrs]?|une?|una|een) ){_UNIT}",
    re.IGNORECASE,
)
_PER: Final = Lazy(rf" ?(?:/|per|an?|each|every|pro|par|por|al|je|im)(?: |(?<=/)){_UNIT}")
_FACTORS: Final = Lazy(
    r"(?<!\w)(?:(?P<two>twice|double|doubled|doppelt|doble|(?:deux|zwei|dos) (?:fois|mal|veces))"
    r"|(?P<three>triple|tripled|thrice|(?:three|drei|trois|tres) (?:times|mal|fois|veces))"
    r"|(?P<half>half|halved|halb|hälfte|moitié|mitad|metà))(?!\w)",
    re.IGNORECASE,
)
_AND: Final = Lazy(r" ?(?:, ?)?(?:(?:and|y|et|und|e|en|i) )?")
_TIMES: Final = {"two": Fraction(2), "three": Fraction(3), "half": Fraction(1, 2)}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in the base unit of its dimension, and where it is written.

    A rate (7 m² per litre) also has the unit that it is `per`.
    """

    value: Fraction
    dimension: str
    start: int
    end: int
    per: Unit | None = None


@lru_cache(maxsize=256)
def amounts(text: str) -> Sequence[Quantity]:
    """The amounts of a text in order, the first `MAX_AMOUNTS` of them; one may be there in two
    ways.
    """
    plain = flat(text)
    days = dates(plain)
    taken = [(each.start, each.end) for each in days]
    dated = [amount for each in days for amount in _dated(each)]
    for number in numbers(plain):
        if not any(start <= number.start < end for start, end in taken):
            dated += _counted(number, plain)
            taken.append((number.start, number.end))
    for match in _ONE.finditer(plain):
        unit = _unit(match["unit"])
        if unit and not any(start <= match.start() < end for start, end in taken):
            value = unit.factor / (2 if match["half"] else 1)
            dated.append(Quantity(value, unit.dimension, match.start(), match.end()))
    for match in _FACTORS.finditer(plain):
        times = _TIMES[match.lastgroup or ""]
        dated.append(Quantity(times, FACTOR, match.start(), match.end()))
    dated.sort(key=lambda amount: amount.start)
    return [*dated[:MAX_AMOUNTS], *_compound(dated[:MAX_AMOUNTS], plain)]


def _compound(quantities: Sequence[Quantity], text: str) -> Iterator[Quantity]:
    """An hour and 45 minutes: both together."""
    for one, other in pairwise(quantities):
        falling = one.dimension == other.dimension == "s" and one.value > other.value
        if falling and _AND.fullmatch(text, one.end, other.start):
            yield Quantity(one.value + other.value, "s", one.start, other.end)


def _unit(word: str) -> Unit | None:
    return WORDS.get(word) or WORDS.get(word.lower()) or SYMBOLS.get(word)


def _dated(date: Date) -> Iterator[Quantity]:
    for minutes in date.minutes:
        yield Quantity(Fraction(minutes), CLOCK, date.start, date.end)
    for day in date.readings:
        if day.year > 0:
            yield Quantity(Fraction(day.year), CALENDAR, date.start, date.end)
        if (ordinal := ordinal_of(day.year, day.month, day.day)) is not None:
            yield Quantity(Fraction(ordinal), DAY, date.start, date.end)


def ordinal_of(year: int, month: int, day: int) -> int | None:
    """The number of a day in the calendar; None unless all of it is known."""
    try:
        return dt.date(year, month, day).toordinal()
    except (ValueError, OverflowError):
        return None


def _counted(number: Number, text: str) -> Iterator[Quantity]:
    if number.year:
        yield Quantity(Fraction(number.year), CALENDAR, number.start, number.end)
    for reading in number.readings:
        if reading.rare or reading.unit == RANK:
            continue
        share = not reading.unit.dimension and reading.raw.denominator > 1
        dimension = FACTOR if share and reading.raw < 1 else reading.unit.dimension
        yield Quantity(reading.value, dimension, number.start, number.end)
        rate = _PER.match(text, number.end)
        if rate and (unit := _unit(rate["unit"])):
            yield Quantity(reading.value, dimension, number.start, rate.end(), unit)
