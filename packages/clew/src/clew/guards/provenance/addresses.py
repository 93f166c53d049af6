"""Addresses and numbers of people and accounts in a text, in any form that somebody can read."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from clew.guards.provenance.times import without_times

_LOCAL: Final = r"[\w.+-]{1,64}"
"""What stands before an @ (RFC 5321): with any number of letters a long word takes quadratic time.
"""
_PARTS: Final = r"(?<![\w-])(?<![\w-]\.)(?:[\w-]+\.)+"
"""It begins where a run of parts does, for the same reason."""
_ENDINGS: Final = (
    "com|net|org|info|biz|io|ai|app|dev|co|me|xyz|site|online|link|click|example|eu|uk"
    "|de|fr|ru|cn|nl|it|es|ch|at|us|in|br|jp"
)
_SPELT: Final = r"(?:\s(?:{0})\s|[(\[]\s*(?:{0})\s*[)\]])"
_WRITTEN: Final = (
    rf"{_LOCAL}@[\w-]+(?:\.[\w-]+)*"
    r"|[a-z][a-z+]{2,9}:[/\\]{1,2}[^\s<>\"')\]]+|(?<![:\w])//[\w-]+\.[^\s<>\"')\]]+"
    rf"|www\.[^\s<>\"')\]]+|{_PARTS}[a-z]{{2,}}/[^\s<>\"')\]]*"
    rf"|{_PARTS}(?:{_ENDINGS})\b"
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){10,30}\b"
    r"|(?<![\w@.])@\w{3,}"
)
_SPELT_OUT: Final = (
    rf"|{_LOCAL}\s*{_SPELT.format('at|@')}\s*[\w-]+(?:\s*{_SPELT.format('dot')}\s*\w+)+"
    rf"|[\w-]{{1,63}}\s+\.\s*(?:{_ENDINGS})\b"
)
_LONG: Final = r"|\b(?=\w*\d)(?=\w*[a-z])\w{20,}\b"
_ADDRESS: Final = re.compile(_WRITTEN + _LONG, re.IGNORECASE)
"""Mail and web addresses as programs for mail and chat make links of them, with account numbers
(ISO 13616), names after @, and long words of letters and digits."""
_SIGN_OF_SPELLING: Final = re.compile(r"dot|\s\.", re.IGNORECASE)
"""What stands in each address that is spelt out."""
_SIGN: Final = re.compile(r"[@/\\]|\.\S|\s\.|dot|[A-Z][A-Z]\d\d|(?<!\w)\w{20}", re.IGNORECASE)
"""What stands in each address, and in few other texts."""
_PAGE: Final = re.compile(r"(?:https?://|www\.)[^\sA-Z<>\"'@]+")
_IDENTIFIER: Final = re.compile(
    r"\+?\(?\d(?:[ ()./-]{0,2}\d){6,}|\b(?=\w*\d{4})(?=(?:\w*\d){6})\w+\b"
)
"""Numbers of accounts, cards, phones, passports: seven digits, or six in a word."""
_DIGIT: Final = re.compile(r"\d")
_FEWEST_DIGITS: Final = 6


def addresses_in(text: str) -> Iterator[str]:
    """Mail and web addresses and account numbers in a text."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("。", ".")
    if _SIGN.search(text) is None:
        return
    pattern = _ADDRESS if _SIGN_OF_SPELLING.search(text) is None else _address_or_spelt()
    for match in pattern.findall(text):
        yield match.rstrip(".,;:!?")


@lru_cache(maxsize=1)
def _address_or_spelt() -> re.Pattern[str]:
    """What `_ADDRESS` fits, and addresses as people spell them: slower, and few texts have any."""
    return re.compile(_WRITTEN + _SPELT_OUT + _LONG, re.IGNORECASE)


def is_page(value: str) -> bool:
    """Whether a value as a whole is the address of a page, as people write it."""
    return _PAGE.fullmatch(value) is not None


def identifiers_in(text: str) -> Iterator[str]:
    """Numbers that stand for somebody or something in a text; days and times are none."""
    if len(_DIGIT.findall(text)) >= _FEWEST_DIGITS:
        yield from _IDENTIFIER.findall(without_times(text))
