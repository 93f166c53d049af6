"""Dates in a text: whole and partial ones, in the formats of several languages."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from clew.evidence.units import ORDINALS
from clew.support.lazy_regex import Lazy


class Day(NamedTuple):
    """A date, or part of one: what is not said is 0. Years before Christ are negative."""

    year: int = 0
    month: int = 0
    day: int = 0


@dataclass(frozen=True, slots=True)
class Date:
    """A date as it stands in a text, in each way it can be read.

    A decade or a century has the years `first` to `last` and no readings; a time of day has its
    `minutes` since midnight, once or in both halves of the day.
    """

    start: int
    end: int
    readings: tuple[Day, ...] = ()
    first: int = 0
    last: int = 0
    minutes: tuple[int, ...] = ()


_MONTHS: Final = (
    "january jan januar jänner janvier enero gennaio janeiro januari",
    "february feb februar février febrero febbraio fevereiro februari",
    "march mar märz mars marzo março maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto augustus",
    "september sept sep septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro desember",
)
MONTHS: Final = {
    name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()
}
_MONTH: Final = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")(?!\w)\.?"
_DAY: Final = r"\d{1,2}(?!\d)(?:st|nd|rd|th|er|º|\.)?"
_OF: Final = r"(?: (?:of|de|di|del))?,? "
_YEAR: Final = r"\d{3,4}(?![\d%]|[.,]\d)"
_NAMED: Final = Lazy(
    rf"(?<!\w)(?:(?P<from>{_DAY}) ?(?:-|–|and|to|und|bis|y|et|au|al) ?)?(?P<day>{_DAY}){_OF}"
    rf"(?P<month>{_MONTH})(?:(?: of| de| del| di|,)? (?P<year>{_YEAR}))?"
    rf"|(?<!\w)(?P<month2>{_MONTH}) (?P<day2>{_DAY})"
    rf"(?: ?(?:-|–|and|to) ?(?P<to2>{_DAY})(?! ?{_MONTH}))?(?:,? (?P<year2>{_YEAR}))?(?!\w)"
    rf"|(?<!\w)(?P<month3>{_MONTH})(?: of| de| del|,)? (?P<year3>{_YEAR})"
    rf"|(?<!\w)(?:in|of|since|until|by|from|during|early|late|mid|im|en|em|seit|bis)[ -]"
    rf"(?P<month4>{_MONTH})(?! ?\d|,? (?:of |de |del )?\d{{4}})",
    re.IGNORECASE,
)
_ISO: Final = Lazy(
    r"(?<![\w.-])(?P<y>\d{4})(?P<mark>[-/])(?P<m>0[1-9]|1[0-2])"
    r"(?:(?P=mark)(?P<d>0[1-9]|[12]\d|3[01]))?(?![\d/-])"
    r"|(?<![\w.-])--(?P<m2>0[1-9]|1[0-2])(?:-(?P<d2>0[1-9]|[12]\d|3[01]))?(?![\w-])"
)
_FIGURES: Final = Lazy(
    r"(?<![\w./-])(?P<a>\d{1,2})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<y>\d{4}|\d{2})(?![\w/-])"
)
_EAST: Final = Lazy(
    r"(?P<y>\d{3,4}) ?[年년](?: ?(?P<m>\d{1,2}) ?[月월](?: ?(?P<d>\d{1,2}) ?[日일])?)?"
    r"|(?P<m2>\d{1,2}) ?[月월] ?(?P<d2>\d{1,2}) ?[日일]"
)
_BEFORE_CHRIST: Final = Lazy(
    r"(?<!\w)(?P<y>\d{1,4}) ?(?:(?:BCE?|bc)(?!\w)|B\.C\.(?:E\.)?"
    r"|v\. ?Chr\.|av\. J\.-C\.|a\. ?C\.)"
)
_DECADE: Final = Lazy(r"(?<![\w.,])(?P<y>\d{3}0)'?(?:s(?!\w)|er(?!\w)(?: Jahre\w*)?)")
_CENTURY: Final = Lazy(
    r"(?<!\w)(?:(?P<n>\d{1,2})(?:st|nd|rd|th|\.|e|º)?|(?P<w>"
    + "|".join(sorted(ORDINALS, key=len, reverse=True))
    + r"))[ -](?:century|centuries|Jahrhunderts?|siècle)(?P<bc> BCE?(?!\w))?",
    re.IGNORECASE,
)
_YEARS: Final = Lazy(r"(?<![\w.,-])(?P<y>1\d{3}|20\d{2}) ?[-–/] ?(?P<z>\d{2})(?![\w-]|[.,]\d)")
_CLOCK: Final = Lazy(
    r"(?<![\w.,:])(?P<h>[01]?\d|2[0-4])(?::(?P<min>[0-5]\d)(?::[0-5]\d)?(?! ?[ap]\.?m)(?![\d:])"
    r"|(?:[:.](?P<min2>[0-5]\d))? ?(?P<half>[ap])(?:\.m\.|m(?!\w)))",
    re.IGNORECASE,
)
_HOURS: Final = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
         "twelve"], start=1,
    )
}  # fmt: skip
_HOUR: Final = "(?P<{0}>" + "|".join(_HOURS) + r"|1[0-2]|[1-9])(?!\w)"
_SPOKEN_CLOCK: Final = Lazy(
    rf"(?<!\w)(?:(?P<part>half|quarter) past {_HOUR.format('h')}"
    rf"|quarter to {_HOUR.format('h2')}|(?P<noon>noon|midday)(?!\w)|(?P<night>midnight)(?!\w))"
    r"(?: in the (?P<half>morning|afternoon|evening))?",
    re.IGNORECASE,
)


def dates(text: str) -> list[Date]:
    """All dates of a text (made plain by `flat`) that are more than a bare year, in order.

    Where two overlap the longer one counts. Linear in the length of the text.
    """
    read_dates = [
        date
        for pattern, read in _READERS
        for match in pattern.finditer(text)
        if (date := read(match)) is not None
    ]
    read_dates.sort(key=lambda date: (date.start, -date.end))
    kept: list[Date] = []
    for date in read_dates:
        if not kept or date.start >= kept[-1].end:
            kept.append(date)
    return kept


def _number(word: str | None) -> int:
    return int(re.sub(r"\D", "", word)) if word else 0


def _dated(match: re.Match[str], *days: Day) -> Date | None:
    real = tuple(day for day in days if day.month <= 12 and day.day <= 31)
    return Date(match.start(), match.end(), real) if real else None


def _named(match: re.Match[str]) -> Date | None:
    word = match["month"] or match["month2"] or match["month3"] or match["month4"]
    month = MONTHS[word.rstrip(".").lower()]
    year = _number(match["year"] or match["year2"] or match["year3"])
    first, day = _number(match["from"]), _number(match["day"] or match["day2"])
    days = [day, *filter(None, (first, _number(match["to2"])))]
    return _dated(match, *(Day(year, month, each) for each in days))


def _iso(match: re.Match[str]) -> Date | None:
    month, day = match["m"] or match["m2"], match["d"] or match["d2"]
    return _dated(match, Day(_number(match["y"]), _number(month), _number(day)))


def _figures(match: re.Match[str]) -> Date | None:
    """Day first, or month first where it is written with slashes."""
    a, b, year = int(match["a"]), int(match["b"]), int(match["y"])
    if len(match["y"]) == 2:
        year += 2000 if year < 50 else 1900
    days = [Day(year, b, a)] if b else []
    if match["mark"] == "/" and a and b <= 31:
        days.append(Day(year, a, b))
    return _dated(match, *days)


def _before_christ(match: re.Match[str]) -> Date | None:
    year = int(match["y"])
    return Date(match.start(), match.end(), (Day(-year),)) if year else None


def _decade(match: re.Match[str]) -> Date:
    year = int(match["y"])
    return Date(match.start(), match.end(), (), year, year + (99 if year % 100 == 0 else 9))


def _century(match: re.Match[str]) -> Date:
    number = int(match["n"]) if match["n"] else ORDINALS[match["w"].lower()]
    if match["bc"]:
        return Date(match.start(), match.end(), (), -100 * number, 100 - 100 * number)
    return Date(match.start(), match.end(), (), 100 * number - 100, 100 * number)


def _years(match: re.Match[str]) -> Date | None:
    """1914–18: both years."""
    first = int(match["y"])
    last = first - first % 100 + int(match["z"])
    return _dated(match, Day(first), Day(last)) if last > first else None


def _clock(match: re.Match[str]) -> Date:
    hour, minute = int(match["h"]), _number(match["min"] or match["min2"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    halves = (hour,) if match["half"] or hour > 12 else (hour, (hour + 12) % 24)
    return Date(
        match.start(), match.end(), minutes=tuple(60 * (each % 24) + minute for each in halves)
    )


def _spoken_clock(match: re.Match[str]) -> Date:
    """Half past nine, quarter to ten, noon."""
    if match["noon"] or match["night"]:
        return Date(match.start(), match.end(), minutes=(720 if match["noon"] else 0,))
    word = (match["h"] or match["h2"]).lower()
    hour = _HOURS.get(word) or int(word)
    past = {"half": 30, "quarter": 15}.get((match["part"] or "").lower(), -15)
    morning, half = (60 * (hour % 12) + past) % 1440, (match["half"] or "").lower()
    both = (morning, (morning + 720) % 1440)
    chosen = both if not half else both[:1] if half == "morning" else both[1:]
    return Date(match.start(), match.end(), minutes=chosen)


_READERS: Final = (
    (_NAMED, _named), (_ISO, _iso), (_FIGURES, _figures), (_EAST, _iso),
    (_BEFORE_CHRIST, _before_christ), (_DECADE, _decade), (_CENTURY, _century), (_YEARS, _years),
    (_CLOCK, _clock), (_SPOKEN_CLOCK, _spoken_clock),
)  # fmt: skip
