"""Whether a number or a date belongs in the passage to what the claim says it of."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from clew.evidence.antonyms import FUNCTION
from clew.evidence.claims import claims
from clew.evidence.dates import Date
from clew.evidence.facts import Fact, facts
from clew.evidence.numbers import Number
from clew.evidence.passages import IndexedText
from clew.evidence.stemming import stem
from clew.evidence.words import Word, words

NEAR: Final = 2
"""So many words on each side say what a value of a claim is of,"""
ROUND: Final = 3
"""and so many around a value of the passage."""


@dataclass(frozen=True)
class _Value:
    """A value of a passage: the stems around it, what it counts, and the number of its sentence."""

    fact: Fact
    passage: IndexedText
    around: frozenset[str]
    counted: str
    sentence: int


@dataclass(frozen=True)
class _Read:
    """A passage with its values, and the stems of each sentence."""

    values: Sequence[_Value]
    stems: Sequence[frozenset[str]]


def displaced(claim: str, passages: Sequence[str]) -> str:
    """The first value that the passage says of something else, and what it says of this.

    It objects only where nothing near the value in the passage is near it in the claim, another
    value of its kind there has such a neighbour, and the rest of the claim speaks for that one.
    """
    mine = _values(claim)
    around, all_stems = _Around(claim), _stems(claim)
    for fact in mine:
        near = around(fact, NEAR)
        for passage in passages:
            read = _read(passage)
            there = _recounted(fact, around.counted(fact), read)
            if there or (near and (there := _rival(fact, mine, near, all_stems, read))):
                return f"says {fact.text!r} where the passage says {there!r}"
    return ""


def _recounted(fact: Fact, counted: str, read: _Read) -> str:
    """Seven men where the passage has seven women and twelve men."""
    own = [value for value in read.values if value.passage.find(fact)]
    if not counted or not own or any(value.counted in {counted, ""} for value in own):
        return ""
    others = (value for value in read.values if value.counted == counted and value not in own)
    return next((value.fact.text for value in others if _comparable(fact, value.fact)), "")


def _rival(
    fact: Fact, mine: Sequence[Fact], near: frozenset[str], claim_stems: frozenset[str], read: _Read
) -> str:
    own = [value for value in read.values if value.passage.find(fact)]
    if not own or any(value.around & near for value in own):
        return ""
    for value in read.values:
        shared = len(value.around & near)
        if not shared or not _comparable(fact, value.fact):
            continue
        if any(value.passage.find(each) for each in mine):
            continue
        if any(value.sentence == each.sentence for each in own):
            if shared > 1:
                return value.fact.text
        elif len(claim_stems & read.stems[value.sentence]) > max(
            len(claim_stems & read.stems[each.sentence]) for each in own
        ):
            return value.fact.text
    return ""


def restated(claim: str, fact: Fact, passage: str) -> bool:
    """Whether the claim says a value of what the passage says another one of.

    Two words near it must stand near the other too, or what it counts must be counted there.
    """
    around, read = _Around(claim), _read(passage)
    near, counted = around(fact, NEAR), around.counted(fact)
    return any(
        _comparable(fact, value.fact)
        and (len(value.around & near) > 1 or (counted and counted == value.counted))
        for value in read.values
    )


def _comparable(fact: Fact, other: Fact) -> bool:
    """Whether both are days, times of day, or numbers of one dimension."""
    match fact.value, other.value:
        case Number(), Number():
            mine = {reading.unit.dimension for reading in fact.value.readings}
            return fact.kind == other.kind and any(
                reading.unit.dimension in mine for reading in other.value.readings
            )
        case (Date(), Number()) | (Number(), Date()):
            return fact.kind == other.kind and not _clock(fact) and not _clock(other)
        case _:
            return fact.kind == other.kind and _clock(fact) == _clock(other)


def _clock(fact: Fact) -> bool:
    return isinstance(fact.value, Date) and bool(fact.value.minutes)


@lru_cache(maxsize=256)
def _read(text: str) -> _Read:
    parts = claims(text)
    values: list[_Value] = []
    for index, part in enumerate(parts):
        around = _Around(part.text)
        for fact in _values(part.text):
            piece = IndexedText(fact.text)
            values.append(_Value(fact, piece, around(fact, ROUND), around.counted(fact), index))
    return _Read(values, [_stems(part.text) for part in parts])


def _values(text: str) -> list[Fact]:
    return [fact for fact in facts(text) if isinstance(fact.value, Number | Date)]


def _stems(text: str) -> frozenset[str]:
    return frozenset(base for _, base in _content_words(text))


def _content_words(text: str) -> Iterator[tuple[Word, str]]:
    """The words that say something, with their stems."""
    for word in words(text):
        if word.key not in FUNCTION and not word.text[0].isdigit():
            yield word, stem(word.key)


class _Around:
    """The words of a text, to be asked which stand around a value."""

    def __init__(self, text: str) -> None:
        content_words = [*_content_words(text)]
        self._text = text
        self._stems = [base for _, base in content_words]
        self._begins = [word.start for word, _ in content_words]
        self._ends = [word.end for word, _ in content_words]

    def __call__(self, fact: Fact, count: int) -> frozenset[str]:
        """The stems of so many words on each side."""
        before = bisect_right(self._ends, fact.start)
        after = bisect_left(self._begins, fact.end)
        return frozenset(
            (*self._stems[max(0, before - count) : before], *self._stems[after : after + count])
        )

    def counted(self, fact: Fact) -> str:
        """What a bare number counts: the stem of the word right behind it."""
        if not isinstance(fact.value, Number) or fact.value.readings[0].unit.dimension:
            return ""
        after = bisect_left(self._begins, fact.end)
        near = after < len(self._begins) and self._text[fact.end : self._begins[after]] == " "
        return self._stems[after] if near else ""
