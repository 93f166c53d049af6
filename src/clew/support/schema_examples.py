"""Small values of the form that a JSON Schema asks for, to be shown where a form was missed."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import jsonschema_rs

from clew.core.events import Json
from clew.support.schema_parts import keywords, target

_DEEPEST: Final = 8
_PLACEHOLDER: Final = "..."
_FORMATS: Final = {
    "date": "2024-01-31",
    "time": "10:00:00Z",
    "date-time": "2024-01-31T10:00:00Z",
    "duration": "PT10M",
    "email": "name@example.org",
    "uri": "https://example.org/",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}
"""A text of each format; the validator takes any text, and who reads it does not."""


def example(schema: Json, also: Sequence[str] = ()) -> Json:
    """A small value of the right form: what is required, and the properties named in `also`."""
    return _example(schema, schema, frozenset(also), 0)


def right_form(schema: Json, *first: Json) -> Json:
    """A small value that the schema takes, of these or made for it; None where none is found.

    References lead only into the schema itself. Raises `ValueError` for a schema that is none.
    """
    check = jsonschema_rs.Draft202012Validator(schema, retriever=refuse)
    return next((value for value in (*first, *candidates(schema)) if check.is_valid(value)), None)


def refuse(uri: str) -> Any:
    """Fetch no schema from anywhere. Raises `ValueError`."""
    message = f"{uri} is outside the schema"
    raise ValueError(message)


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
        parts.append(target(given.pop("$ref"), root))
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
        return _example(target(given["$ref"], root), root, also, depth + 1)
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
            if (known := _FORMATS.get(str(given.get("format")))) is not None:
                return known
            return _PLACEHOLDER.ljust(given.get("minLength", 0), ".")[: given.get("maxLength")]


def _list(given: dict[str, Json], root: Json, depth: int) -> Json:
    items = [_example(form, root, frozenset(), depth + 1) for form in given.get("prefixItems", ())]
    if items or given.get("items") is False:
        return items
    items = [_example(given.get("items", given.get("contains")), root, frozenset(), depth + 1)]
    if not given.get("uniqueItems"):
        items *= max(1, given.get("minItems", 1))
    elif isinstance(items[0], int):
        items = [items[0] + more for more in range(max(1, given.get("minItems", 1)))]
    return items[: given.get("maxItems")]


def _number(schema: dict[str, Json]) -> int | float:
    """1, or what is next to it within the limits."""
    lows = [schema["minimum"]] if "minimum" in schema else []
    lows += [schema["exclusiveMinimum"] + 1] if "exclusiveMinimum" in schema else []
    highs = [schema["maximum"]] if "maximum" in schema else []
    highs += [schema["exclusiveMaximum"] - 1] if "exclusiveMaximum" in schema else []
    number: int | float = min([max([1, *lows]), *highs])
    if (step := schema.get("multipleOf")) and number % step:
        above = number + step - number % step
        number = above if all(above <= high for high in highs) else above - step
    elif lows and number < max(lows) and schema.get("type") == "number":
        both = [schema.get("exclusiveMinimum", lows[0]), schema.get("exclusiveMaximum", highs[0])]
        number = sum(both) / 2  # between limits that are less than 1 apart
    return number
