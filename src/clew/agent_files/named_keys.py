"""Which key of a table a complaint is about, where only the table is known.

A part that is made of a whole table complains in its own words: of a key by its name, or of a
value.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

Path: TypeAlias = tuple[str | int, ...]

_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
_KINDS: Final[Mapping[str, type]] = {
    "str": str, "int": int, "float": float, "bool": bool, "array": list, "object": dict,
}  # fmt: skip
"""The types of values by msgspec's words for them."""


def key_named(whole: Any, path: Path, message: str) -> Path:
    """The path of the key that the message names, or whose value it quotes; else `path`."""
    named: list[tuple[int, int, Path]] = []
    for inner, value in _entries(_at(whole, path)):
        key = re.escape(str(inner[-1]))
        if found := re.search(rf"(?<![\w-])(?:(['\"`]){key}\1|{key}(?= is\b| -?\d|: ))", message):
            named.append((0, found.start(), inner))
        elif (start := _quoted(value, message)) >= 0:
            named.append((1, start, inner))
    return (*path, *min(named)[2]) if named else path


def key_of_kind(whole: Any, path: Path, kind: str, last: str) -> Path:
    """The path of the value of this kind in a table with free keys, called `last` if that is said.

    `kind` is msgspec's word for what it found.
    """
    for inner, value in _entries(_at(whole, path)):
        if type(value) is _KINDS.get(kind) and (not last or inner[-1] == last):
            return (*path, *inner)
    return path


def _at(whole: Any, path: Path) -> Any:
    value = whole
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _entries(table: Any) -> Iterator[tuple[Path, Any]]:
    """All keys in a table and in the tables in it, with their values."""
    if isinstance(table, dict):
        for key, value in cast("dict[str, Any]", table).items():
            yield (key,), value
            for inner, deeper in _entries(value):
                yield (key, *inner), deeper


def _quoted(value: Any, message: str) -> int:
    """Where the message quotes the value, or one of a list; -1 where it does not."""
    if isinstance(value, list):
        places = [_quoted(each, message) for each in msgspec.convert(value, list[Any])]
        return min((place for place in places if place >= 0), default=-1)
    if isinstance(value, str):
        found = re.search(rf"(['\"`]){re.escape(value)}\1", message) if value else None
        return -1 if found is None else found.start()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return -1
    told = (each for each in _NUMBER.finditer(message) if float(each[0]) == value)
    return next((each.start() for each in told), -1)
