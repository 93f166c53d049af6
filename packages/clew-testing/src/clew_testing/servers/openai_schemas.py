"""What OpenAI refuses of the JSON Schema of a reply; with `strict`, only a subset of them is taken.

Rules and messages follow https://developers.openai.com/api/docs/guides/structured-outputs and what
the service is known to answer.
"""

from collections.abc import Iterator
from typing import Any, Final

_TYPES: Final = ["string", "number", "integer", "boolean", "object", "array", "null"]
_KNOWN: Final = frozenset(
    {"type", "enum", "const", "title", "description", "anyOf", "$defs", "properties", "required"}
    | {"additionalProperties", "items", "minItems", "maxItems", "pattern", "format", "multipleOf"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_NOT_AT_TOP: Final = frozenset({"oneOf", "anyOf", "allOf", "enum", "not"})
_DEEPEST: Final = 10


def tool_complaint(schema: dict[str, Any]) -> str:
    """Why the schema of a tool's arguments is refused, strict or not; empty where it is taken."""
    if schema.get("type") == "object" and not schema.keys() & _NOT_AT_TOP:
        return ""
    return (
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the "
        "top level."
    )


def complaint(schema: dict[str, Any], *, strict: bool) -> str:
    """Why the schema is refused; empty where it is taken."""
    if schema.get("type") != "object" or "anyOf" in schema:
        got = schema.get("type")
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{got}\"'."
    return _complaint(schema, (), 1) if strict else ""


def _complaint(schema: dict[str, Any], at: tuple[str, ...], depth: int) -> str:
    if depth > _DEEPEST:
        return f"{depth} levels of nesting exceeds limit of {_DEEPEST}."
    if own := next(_wrong(schema), ""):
        return f"In context={at!r}, {own}"
    inner = {
        **{f"properties.{name}": (each, 1) for name, each in schema.get("properties", {}).items()},
        **{f"$defs.{name}": (each, 0) for name, each in schema.get("$defs", {}).items()},
        **{f"anyOf.{index}": (each, 0) for index, each in enumerate(schema.get("anyOf", []))},
        **({"items": (schema["items"], 0)} if "items" in schema else {}),
    }
    problems = (_complaint(each, (*at, name), depth + more) for name, (each, more) in inner.items())
    return next(filter(None, problems), "")


def _wrong(schema: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a schema itself."""
    if "$ref" in schema:
        if rest := schema.keys() - {"$ref"}:
            yield f"$ref cannot have keywords {sorted(rest)}."
        return
    if odd := sorted(schema.keys() - _KNOWN):
        yield f"'{odd[0]}' is not permitted."
    if "type" not in schema and "anyOf" not in schema:
        yield "schema must have a 'type' key."
    types = schema.get("type", [])
    kinds = [types] if isinstance(types, str) else types
    for kind in kinds:
        if kind not in _TYPES:
            yield f"{kind!r} is not valid under any of the given schemas."
    if "format" in schema and schema["format"] not in _FORMATS:
        yield f"{schema['format']!r} is not a valid format."
    if "array" in kinds and "items" not in schema:
        yield "array schema missing items."
    if "object" in kinds:
        yield from _open(schema)


def _open(schema: dict[str, Any]) -> Iterator[str]:
    """Why an object is not closed, with all its properties required."""
    if schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false."
    if missing := sorted(schema.get("properties", {}).keys() - set(schema.get("required", []))):
        yield (
            "'required' is required to be supplied and to be an array including every key in "
            f"properties. Missing '{missing[0]}'."
        )
    if extra := sorted(set(schema.get("required", [])) - schema.get("properties", {}).keys()):
        yield f"'required' is invalid: extra key '{extra[0]}' supplied."
