"""Named tuples as JSON: an object by their field names, as they are asked for and recorded.

msgspec has lists for them, in which a model would have to count.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import msgspec
from msgspec import inspect

from clew.core.tools import Parameters
from clew.core.values import Json
from clew.support.json_values import plain
from clew.tools.typed_json import changed


def named_tuples(kinds: Iterable[Any]) -> Iterator[Any]:
    """The named tuples in these types, of generic ones with the types that they are for.

    What pydantic alone reads is left to it.
    """
    seen = set[int]()
    for info in inspect.multi_type_info(kinds):
        yield from _named_tuples(info, seen)


def _named_tuples(info: Any, seen: set[int]) -> Iterator[Any]:
    """Those in what msgspec knows of a type, or of a field, that was not `seen`."""
    if isinstance(info, tuple):
        for each in cast("Any", info):
            yield from _named_tuples(each, seen)
    elif isinstance(info, inspect.Type | inspect.Field) and id(info) not in seen:
        seen.add(id(info))
        if isinstance(info, inspect.NamedTupleType):
            yield info.cls
        for name in info.__struct_fields__:
            yield from _named_tuples(getattr(info, name), seen)


def as_object(kind: Any, listed: Parameters) -> None:
    """Rewrite the schema that msgspec has of a named tuple, which lists its fields."""
    fields = dict(zip(kind._fields, listed.pop("prefixItems", ()), strict=True))
    required = [name for name in fields if name not in kind._field_defaults]
    for word in ("minItems", "maxItems", "items"):
        listed.pop(word, None)
    listed |= {"type": "object", "properties": fields, "additionalProperties": False}
    if required:
        listed["required"] = required


def by_position(kind: Any, value: Json) -> Json:
    """The JSON of a value of the type as msgspec reads it, with lists for its named tuples."""
    return changed(kind, value, _listed)


def by_name(kind: Any, value: Json) -> Json:
    """The JSON that msgspec makes of a value of the type, with its named tuples as objects."""
    return changed(kind, value, _named)


def _listed(kind: inspect.Type, value: Json) -> Json:
    if not isinstance(kind, inspect.NamedTupleType) or not isinstance(value, dict):
        return value
    named, fields = msgspec.convert(value, dict[str, Any]), kind.fields
    missing = any(field.required and field.name not in named for field in fields)
    if missing or named.keys() - {field.name for field in fields}:
        return named  # it is no such tuple: msgspec says so
    return [named[it.name] if it.name in named else plain(it.default) for it in fields]


def _named(kind: inspect.Type, value: Json) -> Json:
    if not isinstance(kind, inspect.NamedTupleType) or not isinstance(value, list | tuple):
        return value
    names = [field.name for field in kind.fields]
    return dict(zip(names, msgspec.convert(value, list[Any]), strict=True))
