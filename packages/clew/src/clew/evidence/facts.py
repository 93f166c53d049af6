"""Facts: what can be checked in a text without understanding it.

Numbers, dates, names, quotations and links, each in a normal form in which all notations of one
value are equal. Everything here is a pure function, linear in the length of the text.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote

from clew.evidence.dates import Date, dates
from clew.evidence.names import Name, names
from clew.evidence.numbers import Number, numbers
from clew.evidence.units import COMMONPLACE
from clew.evidence.words import flat, words
from clew.support.lazy_regex import Lazy

Kind: TypeAlias = Literal["number", "date", "name", "quotation", "link"]
Stretch: TypeAlias = tuple[int, int]

_LINK: Final = Lazy(
    r"(?:https?://|www\.|file:)[^\s<>\"“”«»|\]\[{}]{1,2000}|(?<![\w.@])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
)
_QUOTED: Final = Lazy(
    r"“([^“”]{1,2000})”|«\s?([^«»]{1,2000}?)\s?»|„([^„“”]{1,2000})[“”]|(?<!\w)\"([^\"\n]{1,2000})\""
    r"|「([^「」]{1,2000})」|『([^『』]{1,2000})』|(?<!\w)‘([^‘’]{1,2000})’(?!\w)"
)
_OF_THE_TWO: Final = Lazy(r".{0,7}?\bthe two(?=\W|$)(?! \w)", re.IGNORECASE)
_TRAILING: Final = ".,;:!?'*_\"”’"
_GAP: Final = Lazy(r"\s*(?:\[(?:…|\.\.\.)\]|…|\.\.\.)\s*")


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address as it stands in a text; `key` is what is compared."""

    start: int
    end: int
    key: str


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words in quotation marks; each of its `pieces` (between ellipses) is a row of word keys."""

    start: int
    end: int
    pieces: tuple[tuple[str, ...], ...]


Value: TypeAlias = Number | Date | Name | Quotation | WebAddress


@dataclass(frozen=True, slots=True)
class Fact:
    """A checkable part of a text: its kind, its position, and its value for comparison.

    A year is a number by its value and a date by its kind.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: Value


def facts(text: str, masked: Sequence[Stretch] = ()) -> list[Fact]:
    """The facts of a claim in order, none of them in a masked stretch (its citations).

    What stands inside a quotation or a link is covered by it. Words such as "one" and "first" are
    no facts, and neither are capitals that only begin a sentence with an ordinary word.
    """
    plain = flat(text)
    taken = sorted(masked)
    listed: list[Fact] = []

    def take(kind: Kind, values: Sequence[Value]) -> None:
        free: list[Value] = []
        for value in values:
            apart = not free or value.start >= free[-1].end
            if apart and not _overlaps(value, taken):
                free.append(value)
        listed.extend(
            Fact(kind, text[value.start : value.end], value.start, value.end, value)
            for value in free
        )
        taken.extend((value.start, value.end) for value in free)
        taken.sort()

    take("link", links(text))
    take("quotation", quotations(text))
    take("date", dates(plain))
    figures = [each for each in numbers(plain) if not _commonplace(each, text)]
    take("date", [each for each in figures if each.year])
    take("number", figures)
    take("name", names(text, taken))
    return sorted(listed, key=lambda fact: fact.start)


def _overlaps(value: Value, taken: Sequence[Stretch]) -> bool:
    at = bisect_right(taken, (value.start, 1 << 60)) - 1
    before = at >= 0 and taken[at][1] > value.start
    return before or (at + 1 < len(taken) and taken[at + 1][0] < value.end)


def _commonplace(number: Number, text: str) -> bool:
    """Said for other reasons than to count, or the number of a list item."""
    written = text[number.start : number.end]
    if _OF_THE_TWO.match(text, max(0, number.start - 8)):
        return True
    if (
        re.split(r"\W", written.lower(), maxsplit=1)[0] in COMMONPLACE
        and "hundred" not in written.lower()
    ):
        return True
    listed = not text[: number.start].strip(" \t#*>-") if number.start < 12 else False
    return listed and text[number.end : number.end + 1] in {".", ")"} and len(written) <= 3


def links(text: str) -> list[WebAddress]:
    """All addresses of a text, without punctuation that follows them."""
    addresses: list[WebAddress] = []
    for match in _LINK.finditer(text):
        address = _ended(match[0])
        if key := link_key(address):
            addresses.append(WebAddress(match.start(), match.start() + len(address), key))
    return addresses


def _ended(address: str) -> str:
    """An address without what follows it: a closing parenthesis stays where one was opened."""
    open_ones = address.count("(") - address.count(")")
    end = len(address)
    while end and (address[end - 1] in _TRAILING or (address[end - 1] == ")" and open_ones < 0)):
        open_ones += address[end - 1] == ")"
        end -= 1
    return address[:end]


def link_key(address: str) -> str:
    """An address without scheme, `www.`, fragment, trailing slash and percent signs' detours."""
    bare = re.sub(r"^(?:https?://|file:/*)", "", unquote(address), flags=re.IGNORECASE)
    bare = bare.partition("#")[0]
    host, slash, path = bare.partition("/")
    host = host.lower().removeprefix("www.")
    return (host + slash + path).rstrip("/")


def quotations(text: str) -> list[Quotation]:
    """All stretches in quotation marks that hold a word; inches and apostrophes are none."""
    quoted: list[Quotation] = []
    for match in _QUOTED.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        pieces = tuple(
            row for piece in _GAP.split(inner) if (row := tuple(w.key for w in words(piece)))
        )
        if any(letter.isalpha() for letter in inner) and pieces:
            quoted.append(Quotation(match.start(), match.end(), pieces))
    return quoted


def normal(fact: Fact) -> str:
    """The fact in its normal form: `1200 m`, `1818-01-01`, `mary shelley`."""
    match fact.value:
        case Number():
            return numeral(fact.value)
        case Date():
            return dated(fact.value)
        case Name():
            return " ".join(fact.value.keys)
        case Quotation():
            return " … ".join(" ".join(piece) for piece in fact.value.pieces)
        case _:
            return fact.value.key


def figure(value: Fraction) -> str:
    """A number as a decimal numeral without an exponent, or as a fraction where it has none."""
    rest, decimals = value.denominator, 0
    while rest % 10 == 0:
        rest, decimals = rest // 10, decimals + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, decimals = rest // prime, decimals + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**decimals // value.denominator).rjust(decimals + 1, "0")
    integer, broken = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return ("-" if value < 0 else "") + integer + (f".{broken}" if broken else "")


def numeral(number: Number) -> str:
    """A number in the base unit of its dimension, in its first reading."""
    reading = number.readings[0]
    return f"{figure(reading.value)} {reading.unit.dimension}".rstrip()


def dated(date: Date) -> str:
    """A date or time in ISO form, of what is known of it: 1818-01-01, 1818-01, --01-01, 14:30."""
    if date.minutes:
        return f"{date.minutes[0] // 60:02}:{date.minutes[0] % 60:02}"
    if date.first < 0:
        return f"{-date.first // 100}th century bc"
    if date.last:
        decade = date.first % 10 == 0 and date.last % 10 == 9
        return f"{date.first}s" if decade else f"{date.last // 100}th century"
    year, month, day = date.readings[0]
    if not month:
        return "; ".join(f"{-y} bc" if y < 0 else str(y) for y, _, _ in date.readings)
    pieces = [f"{year:04}" if year else "-", *(f"{part:02}" for part in (month, day) if part)]
    return "-".join(pieces)
