"""Whether the type of a result may have pictures in it."""

import dataclasses
import typing
from typing import Any

import msgspec

from clew.core.events import Image


def mentions_pictures(kind: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether values of the type may have pictures in them."""
    if kind is Image:
        return True
    bare: Any = kind
    if isinstance(kind, type) and bare not in seen:
        seen |= {bare}
        if any(mentions_pictures(each, seen) for each in _fields_of(bare)):
            return True
    return any(mentions_pictures(each, seen) for each in typing.get_args(kind))


def _fields_of(kind: Any) -> list[Any]:
    """The types of the fields of a class."""
    known = issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind)
    if not (known or hasattr(kind, "model_fields") or typing.is_typeddict(kind)):
        return []
    try:
        return list(typing.get_type_hints(kind).values())
    except (NameError, TypeError):  # told where its schema is made
        return []
