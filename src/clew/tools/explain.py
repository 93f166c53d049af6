"""What a validator found, in lines a model can act on: where, what was wrong, what is right."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

import jsonschema_rs

from clew.core.events import Json, encode
from clew.tools.similar_names import nearest

MOST_LINES: Final = 5

_SHOWN: Final = 60
_OPTIONS: Final = 12
_DEEPEST: Final = 8
_PLACEHOLDER: Final = "..."
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
    if len(lines) > MOST_LINES:
        rest = len(lines) - MOST_LINES
        lines[MOST_LINES:] = [f"and {rest} more"]
    return lines


def example(schema: Json, also: Sequence[str] = ()) -> Json:
    """A small value of the right form: what is required, and the properties named in `also`."""
    return _example(schema, schema, frozenset(also), 0)


def candidates(schema: Json) -> Iterator[Json]:
    """Small values that may be of the right form, the likeliest first.

    Where a schema is put together of others (`allOf`, `anyOf`, `oneOf`, `if`), it is read as one
    schema for each choice.
    """
    yield example(schema)
    known = keywords(schema)
    for choice in range(_CHOICES):
        flat = _flat(schema, schema, choice, 0)
        flat = {**{name: known[name] for name in _NAMED if name in known}, **flat}
        yield example(flat)
        yield example(flat, [*keywords(flat.get("properties"))])


_CHOICES: Final = 4
_NAMED: Final = ("$defs", "definitions")


def _flat(schema: Json, root: Json, choice: int, depth: int) -> dict[str, Json]:
    """A schema and what it is put together of, as one; of alternatives that of the choice."""
    given = dict(keywords(schema))
    parts: list[Json] = []
    if "$ref" in given:
        parts.append(_target(given.pop("$ref"), root))
    parts += given.pop("allOf", [])
    for keyword in ("anyOf", "oneOf"):
        if forms := given.pop(keyword, []):
            parts.append(forms[choice % len(forms)])
    asked = given.pop("if", None)
    branches = ([asked, given.pop("then", True)], [given.pop("else", True)])
    parts += branches[choice % 2] if asked is not None else []
    flat = given
    for part in parts if depth < _DEEPEST else ():
        flat = _merged(flat, _flat(part, root, choice, depth + 1))
    if isinstance(flat.get("properties"), dict) and depth < _DEEPEST:
        flat["properties"] = {
            name: _flat(inner, root, choice, depth + 1) if _is_composed(inner) else inner
            for name, inner in flat["properties"].items()
        }
    return flat


def _is_composed(schema: Json) -> bool:
    return bool(keywords(schema).keys() & {"allOf", "anyOf", "oneOf", "if"})


def _merged(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    """Two schemas of the same value as one, about."""
    both: dict[str, Json] = {**one, **other}
    mine, theirs = keywords(one.get("properties")), keywords(other.get("properties"))
    if mine or theirs:
        known = {
            name: {**keywords(mine.get(name)), **keywords(theirs.get(name))} for name in theirs
        }
        both["properties"] = {**mine, **known}
    if "required" in one and "required" in other:
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return both


def describe_schema(schema: Json, root: Json) -> str:
    """What a schema asks for, in a few words: `an integer from 1 to 5`, `a string or null`."""
    return _describe(schema, root, 0)


def at(root: Json, path: Sequence[str | int]) -> Json:
    """What lies at a path in a schema or a value; True (anything) where nothing does."""
    found = root
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return True
    return found


def keywords(schema: Json) -> dict[str, Json]:
    """A schema's keywords: none for `true`, which takes anything, or for what is no schema."""
    return cast("dict[str, Json]", schema) if isinstance(schema, dict) else {}


def _target(reference: Json, root: Json) -> Json:
    """Where a local reference leads."""
    path = str(reference).removeprefix("#").split("/")[1:]
    return at(root, [step.replace("~1", "/").replace("~0", "~") for step in path])


def _describe(schema: Json, root: Json, depth: int) -> str:
    given = keywords(schema)
    if "$ref" in given and depth < _DEEPEST:
        return _describe(_target(given["$ref"], root), root, depth + 1)
    if "const" in given:
        return _quote(given["const"])
    if "enum" in given:
        return _options(given["enum"])
    if (forms := given.get("anyOf", given.get("oneOf"))) and depth < _DEEPEST:
        return " or ".join(dict.fromkeys(_describe(form, root, depth + 1) for form in forms))
    kinds = given.get("type", ())
    nouns = [_NOUNS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " or ".join(nouns) + _range(given) if nouns else "a value"


def _options(options: list[Json]) -> str:
    shown = ", ".join(_quote(option) for option in options[:_OPTIONS])
    more = ", …" if len(options) > _OPTIONS else ""
    return f"one of {shown}{more}" if len(options) > 1 else shown


def _range(schema: dict[str, Json]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return "" if high is None else f" of at most {high}"


def _lines(root: Json, value: Json, error: Error, noun: str) -> Iterator[str]:
    path, here = error.instance_path, at(root, error.schema_path[:-1])
    kind, found = error.kind.name, error.kind.as_dict()
    match kind:
        case "required":
            name = found["property"]
            need = describe_schema(at(here, ["properties", name]), root)
            yield f"{_place([*path, name])}: missing, {need} is required"
        case "additionalProperties" | "unevaluatedProperties":
            known = list(keywords(keywords(here).get("properties")))
            for name in found["unexpected"]:
                yield f"{_place([*path, name])}: unknown {noun}{_instead(name, known)}"
        case "falseSchema" if error.schema_path[-1:] == ["additionalProperties"]:
            for name in keywords(at(value, path)):  # the validator does not say which
                yield f"{_place([*path, name])}: unknown {noun}{_instead(name, [])}"
        case "falseSchema":
            yield f"{_place(path)}: {_quote(error.instance)} is one too many"
        case "type":
            wanted = describe_schema(here, root)
            yield f"{_place(path)}: {_kind(error.instance)}, {wanted} is required"
        case "anyOf" | "oneOf" if branch := _likeliest(path, found["context"]):
            for inner in branch:
                yield from _lines(root, value, inner, noun)
        case "enum" | "const" | "anyOf" | "oneOf" if not _several(found):
            shown, wanted = _quote(error.instance), describe_schema(here, root)
            yield f"{_place(path)}: {shown} is not allowed, {wanted} is required"
        case _:
            yield f"{_place(path)}: {_shorten(error.message)}"


def _several(found: dict[str, Any]) -> bool:
    """Whether a `oneOf` failed because more than one of its forms fits."""
    return any(not branch for branch in found.get("context", ()))


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
    if close := nearest(name, known):
        return f"; did you mean {close}?"
    return f"; there are: {', '.join(known[:_OPTIONS])}" if known else "; there are none"


def _place(path: Sequence[str | int]) -> str:
    """`items[2].name`; `value` for the whole."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return _shorten(text.removeprefix(".")) or "value"


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
    return _shorten(encode(value).decode())


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _example(schema: Json, root: Json, also: frozenset[str], depth: int) -> Json:
    given = keywords(schema)
    if given.get("examples"):
        return given["examples"][0]
    for keyword in ("default", "const"):
        if keyword in given:
            return given[keyword]
    if given.get("enum"):
        return given["enum"][0]
    if depth > _DEEPEST:
        return _PLACEHOLDER
    if "$ref" in given:
        return _example(_target(given["$ref"], root), root, also, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if given.get(keyword):
            return _example(given[keyword][0], root, also, depth + 1)
    return _of_type(given, root, also, depth)


def _of_type(given: dict[str, Json], root: Json, also: frozenset[str], depth: int) -> Json:
    kinds = given.get("type", "string")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "integer" | "number":
            return _number(given)
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return _list(given, root, depth)
        case "object":
            properties = keywords(given.get("properties"))
            names = also | frozenset(given.get("required", ()))
            return {
                name: _example(inner, root, frozenset(), depth + 1)
                for name, inner in properties.items()
                if name in names
            }
        case _:
            return _PLACEHOLDER.ljust(given.get("minLength", 0), ".")[: given.get("maxLength")]


def _list(given: dict[str, Json], root: Json, depth: int) -> Json:
    items = [_example(form, root, frozenset(), depth + 1) for form in given.get("prefixItems", ())]
    if items or given.get("items") is False:
        return items
    item = _example(given.get("items"), root, frozenset(), depth + 1)
    return [item] * (1 if given.get("uniqueItems") else max(1, given.get("minItems", 1)))


def _number(schema: dict[str, Json]) -> int | float:
    """1, or what is next to it within the limits."""
    lows = [schema["minimum"]] if "minimum" in schema else []
    lows += [schema["exclusiveMinimum"] + 1] if "exclusiveMinimum" in schema else []
    highs = [schema["maximum"]] if "maximum" in schema else []
    highs += [schema["exclusiveMaximum"] - 1] if "exclusiveMaximum" in schema else []
    number: int | float = min([max([1, *lows]), *highs])
    return number
