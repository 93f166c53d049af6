"""The spellings of a value: its letters and digits in order, whatever stands between them."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from clew.core.values import Json
from clew.guards.provenance.values import is_number, stands_in

_NUMBER: Final = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def spelled_in_any(value: Json, texts: Iterable[str]) -> bool:
    """Whether some spelling of a value stands in one of the texts.

    Spellings differ in case, in forms of Unicode (`ＤＥ８９` is `DE89`), in spaces and other signs
    (`DE89 3704` is `DE893704`), and in how a number is written (`5,000` is 5000, and so is `5e3`).
    """
    text = _one_form(_as_text(value))
    signs = "".join(filter(str.isalnum, text))
    pattern = re.compile(r"[\W_]*".join(signs)) if signs else None
    number = _number(value, text)
    for each in map(_one_form, texts):
        if stands_in(text, each):
            return True
        if pattern is not None and any(_apart(it, each) for it in pattern.finditer(each)):
            return True
        if number is not None and any(number == float(it) for it in _numbers_in(each)):
            return True
    return False


def _numbers_in(text: str) -> list[str]:
    return [it.replace(",", "") for it in _NUMBER.findall(text)]


def _apart(match: re.Match[str], text: str) -> bool:
    """Whether no letter or digit stands directly beside what was matched."""
    beside = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    return not any(map(str.isalnum, beside))


def _one_form(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _as_text(value: Json) -> str:
    integral = isinstance(value, float) and value.is_integer()
    return str(int(value)) if integral else str(value)


def _number(value: Json, text: str) -> float | None:
    """The number that a value is, or that its text is."""
    if is_number(value):
        return float(value)
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
