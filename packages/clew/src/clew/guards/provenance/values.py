"""Values as they stand in a text: whole, in one script; numbers, days and addresses in any form.

A value that is a part of a longer word or address does not stand in the text: `evil@bank.com` says
nothing of `bank.com`, and `12` nothing of `1`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard, cast

from clew.core.events import Json

_NUMBER: Final = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?!\w)")
_PARTS: Final = r"(?:[\w-]+\.)+"
_ADDRESS: Final = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*"
    r"|[a-z][a-z+]{2,9}:[/\\]{1,2}[^\s<>\"')\]]+|(?<![:\w])//[\w-]+\.[^\s<>\"')\]]+"
    rf"|www\.[^\s<>\"')\]]+|{_PARTS}[a-z]{{2,}}/[^\s<>\"')\]]*"
    rf"|{_PARTS}(?:com|net|org|info|biz|io|ai|app|dev|co|me|xyz|site|online|link|click|example|eu|uk"
    r"|de|fr|ru|cn|nl|it|es|ch|at|us|in|br|jp)\b"
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){10,30}\b",
    re.IGNORECASE,
)
"""Mail and web addresses as programs for mail and chat make links of them, and account numbers
(ISO 13616)."""
_TIMES: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"
    r"|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d\d\b"
)
_IDENTIFIER: Final = re.compile(
    r"\+?\(?\d(?:[ ()./-]{0,2}\d){6,}|\b(?=\w*\d{4})(?=(?:\w*\d){6})\w+\b"
)
"""Numbers of accounts, cards, phones, passports: seven digits, or six in a word."""
_DAY: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::\d\d)?)?")
MIN_KEY: Final = 6
"""Characters of a value that can stand for one thing alone."""
_JOINTS: Final = "-.@_"
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


def leaves(value: Json) -> Iterator[Json]:
    """The values in a JSON value, without the names of fields."""
    if isinstance(value, dict):
        for each in cast("dict[str, Json]", value).values():
            yield from leaves(each)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Json]", value):
            yield from leaves(each)
    else:
        yield value


def is_choice(value: Json) -> bool:
    """Whether the value says too little to carry anything: yes, no, or nothing."""
    return value is None or isinstance(value, bool) or value == ""


def choices(schema: Mapping[str, Json], name: str) -> list[Json]:
    """The values that a tool's schema itself offers for an argument."""
    return [*_offered(schema.get("$defs", {}), schema.get("properties", {}).get(name, {}))]


def _offered(
    named: Mapping[str, Json], schema: Mapping[str, Json], within: tuple[str, ...] = ()
) -> Iterator[Json]:
    """The values that a schema offers; `within` are the named ones that led to it."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in named and name not in within:
        yield from _offered(named, named[name], (*within, name))
    yield from schema.get("enum", ())
    yield from (schema[key] for key in ("const", "default") if key in schema)
    for key in ("anyOf", "allOf", "oneOf"):
        for each in schema.get(key, ()):
            yield from _offered(named, each, within)
    if isinstance(items := schema.get("items"), dict):
        yield from _offered(named, cast("Mapping[str, Json]", items), within)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def mixed_scripts(value: str) -> bool:
    """Whether its letters are of several scripts, as in a name that only looks like another."""
    if value.isascii():
        return False
    return len({unicodedata.name(char, "?").split()[0] for char in value if char.isalpha()}) > 1


def stands_in(value: str, text: str) -> bool:
    """Whether the value stands in the text as a whole; both are casefolded.

    Signs alone, such as `/`, have to stand apart.
    """
    if not any(map(str.isalnum, value)):
        return value in text.split()
    at = text.find(value)
    while at >= 0:
        before, after = text[:at][-2:], text[at + len(value) :][:2]
        if not _continues(before[::-1], value[0]) and not _continues(after, value[-1]):
            return True
        at = text.find(value, at + 1)
    return False


def _continues(beside: str, end: str) -> bool:
    """Whether what stands beside an end of a value, outwards, makes it a part of more."""
    if not beside or not end.isalnum():
        return False
    if beside[0].isalnum():
        return True
    return beside[0] in _JOINTS and beside[1:].isalnum()


def numbers_in(text: str) -> Iterator[float]:
    """The numbers in a text; commas between digits are left out."""
    for match in _NUMBER.findall(text):
        yield float(match.replace(",", ""))


def addresses_in(text: str) -> Iterator[str]:
    """Mail and web addresses and account numbers in a text."""
    for match in _ADDRESS.findall(unicodedata.normalize("NFKC", text).replace("。", ".")):
        yield match.rstrip(".,;:!?")


def identifiers_in(text: str) -> Iterator[str]:
    """Numbers that stand for somebody or something in a text; days and times are none."""
    yield from _IDENTIFIER.findall(_TIMES.sub(" … ", text))


def bare(text: str) -> str:
    """The letters and digits of a text, casefolded."""
    return "".join(filter(str.isalnum, text.casefold()))


def is_key(value: str) -> bool:
    """Whether a value can stand for one thing alone, as the number of an account or an address."""
    return len(value) >= MIN_KEY and any(sign.isdigit() or sign == "@" for sign in value)


def words_in(text: str) -> list[str]:
    """The words and numbers of a text."""
    return re.findall(r"\w+", text)


def says_day(value: str, text: str, *, with_time: bool = True) -> bool:
    """Whether a casefolded text names the day of an ISO 8601 value, in words or figures.

    With `with_time` it has to name the time too, where the value has one. A year may be left out
    where the text names none.
    """
    day = _DAY.fullmatch(value)
    if day is None:
        return False
    year, month, number = day[1], int(day[2]), int(day[3])
    if not 1 <= month <= 12:
        return False
    name, ordinal = _MONTHS[month - 1], r"(?:st|nd|rd|th)?"
    spoken = rf"\b{name}\s+{number}{ordinal}\b|\b{number}{ordinal}\s+(?:of\s+)?{name}\b"
    if not re.search(spoken, text) and not stands_in(value[:10], text):
        return False
    if year not in text and re.search(r"\b(?:19|20)\d\d\b", text):
        return False
    return not with_time or day[4] is None or _says_time(int(day[4]), day[5], text)


def _says_time(hour: int, minute: str, text: str) -> bool:
    if re.search(rf"\b0?{hour}:{minute}\b", text):
        return True
    half = "am" if hour < 12 else "pm"
    past = rf"(?::{minute})" + ("?" if minute == "00" else "")
    return re.search(rf"\b{(hour - 1) % 12 + 1}{past}\s*{half}\b", text) is not None


def is_day(value: str) -> bool:
    """Whether it is a day, or a day and a time, of ISO 8601."""
    return _DAY.fullmatch(value) is not None
