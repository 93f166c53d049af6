"""Numbers in a text: their value, how precisely they are written, and their unit.

A number may be readable in several ways (1.234 is a thousand or a fraction, 5m are metres or
millions): then it has several readings, and two numbers agree if any two of their readings do.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, NamedTuple, TypeAlias

from clew.evidence.units import (
    ATTACHED,
    MULTIPLIERS_IN_WORDS,
    ORDINALS,
    SCALES,
    SHARES,
    SYMBOLS,
    TWOFOLD,
    UNITS_IN_WORDS,
    WORDS,
    Unit,
)
from clew.support.lazy_regex import Lazy

About: TypeAlias = Literal["", "about", "over", "under"]
"""How a number is hedged: not at all, or with a word such as about, more than, nearly."""


class NumberReading(NamedTuple):
    """One way to read a number: as it is written, its last written place, and its unit."""

    raw: Fraction
    step: Fraction
    unit: Unit
    rare: bool = False
    """1,234 as a fraction: possible, but it is compared strictly."""

    @property
    def value(self) -> Fraction:
        """The number in the base unit of its dimension."""
        return self.raw * self.unit.factor

    @property
    def width(self) -> Fraction:
        """The last written place in the base unit."""
        return self.step * self.unit.factor


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in a text; `bare` says that it has no unit and no decimals."""

    start: int
    end: int
    readings: tuple[NumberReading, ...]
    about: About = ""
    bare: bool = False

    @property
    def year(self) -> int:
        """The year it may be, or 0."""
        raw = self.readings[0].raw
        return int(raw) if self.bare and 1000 <= raw <= 2100 else 0


PLAIN: Final = Unit("")
YEAR: Final = Fraction(31557600)
"""The seconds of a year, as months are compared with weeks and days."""
RANK: Final = SYMBOLS["th"]
"""The unit of ordinals, so that "a second" is not two of anything."""
_DIGITS: Final = (
    r"\d{1,3}(?:(?P<sep>[,.' ])\d{3})(?:(?P=sep)\d{3}){0,6}(?:[.,]\d{1,20})?(?![\d'])"
    r"|\d{1,2}(?:,\d{2}){1,6},\d{3}(?!\d)"
    r"|\d{1,300}(?:[.,]\d{1,300})?|\.\d{1,300}"
)
_NUMBER: Final = Lazy(
    r"(?<![^\W])(?<!\d[.,])(?:(?P<money>US\$|[$€£¥₹]|(?:USD|EUR|GBP|JPY|CHF|NOK|SEK|DKK)(?= )) ?)?"
    rf"(?P<sign>(?<![\w)\]%])-)?(?P<digits>{_DIGITS})(?P<part> ?[½¼¾⅓⅔]|/\d{{1,4}}(?![\d/]))?"
    r"(?P<power> ?[x×*] ?10\^?(?P<exp>-?\d{1,3})|[eE](?P<e>[+-]?\d{1,3})(?!\w))?"
    r"|(?<!\w)(?P<vulgar>[½¼¾⅓⅔])"
)
_VULGAR: Final = {
    "½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
}  # fmt: skip
_AFTER: Final = Lazy(
    r"(?P<gap>[ -]?)(?P<word>[%‰℃℉]|[€£$¥₹](?! ?\d)|°(?: ?[CF](?!\w))?"
    r"|[^\W\d_]{1,20}(?:/[hs](?!\w)|[²³23](?!\w))?)"
)
_MORE: Final = Lazy(r"(?: [^\W\d_]{1,20}){1,2}")
_ORDINAL: Final = Lazy(r"(?:st|nd|rd|th|er|e|º|ª)(?!\w)")
_ABOUT: Final = Lazy(
    r"(?P<over>over|more than|at least|exceeding|exceeds?|exceeded|topped|tops"
    r"|surpass(?:es|ed)|passed|above|upwards of|über|mehr als|plus de|más de"
    r"|oltre)"
    r"|(?P<under>nearly|almost|under|less than|fewer than|just short of|below|up to|fast|knapp"
    r"|près de|presque|casi|quasi)"
    r"|(?:about|around|approximately|approx\.?|roughly|some|circa|c\.|ca\.?|close to|or so|etwa"
    r"|rund|ungefähr|environ|unos|unas|cerca de|[~≈∼])",
    re.IGNORECASE,
)
_BEFORE: Final = Lazy(r"(?<!\w)([\w.~≈∼]+(?: [\w.]+)?) ?(?:US\$|[$€£¥₹])? ?$")
_FIRST: Final = "|".join(sorted((*UNITS_IN_WORDS, "hundred", "dozen"), key=len, reverse=True))
_FURTHER: Final = "|".join((*UNITS_IN_WORDS, *MULTIPLIERS_IN_WORDS))
_SPELLED: Final = Lazy(
    rf"(?<![\w-])(?:{_FIRST})(?:(?: |-| and )(?:{_FURTHER})){{0,8}}(?!\w)"
    r"(?!-(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth))",
    re.IGNORECASE,
)
_ORDINAL_WORD: Final = Lazy(
    r"(?<![\w-])(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + r")(?!\w)", re.IGNORECASE
)
_SHARE: Final = Lazy(
    r"(?<![\w-])(?P<share>" + "|".join(word.replace(" ", "[ -]") for word in SHARES) + r")(?!\w)"
    r"(?! (?:time|of a |year|day|place|party|person|floor|century|edition|game|title|season))",
    re.IGNORECASE,
)


def numbers(text: str) -> list[Number]:
    """All numbers of a text (made plain by `flat`), in order, each once; linear in its length."""
    listed = [number for match in _NUMBER.finditer(text) if (number := _written(match, text))]
    spelled = [number for match in _SPELLED.finditer(text) for number in _in_words(match, text)]
    ordinal = [
        Number(match.start(), match.end(), (_ordinal(match[0]),))
        for match in _ORDINAL_WORD.finditer(text)
    ]
    shares = [_share(match, text) for match in _SHARE.finditer(text)]
    taken = {each.start for each in shares} | {each.end for each in shares}
    others = [
        each
        for each in (*listed, *spelled, *ordinal)
        if each.start not in taken and each.end not in taken
    ]
    return sorted([*others, *shares], key=lambda number: number.start)


def _share(match: re.Match[str], text: str) -> Number:
    """A third: the fraction, and the 33 % it is when it is written in whole per cent."""
    above, below = SHARES[match["share"].lower().replace("-", " ")]
    value, about = Fraction(above, below), _hedge(text, match.start())
    step = Fraction(1, 10 if about else 1000)
    percent = NumberReading(100 * value, 10 * step if about else Fraction(2), SYMBOLS["%"])
    return Number(match.start(), match.end(), (NumberReading(value, step, PLAIN), percent), about)


def _ordinal(word: str) -> NumberReading:
    return NumberReading(Fraction(ORDINALS[word.lower()]), Fraction(1), RANK)


def _written(match: re.Match[str], text: str) -> Number | None:
    """A number in digits with all that belongs to it; None where it is part of a longer token."""
    if vulgar := match["vulgar"]:
        reading = NumberReading(_VULGAR[vulgar], Fraction(1, 12), PLAIN)
        return Number(match.start(), match.end(), (reading,))
    part, power = match["part"] or "", int(match["exp"] or match["e"] or 0)
    times = Fraction(10) ** power * (-1 if match["sign"] else 1)
    about = _hedge(text, match.start())
    end, units, more = _measured(text, match.end(), match["money"] or "")
    if end < 0:
        return None
    readings: list[NumberReading] = []
    for value, step, rare in _values(match["digits"], match["sep"], part):
        width = max(step, _roundness(value)) if about else step
        for scale, unit in units:
            readings.append(
                NumberReading(value * times * scale, width * abs(times) * scale, unit, rare)
            )
    bare = match["digits"].isdigit() and not (more or match["money"] or part or power)
    return Number(match.start(), end, tuple(readings), about, bare)


def _values(digits: str, sep: str | None, part: str) -> list[tuple[Fraction, Fraction, bool]]:
    """What the digits can mean, with the last written place, and whether that is rare."""
    integer = Fraction(int(re.sub(r"\D", "", digits)))
    if part.startswith("/"):
        below = int(part[1:]) or 1
        return [(integer / below, Fraction(1, 1000) if below > 1 else Fraction(1), False)]
    if part:
        return [(integer + _VULGAR[part.strip()], Fraction(1, 12), False)]
    marks = re.findall(r"\D", digits)
    last = max(digits.rfind("."), digits.rfind(","))
    decimals = len(digits) - last - 1
    grouped = (integer, Fraction(1), False)
    if not marks or (sep is None and len(marks) > 1):  # 1234 and 12,34,567
        return [grouped]
    if sep is not None and len(set(marks)) == 1 and (len(marks) > 1 or sep in " '"):
        return [grouped]
    broken = (_decimal(digits, last), Fraction(1, 10**decimals), False)
    if sep is None or len(set(marks)) > 1:  # 12.5 and 1,234.56
        return [broken]
    if sep == ".":  # 1.234 is a fraction first, 1,234 a thousand
        return [broken, grouped]
    return [grouped, (broken[0], broken[1], True)]


def _decimal(digits: str, last: int) -> Fraction:
    integer, decimals = re.sub(r"\D", "", digits[:last]), digits[last + 1 :]
    return Fraction(int(integer + decimals), 10 ** len(decimals))


def _roundness(value: Fraction) -> Fraction:
    """The place of the last digit that is not zero, for an integer; of a 5 there, half the next."""
    if value.denominator != 1 or not value:
        return Fraction(0)
    size, step = abs(int(value)), 1
    while size % 10 == 0:
        size, step = size // 10, step * 10
    return Fraction(step * 5 if size % 10 == 5 and size > 5 else step)


def _hedge(text: str, start: int) -> About:
    """How the number that begins here is hedged by the words before it."""
    before = text[max(0, start - 24) : start]
    if not (match := _BEFORE.search(before)):
        return ""
    hedge = match[1]
    for piece in (hedge, hedge.rpartition(" ")[2]):
        if about := _ABOUT.fullmatch(piece):
            return "over" if about["over"] else "under" if about["under"] else "about"
    return ""


def _measured(text: str, end: int, money: str) -> tuple[int, list[tuple[int, Unit]], bool]:
    """Where the number ends with its scale and unit, what they may be, and whether there are any.

    The end is -1 where letters follow that make it another token (3D).
    """
    if text[end : end + 1].isalnum() and (ordinal := _ORDINAL.match(text, end)):
        return ordinal.end(), [(1, RANK)], True
    after, scale = _AFTER.match(text, end), 1
    attached = after is not None and not after["gap"]
    times = ATTACHED.get(after["word"]) if after is not None and attached else None
    if money:
        if after is not None and times:
            return after.end(), [(times, SYMBOLS[money])], True
        scale, end = _scaled(after, end)
        return end, [(scale, SYMBOLS[money])], True
    scale, end = _scaled(after, end)
    if scale > 1:
        after, attached = _AFTER.match(text, end), False
    matched_unit, units = _unit(text, after)
    several = [(scale, unit) for unit in units]
    if times:  # 5m are metres first, 5k thousands
        several.insert(0 if times == 1000 else len(several), (times, PLAIN))
    if several:
        return matched_unit, several, True
    if after is not None and attached and after["word"][0].isascii() and after["word"].isalpha():
        return -1, [], False
    return end, [(scale, PLAIN)], scale > 1


def _scaled(after: re.Match[str] | None, end: int) -> tuple[int, int]:
    """By what the word that follows multiplies, and where it ends."""
    times = SCALES.get(after["word"].lower()) if after is not None else None
    return (times, after.end()) if after is not None and times else (1, end)


def _unit(text: str, after: re.Match[str] | None) -> tuple[int, tuple[Unit, ...]]:
    """The unit that follows, the longest of one to three words, and where it ends."""
    if after is None:
        return 0, ()
    word, more = after["word"], _MORE.match(text, after.end())
    following = more[0].split(" ")[1:] if more else []
    for count in range(len(following), 0, -1):
        name = " ".join((word, *following[:count]))
        if unit := WORDS.get(name) or WORDS.get(name.lower()):
            return after.end() + len(name) - len(word), (unit,)
    if unit := SYMBOLS.get(word) or WORDS.get(word) or WORDS.get(word.lower()):
        if unit.dimension == "year" and unit.factor < 1:  # months are also so many days
            return after.end(), (unit, Unit("s", unit.factor * YEAR))
        return after.end(), (unit,)
    return after.end(), TWOFOLD.get(word.lower(), ())


def _in_words(match: re.Match[str], text: str) -> Iterator[Number]:
    """A number in words: "twenty-one", "two hundred and five"."""
    total = current = 0
    for word in re.split(r" and | |-", match[0].lower()):
        if word in UNITS_IN_WORDS:
            current += UNITS_IN_WORDS[word]
        elif MULTIPLIERS_IN_WORDS[word] < 1000:
            current = max(current, 1) * MULTIPLIERS_IN_WORDS[word]
        else:
            total, current = total + max(current, 1) * MULTIPLIERS_IN_WORDS[word], 0
    end, units, _ = _measured(text, match.end(), "")
    about = _hedge(text, match.start())
    value = Fraction(total + current)
    step = max(Fraction(1), _roundness(value)) if about else Fraction(1)
    readings = tuple(NumberReading(value * scale, step * scale, unit) for scale, unit in units)
    yield Number(match.start(), end, readings, about)


def agree(claimed: Number, source: Number) -> bool:
    """Whether a claim may say `claimed` where a passage says `source`.

    Equal values agree, and so does what is rounded to the last place that the claim writes: behind
    "about" that is its last digit but zeros. A unit may be left out; then little is rounded, and
    nothing where it is the passage that has none. What the passage itself rounds more coarsely
    bears nothing out.
    """
    return any(
        _agree(mine, theirs, claimed.about)
        for mine in claimed.readings
        for theirs in source.readings
    )


def _agree(mine: NumberReading, theirs: NumberReading, about: About) -> bool:
    same = mine.unit.dimension == theirs.unit.dimension
    ranked = RANK in {mine.unit, theirs.unit}
    if not same and (ranked or (mine.unit.dimension and theirs.unit.dimension)):
        return False
    if same:
        claimed, real, step, fine = mine.value, theirs.value, mine.width, theirs.width
    else:
        claimed, real, step, fine = mine.raw, theirs.raw, mine.step, theirs.step
    if mine.rare or theirs.rare:
        return claimed == real and fine == step
    if claimed == real:
        return True
    if same and _converted(mine, theirs) and abs(claimed - real) <= step / 2:
        return True
    if fine > step or (not same and (mine.unit.dimension or step * 10 > abs(claimed))):
        return False
    if about == "over" and claimed <= real < claimed + step:
        return True
    if about == "under" and claimed - step < real <= claimed:
        return True
    wide = step / 2 + _slack(mine, theirs)
    return claimed - wide <= real < claimed + wide


def _converted(mine: NumberReading, theirs: NumberReading) -> bool:
    """Whether one unit is no decimal multiple of the other."""
    ratio = theirs.unit.factor / mine.unit.factor
    return not set(str(max(ratio, 1 / ratio))) <= {"1", "0"}


def _slack(mine: NumberReading, theirs: NumberReading) -> Fraction:
    """What the passage may have rounded itself, where units are converted that are no decimals."""
    return theirs.width / 2 if _converted(mine, theirs) else Fraction(0)
