"""Whether what is read back from a record is what was put there."""

import dataclasses
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final, cast

_ABSENT: Final = object()


def changed_part(value: Any, other: Any) -> tuple[Any, Any] | None:
    """The first part of a value, and what has its place in the other, if they are not alike.

    Parts of one type are compared by their own parts; what has none is alike where it is equal, or
    of one type, which may not compare its values. Sets, and numbers that are equal, are alike.
    """
    if type(value) is not type(other):
        return None if value == other else (value, other)
    kind = cast("Any", type(value))
    if issubclass(kind, dict):
        return _first_changed(_of_dict(value, other))
    if issubclass(kind, list | tuple):
        return _first_changed(zip_longest(value, other, fillvalue=_ABSENT))
    names = _field_names(value)
    return _first_changed((getattr(value, it, None), getattr(other, it, None)) for it in names)


def _first_changed(pairs: Iterator[tuple[Any, Any]]) -> tuple[Any, Any] | None:
    changes = (changed_part(one, two) for one, two in pairs)
    return next((each for each in changes if each is not None), None)


def _of_dict(one: dict[Any, Any], two: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """The keys in pairs, then the values: a key may be read back as a text."""
    yield from zip_longest(one, two, fillvalue=_ABSENT)
    yield from ((one[name], two.get(name, _ABSENT)) for name in one)


def _field_names(value: Any) -> list[str]:
    """The names of the fields of a struct, a dataclass or a pydantic model."""
    if dataclasses.is_dataclass(value):
        return [each.name for each in dataclasses.fields(value)]
    kind = cast("Any", type(value))
    names = getattr(kind, "__struct_fields__", None) or getattr(kind, "model_fields", None) or ()
    return [*cast("list[str]", names)]
