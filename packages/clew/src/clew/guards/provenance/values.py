"""Values as they stand in a text: whole, in one script.

A value that is a part of a longer word or address does not stand in the text: `evil@bank.com` says
nothing of `bank.com`, and `12` nothing of `1`.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeGuard, cast

from clew.core.events import Json

_NUMBER: Final = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?!\w)")
MIN_KEY: Final = 6
"""Characters of a value that can stand for one thing alone."""
_WORD: Final = re.compile(r"\w+")
_DOTTED: Final = re.compile(r"\w\.\w")
_DIGIT: Final = re.compile(r"\d")
_SIGN_OF_KEY: Final = re.compile(r"[\d@]")
_JOINTS: Final = "-.@_"


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


def named_leaves(value: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """The values in a JSON value, each with the name of the field that it stands in."""
    if isinstance(value, dict):
        for field, each in cast("dict[str, Json]", value).items():
            yield from named_leaves(each, field)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Json]", value):
            yield from named_leaves(each, name)
    else:
        yield name, value


def is_choice(value: Json) -> bool:
    """Whether the value says too little to carry anything: yes, no, or nothing."""
    return value is None or isinstance(value, bool) or value == ""


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


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
    if at >= 0 and not any(map(str.isalnum, value)):
        return value in text.split()
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


def is_name(value: str) -> bool:
    """Whether a value can name a text: an address, or a file."""
    return is_key(value) or _DOTTED.search(value) is not None


def words_in(text: str) -> list[str]:
    """The words and numbers of a text."""
    return _WORD.findall(text)
