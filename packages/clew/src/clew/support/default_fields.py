"""Fields that a value has only by default: msgspec leaves those of a dataclass on its class.

Its encoder, `vars` and whatever else looks at the instance then miss them.
"""

import dataclasses
from typing import Any, Final

from clew.support.json_values import Json

_WITHOUT_PARTS: Final = frozenset({str, int, float, bool, bytes, type(None)})
"""Types whose values hold no others."""


def has_defaults(kind: Any) -> bool:
    """Whether a type is a dataclass with defaults, which stay on its class."""
    return dataclasses.is_dataclass(kind) and any(
        field.default is not dataclasses.MISSING for field in dataclasses.fields(kind)
    )


def set_defaults(value: Any) -> None:
    """Set the defaults that the dataclasses in a value have only of their class, as `__init__`
    does.
    """
    seen, waiting = set[int](), [value]
    while waiting:
        one = waiting.pop()
        kind = one.__class__
        if kind in _WITHOUT_PARTS or id(one) in seen:
            continue
        seen.add(id(one))
        if issubclass(kind, dict):
            waiting += one.values()
        elif issubclass(kind, (list, tuple, set, frozenset)):
            waiting += one
        elif (names := getattr(kind, "__struct_fields__", None)) is not None:
            waiting += [getattr(one, name, None) for name in names]
        elif dataclasses.is_dataclass(kind):
            waiting += _fields_set(one)


def _fields_set(one: Any) -> list[Any]:
    """The values of a dataclass's fields, those of its class now its own."""
    fields, kind = dataclasses.fields(one), one.__class__
    own: dict[str, Any] = getattr(one, "__dict__", {})  # without one, slots hold all of them
    for field in fields:
        if field.name not in own and getattr(kind, field.name, None) is field.default:
            own[field.name] = field.default
    return [getattr(one, field.name, None) for field in fields]


def with_defaults(recorded: Json, typed: Json) -> Json:
    """A recorded value with the fields that only its typed form has; the rest as recorded.

    `typed` is that form as JSON. Nothing is added where the two do not belong together: where
    names are others, and in lists whose items are others, as those of a set may be.
    """
    kinds = {recorded.__class__, typed.__class__}
    if kinds == {list}:
        return _list_with_defaults(recorded, typed)
    return _fields_with_defaults(recorded, typed) if kinds == {dict} else recorded


def _fields_with_defaults(recorded: dict[str, Json], typed: dict[str, Json]) -> Json:
    merged = {
        name: with_defaults(one, typed[name]) if name in typed else one
        for name, one in recorded.items()
    }
    return {**typed, **merged} if recorded.keys() <= typed.keys() else merged


def _list_with_defaults(recorded: list[Json], typed: list[Json]) -> Json:
    if not _agree(recorded, typed):
        return recorded
    return [with_defaults(one, other) for one, other in zip(recorded, typed, strict=True)]


def _agree(recorded: Json, typed: Json) -> bool:
    """Whether all that was recorded is in the typed form too; a decimal may be a text there."""
    kinds = {recorded.__class__, typed.__class__}
    if kinds == {dict}:
        return all(name in typed and _agree(one, typed[name]) for name, one in recorded.items())
    if kinds == {list}:
        return len(recorded) == len(typed) and all(map(_agree, recorded, typed))
    return bool(recorded == typed) or str(recorded) == str(typed)
