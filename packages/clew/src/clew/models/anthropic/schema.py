"""What of JSON Schema Anthropic's API takes: in the schemas of tools, and to hold a reply to.

Formats: https://platform.claude.com/docs/en/build-with-claude/structured-outputs and
https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json, encode
from clew.support.errors import ConfigError

_TOP: Final = ("oneOf", "anyOf", "allOf")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

_KEPT: Final = frozenset(
    {"type", "title", "description", "default", "enum", "const", "required", "$ref"}
)
_EXACT: Final[Mapping[str, tuple[Json, ...]]] = {
    "minItems": (0, 1),
    "format": (
        *("date-time", "time", "date", "duration", "email", "hostname"),
        *("uri", "ipv4", "ipv6", "uuid"),
    ),
}
"""Keywords of which only some values are taken."""

_ANNOTATIONS: Final = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "pattern", "format"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "examples"),
    }
)
"""Keywords that say more of a value than the API can hold a reply to."""


def input_schema(tool: ToolSpec) -> Json:
    """The schema of a tool's arguments. Raises `ConfigError` for what the API refuses in one."""
    schema = tool.parameters
    if odd := [key for key in _TOP if key in schema]:
        raise ConfigError(
            f"the tool {tool.name!r} has {odd[0]} at the top of its schema, which Anthropic's API "
            "does not take: put it inside a property"
        )
    properties: dict[str, Any] = schema.get("properties") or {}
    for name in properties:
        if not _PROPERTY.fullmatch(name):
            raise ConfigError(
                f"the tool {tool.name!r} has the property {name!r}, which Anthropic's API does not "
                "take: rename it to 1 to 64 letters, digits, '_', '.' and '-'"
            )
    return schema if "type" in schema else {"type": "object"} | schema


def reply_schema(schema: Parameters) -> Json | None:
    """The schema as the API holds a reply to it, or None where it cannot.

    Objects get no further properties, since the API demands that; limits of numbers, lengths and
    patterns go into the description. So it is a little narrower and a little wider than what was
    asked for: whoever reads the reply still has to check it.
    """
    try:
        return _held(schema)
    except _CannotError:
        return None


class _CannotError(Exception):
    """The schema has what the API cannot hold a reply to."""


def _held(schema: Any) -> Json:
    if not isinstance(schema, dict):
        raise _CannotError  # true and false say nothing that could be written
    known = msgspec.convert(schema, dict[str, Any])
    if "$ref" in known:  # what stands beside a reference is not looked at
        known = {key: known[key] for key in ("$ref", "$defs") if key in known}
    if isinstance(known.get("type"), list):
        return {"anyOf": [_held(known | {"type": one}) for one in known["type"]]}
    held: dict[str, Json] = {}
    annotations: dict[str, Json] = {}
    for key, value in known.items():
        if key in _KEPT or value in _EXACT.get(key, ()):
            held[key] = value
        elif (inner := _INNER.get(key)) is not None:
            held["anyOf" if key == "oneOf" else key] = inner(value)
        elif key in _ANNOTATIONS:
            annotations[key] = value
        elif key != "additionalProperties" or isinstance(value, dict):
            raise _CannotError  # among others names that are not known beforehand
    if annotations:
        words = ", ".join(f"{key}: {encode(value).decode()}" for key, value in annotations.items())
        held["description"] = "\n".join(filter(None, [held.get("description"), f"({words})"]))
    return _closed(held, empty=known.get("additionalProperties") is False)


def _closed(held: dict[str, Json], *, empty: bool) -> Json:
    """The schema with no further properties; `empty` says that there may be none at all."""
    if not held.keys() & {"type", "enum", "const", "$ref", "anyOf", "allOf"}:
        raise _CannotError
    if held.get("type") == "object":
        if not held.get("properties") and not empty:
            raise _CannotError  # any object would do, and the API would take none but {}
        held["additionalProperties"] = False
    return held


def _each(schemas: list[Any]) -> Json:
    return [_held(one) for one in schemas]


def _named(schemas: dict[str, Any]) -> Json:
    return {name: _held(one) for name, one in schemas.items()}


_INNER: Final[Mapping[str, Callable[[Any], Json]]] = {
    "anyOf": _each,
    "oneOf": _each,
    "allOf": _each,
    "properties": _named,
    "$defs": _named,
    "items": _held,
}
"""Keywords with schemas in them."""
