"""Days, times and lengths of time: as they stand in a person's words, in any form."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from clew.guards.provenance.values import has_digit, stands_in

_DAY: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::\d\d)?)?")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})"
_MONTH_NAME: Final = re.compile("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec")
"""How the name of a month begins, casefolded."""
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_FIGURES: Final = (
    r"\d(?:\d{3}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"
    r"|(?<!\w\d)\d?(?:[./]\d{1,2}[./]\d{2,4}\b|:\d\d\b(?:\s*[ap]m\b)?|\s*[ap]m\b))"
)
"""A day or a time in figures. It begins with a digit, so that few positions are tried."""
_TIMES_IN_FIGURES: Final = re.compile(_FIGURES, re.IGNORECASE)
_TIMES: Final = re.compile(
    rf"{_FIGURES}|\b{_MONTH}\s+\d{{1,2}}{_ORDINAL}\b(?:,?\s+\d{{4}}\b)?"
    rf"|\b\d{{1,2}}{_ORDINAL}\s+(?:of\s+)?{_MONTH}\b(?:,?\s+\d{{4}}\b)?"
    rf"|\b{_MONTH}\s+\d{{4}}\b",
    re.IGNORECASE,
)
_MONTH_DAY: Final = re.compile(rf"\b({_MONTH})\s+(\d{{1,2}}){_ORDINAL}\b")
_DAY_MONTH: Final = re.compile(rf"\b(\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?({_MONTH})\b")
_CLOCK: Final = re.compile(r"\b(\d{1,2}):(\d\d)\b(?!\s*[ap]m\b)")
_HALF_DAY: Final = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap]m)\b")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_LENGTH: Final = re.compile(
    r"\b(half an|an?|one|two|three|four|five|six|\d+(?:\.\d+)?)[\s-]+(hour|minute|day|week)s?\b"
)
_COUNTS: Final = {
    "half an": 0.5, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
}  # fmt: skip


def without_times(text: str) -> str:
    """A text without its days and times."""
    if not has_digit(text):
        return text
    times = _TIMES if _names_month(text.casefold()) else _TIMES_IN_FIGURES
    return times.sub(" … ", text)


def _names_month(text: str) -> bool:
    """Whether a casefolded text has the name of a month, if only in a word."""
    return _MONTH_NAME.search(text) is not None


def is_day(value: str) -> bool:
    """Whether it is a day, or a day and a time, of ISO 8601."""
    return value[4:5] == "-" and _DAY.fullmatch(value) is not None


def lasts(start: str, end: str, text: str) -> bool:
    """Whether the time between two values of ISO 8601 stands in a casefolded text."""
    try:
        between = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    except (TypeError, ValueError):
        return False
    lengths = (
        timedelta(**{f"{unit}s": _COUNTS[count] if count in _COUNTS else float(count)})
        for count, unit in _LENGTH.findall(text)
    )
    return bool(between) and between in lengths


@dataclass(frozen=True)
class _Times:
    """The days and times of a casefolded text: months and days, and hours and minutes."""

    days: frozenset[tuple[int, int]]
    hours: frozenset[tuple[int, int]]
    years: frozenset[str]


_NO_TIMES: Final = _Times(frozenset(), frozenset(), frozenset())


@lru_cache(maxsize=64)
def _times_of(text: str) -> _Times:
    if not has_digit(text):
        return _NO_TIMES
    days: set[tuple[int, int]] = set()
    if _names_month(text):
        days |= {(_MONTHS.index(month) + 1, int(day)) for month, day in _MONTH_DAY.findall(text)}
        days |= {(_MONTHS.index(month) + 1, int(day)) for day, month in _DAY_MONTH.findall(text)}
    hours: set[tuple[int, int]] = set()
    if ":" in text:
        hours |= {(int(hour), int(minute)) for hour, minute in _CLOCK.findall(text)}
    if "am" in text or "pm" in text:
        hours |= {
            (int(hour) % 12 + 12 * (half == "pm"), int(minute or 0))
            for hour, minute, half in _HALF_DAY.findall(text)
        }
    return _Times(frozenset(days), frozenset(hours), frozenset(_YEAR.findall(text)))


def says_day(value: str, text: str, *, with_time: bool = True) -> bool:
    """Whether a casefolded text names the day of an ISO 8601 value, in words or figures.

    With `with_time` it has to name the time too, where the value has one. A year may be left out
    where the text names none.
    """
    day = _DAY.fullmatch(value)
    if day is None:
        return False
    times = _times_of(text)
    if (int(day[2]), int(day[3])) not in times.days and not stands_in(value[:10], text):
        return False
    if times.years and day[1] not in times.years:
        return False
    return not with_time or day[4] is None or (int(day[4]), int(day[5])) in times.hours


def says_time(text: str) -> bool:
    """Whether a casefolded text names a time of a day."""
    return bool(_times_of(text).hours)


def times_named(day: str, text: str) -> int:
    """How often a casefolded text names a day of ISO 8601."""
    spoken = [(month, number) for month, number in _MONTH_DAY.findall(text)]
    spoken += [(month, number) for number, month in _DAY_MONTH.findall(text)]
    _, month, number = day[:10].split("-")
    wanted = (_MONTHS[int(month) - 1], int(number))
    return text.count(day[:10]) + sum((it, int(of)) == wanted for it, of in spoken)
