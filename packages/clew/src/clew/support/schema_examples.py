"""Small values of the form that a JSON Schema asks for, to be shown where a form was missed."""

import re
from collections.abc import Iterator, Sequence
from itertools import count, islice, takewhile
from math import inf
from typing import Any, Final

import jsonschema_rs

from clew.support.json_values import Json
from clew.support.schema_parts import keywords, target

_DEEPEST: Final = 8
_PLACEHOLDER: Final = "..."
_MAX_VALUES: Final = 100
"""So many values of a form are looked at for one that is not in a list yet."""
_UNIQUE: Final = jsonschema_rs.Draft202012Validator({"uniqueItems": True})
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
    expanded = dict(keywords(schema))
    parts: list[Json] = []
    if "$ref" in expanded:
        parts.append(target(expanded.pop("$ref"), root))
    parts += expanded.pop("allOf", [])
    for keyword in ("anyOf", "oneOf"):
        if forms := expanded.pop(keyword, []):
            parts.append(forms[choice % len(forms)])
    asked = expanded.pop("if", None)
    branches = ([asked, expanded.pop("then", True)], [expanded.pop("else", True)])
    parts += branches[choice % 2] if asked is not None else []
    flat = expanded
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
    fields = keywords(schema)
    if fields.get("examples"):
        return fields["examples"][0]
    for keyword in ("default", "const"):
        if keyword in fields:
            return fields[keyword]
    if fields.get("enum"):
        return fields["enum"][0]
    if depth > _DEEPEST:
        return _PLACEHOLDER
    if "$ref" in fields:
        return _example(target(fields["$ref"], root), root, also, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if fields.get(keyword):
            return _example(fields[keyword][0], root, also, depth + 1)
    return _of_type(fields, root, also, depth)


def _of_type(fields: dict[str, Json], root: Json, also: frozenset[str], depth: int) -> Json:
    kinds = fields.get("type", "string")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "integer" | "number":
            return _number(fields)
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return _list(fields, root, depth)
        case "object":
            properties = keywords(fields.get("properties"))
            names = also | frozenset(fields.get("required", ()))
            return {
                name: _example(inner, root, frozenset(), depth + 1)
                for name, inner in properties.items()
                if name in names
            }
        case _:
            if (known := _FORMATS.get(str(fields.get("format")))) is not None:
                return known
            return _PLACEHOLDER.ljust(fields.get("minLength", 0), ".")[: fields.get("maxLength")]


def _list(fields: dict[str, Json], root: Json, depth: int) -> Json:
    forms: list[Json] = [*fields.get("prefixItems", ())]
    rest = fields.get("items", fields.get("contains"))
    if rest is not False:
        min_items = max(fields.get("minItems", 0), 0 if forms else 1)
        forms += [rest] * (min_items - len(forms))
    forms = forms[: fields.get("maxItems")]
    if fields.get("uniqueItems"):
        return _distinct(forms, root, depth)
    examples = {id(form): _example(form, root, frozenset(), depth + 1) for form in forms}
    return [examples[id(form)] for form in forms]


def _distinct(forms: list[Json], root: Json, depth: int) -> list[Json]:
    """A value for each form, none of them twice, as far as such values are found."""
    values = {id(form): islice(_values(form, root, depth + 1), _MAX_VALUES) for form in forms}
    items: list[Json] = []
    for form in forms:
        others = (value for value in values[id(form)] if _UNIQUE.is_valid([*items, value]))
        items += islice(others, 1)
    return items


def _values(schema: Json, root: Json, depth: int) -> Iterator[Json]:
    """Several values of a form, its example first; one may come twice."""
    fields = keywords(schema)
    first = _example(schema, root, frozenset(), depth)
    yield first
    yield from fields.get("examples", ())
    yield from fields.get("enum", ())
    if depth > _DEEPEST or fields.get("enum") or "const" in fields:
        return
    inner = [target(fields["$ref"], root)] if "$ref" in fields else []
    inner = inner or fields.get("anyOf") or fields.get("oneOf") or fields.get("allOf", ())[:1]
    for form in inner:
        yield from _values(form, root, depth + 1)
    if inner:
        return
    kinds = fields.get("type", "string")
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield from _of_one_type({**fields, "type": kind}, root, depth)


def _of_one_type(fields: dict[str, Json], root: Json, depth: int) -> Iterator[Json]:
    """Several values of a form that has one type."""
    match fields["type"]:
        case "integer" | "number":
            yield from _numbers(fields)
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case "array":
            yield from _lists(fields, root, depth)
        case "object":
            yield from _objects(fields, root, depth)
        case _:
            yield from _texts(fields)


def _numbers(fields: dict[str, Json]) -> Iterator[int | float]:
    """Upwards from the example, then downwards; between narrow limits, ever closer to one."""
    first, step = _number(fields), fields.get("multipleOf", 1)
    low, high = fields.get("minimum", -inf), fields.get("maximum", inf)
    above, below = fields.get("exclusiveMinimum", -inf), fields.get("exclusiveMaximum", inf)
    ways = [(first + step * n for n in count()), (first - step * n for n in count())]
    if fields["type"] == "number" and "multipleOf" not in fields:
        near = min(high, below) if min(high, below) > first else max(low, above)
        ways.append(first + (near - first) / 2**n for n in range(1, _MAX_VALUES))
    for numbers in ways:
        yield from takewhile(lambda it: low <= it <= high and above < it < below, numbers)


def _texts(fields: dict[str, Json]) -> Iterator[str]:
    """Texts that differ in a number."""
    form, max_length = _FORMATS.get(str(fields.get("format"))), fields.get("maxLength")
    for n in range(2, _MAX_VALUES):
        if form is None:
            text = f"{_PLACEHOLDER}{n}".rjust(fields.get("minLength", 0), ".")
            yield text if max_length is None else text[max(0, len(text) - max_length) :]
        elif number := re.search(r"\d+", form):
            yield f"{form[: number.start()]}{int(number[0]) + n}{form[number.end() :]}"
        else:
            name, at, rest = form.partition("@")
            yield f"{name}{n}{at}{rest}"


def _lists(fields: dict[str, Json], root: Json, depth: int) -> Iterator[list[Json]]:
    """Lists with another item in one place, then longer ones."""
    first = _list(fields, root, depth)
    fixed = fields.get("prefixItems", ())
    rest = fields.get("items", fields.get("contains"))
    for index in range(len(first)):
        for value in _values(fixed[index] if index < len(fixed) else rest, root, depth + 1):
            other = [*first[:index], value, *first[index + 1 :]]
            if not fields.get("uniqueItems") or _UNIQUE.is_valid(other):
                yield other
    max_items = min(len(first) + _MAX_VALUES, fields.get("maxItems", inf))
    for length in range(len(first) + 1, max_items + 1) if rest is not False else ():
        yield _list({**fields, "minItems": length}, root, depth)


def _objects(fields: dict[str, Json], root: Json, depth: int) -> Iterator[dict[str, Json]]:
    """Objects with another value of one property, or with one more."""
    first = _of_type(fields, root, frozenset(), depth)
    for name, form in keywords(fields.get("properties")).items():
        for value in _values(form, root, depth + 1):
            yield {**first, name: value}
    if (form := fields.get("additionalProperties", True)) is not False:
        for name in map(str, range(1, _MAX_VALUES)):
            yield {**first, name: _example(form, root, frozenset(), depth + 1)}


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
