"""Values as they stand in a text: whole, in one script.

A value that is a part of a longer word or address does not stand in the text: `evil@bank.com` says
nothing of `bank.com`, and `12` nothing of `1`.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import repeat
from string import ascii_letters, digits
from typing import Any, Final, TypeAlias, TypeGuard, cast

from clew.core.values import Json

_NUMBER: Final = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?!\w)")
MIN_KEY: Final = 6
"""Characters of a value that can stand for one thing alone."""
_WORD: Final = re.compile(r"\w+")
_LETTERS: Final = f"{ascii_letters}{digits}_"
_ONLY_WORDS: Final = {at: " " for at in range(128) if chr(at) not in _LETTERS}
"""Takes what stands between the words of a text in ASCII for spaces."""
_LONG: Final = 64
"""From so many characters on that is the faster way to find them."""
_DOTTED: Final = re.compile(r"\w\.\w")
_EDGE: Final = re.compile(r"\b")
_DIGIT: Final = re.compile(r"\d")
_SIGN_OF_KEY: Final = re.compile(r"[\d@]")
_JOINTS: Final = "-.@_"
_APART: Final = frozenset({"", " ", "\n", ",", "'", '"'})
"""What stands beside most values as a whole, told by a look."""
Nested: TypeAlias = dict[str, Json] | Sequence[Json]
_NESTED: Final[Any] = (dict, list, tuple)
"""What has values in it. Most values have none, and are looked at without a call."""


def leaves(value: Json) -> list[Json]:
    """The values in a JSON value, without the names of fields."""
    if not isinstance(value, _NESTED):
        return [value]
    values: list[Json] = []
    _collect(value, values)
    return values


def _collect(nested: Nested, values: list[Json]) -> None:
    for each in nested.values() if isinstance(nested, dict) else nested:
        if isinstance(each, _NESTED):
            _collect(each, values)
        else:
            values.append(each)


def argument_leaves(value: Json, own: Callable[[], Collection[str]]) -> Iterator[Json]:
    """The values in an argument, and the names of fields in it.

    Left out are names and words in an object that are of the tool itself (`own`).
    """
    if isinstance(value, dict):
        words = own()
        for name, each in cast("dict[str, Json]", value).items():
            if name not in words:
                yield name
            if not (isinstance(each, str) and each in words):
                yield from argument_leaves(each, own)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Json]", value):
            yield from argument_leaves(each, own)
    else:
        yield value


def new_keys(value: Json, own: Callable[[], Collection[str]]) -> Iterator[str]:
    """The names of fields in an argument that are none of the tool itself (`own`)."""
    if isinstance(value, dict):
        words = own()
        for name, each in cast("dict[str, Json]", value).items():
            if name not in words:
                yield name
            yield from new_keys(each, own)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Json]", value):
            yield from new_keys(each, own)


def named_leaves(value: Json, name: str = "") -> list[tuple[str, Json]]:
    """The values in a JSON value, each with the name of the field that it stands in."""
    if not isinstance(value, _NESTED):
        return [(name, value)]
    values: list[tuple[str, Json]] = []
    _collect_named(value, name, values)
    return values


def _collect_named(nested: Nested, name: str, values: list[tuple[str, Json]]) -> None:
    pairs = nested.items() if isinstance(nested, dict) else zip(repeat(name), nested, strict=False)
    for field, each in pairs:
        if isinstance(each, _NESTED):
            _collect_named(each, field, values)
        else:
            values.append((field, each))


def is_choice(value: Json) -> bool:
    """Whether the value says too little to carry anything: yes, no, or nothing."""
    return value is None or isinstance(value, bool) or value == ""


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a JSON number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def mixed_scripts(value: str) -> bool:
    """Whether its letters are of several scripts, as in a name that only looks like another."""
    if value.isascii():
        return False
    letters = filter(str.isalpha, set(value))
    return len({unicodedata.name(char, "?").split()[0] for char in letters}) > 1


def stands_in(value: str, text: str) -> bool:
    """Whether the value stands in the text as a whole; both are casefolded.

    Signs alone, such as `/`, have to stand apart.
    """
    at = text.find(value)
    if at < 0:
        return False
    if not any(map(str.isalnum, value)):
        return value in text.split()
    while at >= 0:
        end = at + len(value)
        before, after = text[max(0, at - 2) : at][::-1], text[end : end + 2]
        if (before[:1] in _APART or not _continues(before, value[0])) and (
            after[:1] in _APART or not _continues(after, value[-1])
        ):
            return True
        at = text.find(value, at + 1)
    return False


def stands_in_any(value: str, texts: Iterable[str]) -> bool:
    """Whether the value stands in one of the texts as a whole; all are casefolded."""
    for text in texts:  # noqa: SIM110 - of one text, as usual, a loop is half the price
        if value in text and stands_in(value, text):
            return True
    return False


def spans_of(part: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a part stands in a text, if only within words: each beginning and end."""
    at = text.find(part)
    while at >= 0:
        yield at, at + len(part)
        at = text.find(part, at + 1)


def is_edge(text: str, at: int) -> bool:
    """Whether a word begins or ends at a position of a text."""
    return _EDGE.match(text, at) is not None


def _continues(beside: str, end: str) -> bool:
    """Whether what stands beside an end of a value, outwards, makes it a part of more."""
    if not beside or not end.isalnum():
        return False
    if beside[0].isalnum():
        return True
    return beside[0] in _JOINTS and beside[1:].isalnum()


def has_digit(text: str) -> bool:
    """Whether a text has a digit: most patterns for numbers and times cost more than to look."""
    return _DIGIT.search(text) is not None


def numbers_in(text: str) -> Iterator[float]:
    """The numbers in a text; commas between digits are left out."""
    for match in _NUMBER.findall(text):
        yield float(match.replace(",", ""))


def bare(text: str) -> str:
    """The letters and digits of a text, casefolded."""
    return "".join(filter(str.isalnum, text.casefold()))


def is_key(value: str) -> bool:
    """Whether a value can stand for one thing alone, as the number of an account or an address."""
    return len(value) >= MIN_KEY and _SIGN_OF_KEY.search(value) is not None


def has_sign_of_key(text: str) -> bool:
    """Whether a text has what stands in each key."""
    return _SIGN_OF_KEY.search(text) is not None


def is_name(value: str) -> bool:
    """Whether a value can name a text: an address, or a file."""
    return is_key(value) or _DOTTED.search(value) is not None


def words_in(text: str) -> list[str]:
    """The words and numbers of a text."""
    if len(text) > _LONG and text.isascii():
        return text.translate(_ONLY_WORDS).split()
    return _WORD.findall(text)
