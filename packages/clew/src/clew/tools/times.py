"""Times as people write them, in the form that msgspec reads: `10:00` becomes `10:00:00`."""

import re
from typing import Any, Final

import msgspec
from msgspec import inspect

from clew.core.events import Json

_NO_SECONDS: Final = re.compile(
    r"(?P<head>(?:\d{4}-\d\d-\d\d[Tt ])?(?:[01]\d|2[0-3]):[0-5]\d)"
    r"(?P<zone>[Zz]|[+-]\d\d:?\d\d)?"
)


def completed(kind: Any, value: Json) -> Json:
    """The value with seconds at each time that has none, where the type has a time there."""
    return _completed(inspect.type_info(kind), value)


def _completed(kind: inspect.Type, value: Json) -> Json:
    match kind:
        case inspect.Metadata(type=inner):
            return _completed(inner, value)
        case inspect.TimeType() | inspect.DateTimeType() if isinstance(value, str):
            match = _NO_SECONDS.fullmatch(value)
            return f"{match['head']}:00{match['zone'] or ''}" if match else value
        case inspect.UnionType(types=kinds):
            for one in kinds:
                value = _completed(one, value)
            return value
        case inspect.DictType(value_type=inner) if isinstance(value, dict):
            items = msgspec.convert(value, dict[str, Any])
            return {name: _completed(inner, one) for name, one in items.items()}
        case _ if isinstance(value, dict):
            return _object(kind, msgspec.convert(value, dict[str, Any]))
        case _ if isinstance(value, list):
            return _list(kind, msgspec.convert(value, list[Any]))
        case _:
            return value


def _object(kind: inspect.Type, value: dict[str, Json]) -> Json:
    """The fields of an object; a struct whose tag is another's is none of these."""
    tag = kind.tag_field if isinstance(kind, inspect.StructType) else None
    if tag is not None and value.get(tag) != getattr(kind, "tag", None):
        return value
    fields: tuple[inspect.Field, ...] = getattr(kind, "fields", ())
    known = {field.encode_name: field.type for field in fields}
    return {
        name: _completed(known[name], one) if name in known else one for name, one in value.items()
    }


def _list(kind: inspect.Type, value: list[Json]) -> Json:
    match kind:
        case inspect.TupleType(item_types=kinds):
            pairs = zip(kinds, value, strict=False)
            return [*(_completed(inner, one) for inner, one in pairs), *value[len(kinds) :]]
        case inspect.NamedTupleType(fields=fields):
            pairs = zip((field.type for field in fields), value, strict=False)
            return [*(_completed(inner, one) for inner, one in pairs), *value[len(fields) :]]
        case inspect.CollectionType(item_type=inner):
            return [_completed(inner, one) for one in value]
        case _:
            return value
