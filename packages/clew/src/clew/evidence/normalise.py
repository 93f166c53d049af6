"""Texts in a normal form, for comparing answers that say the same in other formats."""

from bisect import bisect_right
from typing import Final

from clew.evidence.common import ARTICLES
from clew.evidence.dates import dates
from clew.evidence.facts import dated, numeral
from clew.evidence.numbers import numbers
from clew.evidence.words import flat, words

MAX_ROUNDS: Final = 8
"""A word may fold to one that is read as a number, and so on; nobody writes more of them."""


def normalised(text: str) -> str:
    """A text without case, punctuation, accents and articles; numbers, dates and units normalised.

    "The bridge: 1,200 m." and "bridge 1.2 km" give the same text. It is idempotent.
    """
    for _ in range(MAX_ROUNDS):  # pragma: no branch - no text is known that needs them all
        once = _once(text)
        if once == text:
            break
        text = once
    return text


def _once(text: str) -> str:
    """Values in their normal form, set off by semicolons so that nothing grows together."""
    plain = flat(text)
    values = [(date.start, date.end, dated(date)) for date in dates(plain)]
    taken = [(start, end) for start, end, _ in values]
    for number in numbers(plain):
        before = bisect_right(taken, (number.start, 1 << 60)) - 1
        if before < 0 or taken[before][1] <= number.start:
            values.append((number.start, number.end, numeral(number)))
    values.sort()
    items = [(start, value, True) for start, _, value in values]
    taken = [(start, end) for start, end, _ in values]
    for word in words(plain):
        before = bisect_right(taken, (word.start, 1 << 60)) - 1
        free = before < 0 or taken[before][1] <= word.start
        overlapped = before + 1 < len(taken) and taken[before + 1][0] < word.end
        if free and not overlapped and word.key and word.key not in ARTICLES:
            items.append((word.start, word.key, word.key[0].isdigit()))
    return _joined([(value, isolated) for _, value, isolated in sorted(items)])


def _joined(items: list[tuple[str, bool]]) -> str:
    text, apart = "", False
    for value, isolated in items:
        text += ("; " if apart or isolated else " ") if text else ""
        text += value
        apart = isolated
    return text
