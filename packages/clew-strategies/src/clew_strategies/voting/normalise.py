"""Normalise answers for comparison, so that different notations of one answer are equal.

Text loses case, punctuation, articles and citations; numbers, dates and units get one format.
Answers of other types are compared as values.
"""

import re
from typing import Any, Final, cast

import msgspec

from clew.citations import citations
from clew.evidence import normalised
from clew.evidence.words import flat, words
from clew.interfaces import Json
from clew.support.short_text import one_line

_SIGNS: Final = (
    (re.compile(r"(?<=[\w+]) ?\+"), " plus "),  # C++, A+, x + 1; but +5 is 5
    (re.compile(r"(?<=[^\W\d_])[-−](?=[\s.,;:!?]|$)"), " minus "),  # A-
    (re.compile(r"(?<=\w)#(?!\w)"), " sharp "),  # C#
    (re.compile(r"<=|≤|=<"), " atmost "),
    (re.compile(r">=|≥"), " atleast "),
    (re.compile(r"!=|≠"), " unequal "),
    (re.compile(r"<"), " lessthan "),
    (re.compile(r">"), " morethan "),
)
"""Signs that carry meaning: without them C++ would equal C, and x < 5 would equal x > 5."""

_canonical: Final = msgspec.json.Encoder(order="sorted")


def normalise(answer: Json) -> str:
    """The normalised answer; never empty. Normalising it again changes nothing.

    Text: "The bridge: 1,200 m. [doc_3]" equals "bridge 1.2 km". Other values: JSON in which 1.0
    equals 1 and the order of keys does not count.
    """
    return _text(answer) if isinstance(answer, str) else _canonical.encode(_plain(answer)).decode()


def _text(text: str) -> str:
    bare = _uncited(text)
    for sign, word in _SIGNS:
        bare = sign.sub(word, bare)
    only_articles = " ".join(word.key for word in words(flat(bare)))  # "A" of a list of choices
    return normalised(bare) or only_articles or one_line(text.casefold()) or '""'


def _uncited(text: str) -> str:
    """The text without citations: two runs may have read the same fact in different places."""
    kept, end = "", 0
    for citation in citations(text):
        if citation.start >= end:
            kept += text[end : citation.start]
        end = citation.end
    return kept + text[end:]


def _plain(value: Json) -> Json:
    """The value with whole floats as integers."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _plain(part) for name, part in cast("dict[str, Json]", value).items()}
        case list():
            return [_plain(part) for part in msgspec.convert(value, list[Any])]
        case _:
            return value
