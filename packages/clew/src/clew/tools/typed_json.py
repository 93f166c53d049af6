"""A walk through a JSON value beside the type that it is of, as msgspec sees that type."""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

from clew.core.values import Json

Change: TypeAlias = Callable[[inspect.Type, Json], Json]
"""What a value of a type becomes before its parts are looked at."""


def changed(kind: Any, value: Json, change: Change) -> Json:
    """The value with each of its parts changed; what does not fit the type stays as it is."""
    return _changed(inspect.type_info(kind), value, change)


def _changed(kind: inspect.Type, value: Json, change: Change) -> Json:
    match kind:
        case inspect.Metadata(type=inner):
            return _changed(inner, value, change)
        case inspect.UnionType(types=kinds):
            for one in kinds:
                value = _changed(one, value, change)
            return value
        case _:
            value = change(kind, value)
    if isinstance(value, dict):
        return _object(kind, msgspec.convert(value, dict[str, Any]), change)
    if isinstance(value, list | tuple):  # a tuple, where it was not read from JSON
        return _list(kind, msgspec.convert(value, list[Any]), change)
    return value


def _object(kind: inspect.Type, value: dict[str, Json], change: Change) -> Json:
    """The fields of an object; a struct whose tag is another's is none of these."""
    if isinstance(kind, inspect.DictType):
        return {name: _changed(kind.value_type, one, change) for name, one in value.items()}
    tag = kind.tag_field if isinstance(kind, inspect.StructType) else None
    if tag is not None and value.get(tag) != getattr(kind, "tag", None):
        return value
    fields: tuple[inspect.Field, ...] = getattr(kind, "fields", ())
    known = {field.encode_name: field.type for field in fields}
    return {
        name: _changed(known[name], one, change) if name in known else one
        for name, one in value.items()
    }


def _list(kind: inspect.Type, value: list[Json], change: Change) -> Json:
    match kind:
        case inspect.TupleType(item_types=kinds):
            pass
        case inspect.NamedTupleType(fields=fields):
            kinds = tuple(field.type for field in fields)
        case inspect.CollectionType(item_type=inner):
            return [_changed(inner, one, change) for one in value]
        case _:
            return value
    pairs = zip(kinds, value, strict=False)
    return [*(_changed(inner, one, change) for inner, one in pairs), *value[len(kinds) :]]
