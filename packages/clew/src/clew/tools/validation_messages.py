"""What a validator found, in lines a model can act on: where, what was wrong, what is right."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import jsonschema_rs

from clew.core.values import Json, encode
from clew.support.nearest_name import did_you_mean
from clew.support.schema_parts import at, keywords, target
from clew.support.short_text import one_line

MAX_LINES: Final = 5

_MAX_VALUE_CHARS: Final = 60
_OPTIONS: Final = 12
_DEEPEST: Final = 8
_NOUNS: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

Error = jsonschema_rs.ValidationError


def error_lines(
    schema: Json, value: Json, errors: Iterable[Error], noun: str = "argument"
) -> list[str]:
    """One line for each of the first few errors of a value, and one that counts the rest.

    `noun` is what a property of the outermost object is called.
    """
    told = (line for error in errors for line in _lines(schema, value, error, noun))
    lines = list(dict.fromkeys(told))
    if len(lines) > MAX_LINES:
        rest = len(lines) - MAX_LINES
        lines[MAX_LINES:] = [f"and {rest} more"]
    return lines


def describe_schema(schema: Json, root: Json) -> str:
    """What a schema asks for, in a few words: `an integer from 1 to 5`, `a string or null`."""
    return _describe(schema, root, 0)


def _describe(schema: Json, root: Json, depth: int) -> str:
    fields = keywords(schema)
    if "$ref" in fields and depth < _DEEPEST:
        return _describe(target(fields["$ref"], root), root, depth + 1)
    if "const" in fields:
        return _quote(fields["const"])
    if "enum" in fields:
        return _options(fields["enum"])
    if (forms := fields.get("anyOf", fields.get("oneOf"))) and depth < _DEEPEST:
        return " or ".join(dict.fromkeys(_describe(form, root, depth + 1) for form in forms))
    kinds = fields.get("type", ())
    nouns = [_NOUNS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " or ".join(nouns) + _range(fields) if nouns else "a value"


def _options(options: list[Json]) -> str:
    quoted = ", ".join(_quote(option) for option in options[:_OPTIONS])
    more = ", …" if len(options) > _OPTIONS else ""
    return f"one of {quoted}{more}" if len(options) > 1 else quoted


def _range(schema: dict[str, Json]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return "" if high is None else f" of at most {high}"


def _lines(root: Json, value: Json, error: Error, noun: str) -> Iterator[str]:
    path, here = error.instance_path, at(root, error.schema_path[:-1])
    kind, details = error.kind.name, error.kind.as_dict()
    match kind:
        case "required":
            name = details["property"]
            need = describe_schema(at(here, ["properties", name]), root)
            yield f"{_path_text([*path, name])}: missing, {need} is required"
        case "additionalProperties" | "unevaluatedProperties":
            known = list(keywords(keywords(here).get("properties")))
            for name in details["unexpected"]:
                yield f"{_path_text([*path, name])}: unknown {noun}{_instead(name, known)}"
        case "falseSchema" if error.schema_path[-1:] == ["additionalProperties"]:
            for name in keywords(at(value, path)):  # the validator does not say which
                yield f"{_path_text([*path, name])}: unknown {noun}{_instead(name, [])}"
        case "falseSchema":
            yield f"{_path_text(path)}: {_quote(error.instance)} is one too many"
        case "type":
            wanted = describe_schema(here, root)
            yield f"{_path_text(path)}: {_kind(error.instance)}, {wanted} is required"
        case "anyOf" | "oneOf" if branch := _likeliest(path, details["context"]):
            for inner in branch:
                yield from _lines(root, value, inner, noun)
        case "enum" | "const" | "anyOf" | "oneOf" if not _several(details):
            quoted, wanted = _quote(error.instance), describe_schema(here, root)
            yield f"{_path_text(path)}: {quoted} is not allowed, {wanted} is required"
        case _:
            yield f"{_path_text(path)}: {_reason(error)}"


def _reason(error: Error) -> str:
    """The validator's own words: long values in them are shortened, and the reason is not."""
    written = encode(error.instance).decode()
    words = error.message.removeprefix(written)
    return one_line(words if words == error.message else f"{_quote(error.instance)}{words}", 200)


def _several(details: dict[str, Any]) -> bool:
    """Whether a `oneOf` failed because more than one of its forms fits."""
    return any(not branch for branch in details.get("context", ()))


def _likeliest(path: list[str | int], branches: list[list[Error]]) -> list[Error]:
    """The errors of the form most likely meant: only about what is inside, and the fewest."""
    close = [
        branch
        for branch in branches
        if branch and all(e.instance_path != path or e.kind.name in _INNER for e in branch)
    ]
    return min(close, key=len) if close else []


_INNER: Final = frozenset({"required", "additionalProperties"})
"""Errors that are reported at an object but speak of what is in it."""


def _instead(name: str, known: Sequence[str]) -> str:
    otherwise = f"there are: {', '.join(known[:_OPTIONS])}" if known else "there are none"
    return f"; {did_you_mean(name, known, otherwise)}"


def _path_text(path: Sequence[str | int]) -> str:
    """`items[2].name`; `value` for the whole."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return one_line(text.removeprefix("."), _MAX_VALUE_CHARS) or "value"


def _kind(value: Json) -> str:
    """A value and what it is: `"5" is a string`."""
    if value is None:
        return "null is not allowed"
    noun = next(name for kind, name in _PYTHON if isinstance(value, kind))
    return f"{_quote(value)} is {_NOUNS[noun]}"


_PYTHON: Final = (
    (bool, "boolean"),
    (str, "string"),
    (int | float, "number"),
    (dict, "object"),
    (object, "array"),
)


def _quote(value: Json) -> str:
    return one_line(encode(value).decode(), _MAX_VALUE_CHARS)
