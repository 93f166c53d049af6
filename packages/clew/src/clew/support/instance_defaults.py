"""Fields that a dataclass leaves on its class, where what looks at the instance misses them.

So does msgspec where it reads one, and `__init__` itself with fields that have a default and
`init=False`.
"""

import dataclasses
from typing import Any, Final

_WITHOUT_PARTS: Final = frozenset({str, int, float, bool, bytes, type(None)})
"""Types whose values hold no others."""


def has_defaults(kind: Any) -> bool:
    """Whether a type is a dataclass with defaults, which stay on its class."""
    return dataclasses.is_dataclass(kind) and any(
        field.default is not dataclasses.MISSING for field in dataclasses.fields(kind)
    )


def has_class_defaults(kind: Any) -> bool:
    """Whether a type is a dataclass whose `__init__` leaves defaults on the class."""
    return dataclasses.is_dataclass(kind) and any(
        field.default is not dataclasses.MISSING and not field.init
        for field in dataclasses.fields(kind)
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
