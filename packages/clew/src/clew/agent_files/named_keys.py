"""Which key of a table holds a value of the wrong kind, where only the table is known."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

Path: TypeAlias = tuple[str | int, ...]

_KINDS: Final[Mapping[str, type]] = {
    "str": str, "int": int, "float": float, "bool": bool, "array": list, "object": dict,
}  # fmt: skip
"""The types of values by msgspec's words for them."""


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
