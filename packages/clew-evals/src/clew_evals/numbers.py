"""The numbers of an answer, and whether one of them is the one that is wanted."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from clew.evidence.dates import dates
from clew.evidence.facts import links
from clew.evidence.numbers import PLAIN, RANK, NumberReading, numbers
from clew.evidence.numbers import Number as Figure
from clew.evidence.words import flat
from clew.interfaces import Json
from clew_evals.expected_types import NumberWithin, unit_of

_ITEM: Final = re.compile(r"^[ \t]*[*#>-]?[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_NOT_COUNTED: Final = frozenset({"first", "second"})
"""Words of order that are said without counting anything."""


def figures(text: str) -> list[Figure]:
    """The numbers of a text in order, in words too.

    The numbers of list items are none, nor are those in addresses; of a date it is the year.
    """
    plain = flat(text)
    apart = [(match.start(), match.end()) for match in _ITEM.finditer(plain)]
    apart += [(link.start, link.end) for link in links(text)]
    days = dates(plain)

    def counts(number: Figure) -> bool:
        if any(start <= number.start < end for start, end in apart):
            return False
        if plain[number.start : number.end].lower() in _NOT_COUNTED:
            return False
        for day in days:
            if day.start <= number.start < day.end:
                return number.year != 0 and number.year in {each.year for each in day.readings}
        return True

    return [number for number in numbers(plain) if counts(number)]


def nearest_figure(gold: NumberWithin, answer: Json, text: str) -> tuple[bool, Fraction | None]:
    """Whether the answer has the number, and the value of the one that comes nearest to it.

    `text` is the answer's. A number without a unit is taken to be in the unit of the gold.
    """
    target = _fraction(gold.number)
    allowed = max(_fraction(gold.tolerance), _fraction(gold.relative) * abs(target))
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        candidates = [_fraction(answer)]
    else:
        candidates = [value for each in figures(text) for value in _values(gold, each)]
    best = min(candidates, key=lambda value: abs(value - target), default=None)
    return best is not None and abs(best - target) <= allowed, best


def _values(gold: NumberWithin, number: Figure) -> Iterator[Fraction]:
    """What the number may be, in the unit of the gold; nothing where its own is of another kind."""
    for reading in number.readings:
        if not reading.rare:
            yield from _value(gold, reading)


def _value(gold: NumberWithin, reading: NumberReading) -> Iterator[Fraction]:
    units = unit_of(gold.unit)
    if not units or reading.unit == PLAIN:
        yield reading.raw
    for unit in units:
        if reading.unit.dimension == unit.dimension and reading.unit != RANK:
            yield reading.value / unit.factor


def _fraction(value: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(str(value))
