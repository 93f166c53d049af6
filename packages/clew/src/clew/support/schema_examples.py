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
_MOST_VALUES: Final = 100
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
    forms: list[Json] = [*given.get("prefixItems", ())]
    rest = given.get("items", given.get("contains"))
    if rest is not False:
        least = max(given.get("minItems", 0), 0 if forms else 1)
        forms += [rest] * (least - len(forms))
    forms = forms[: given.get("maxItems")]
    if given.get("uniqueItems"):
        return _distinct(forms, root, depth)
    shown = {id(form): _example(form, root, frozenset(), depth + 1) for form in forms}
    return [shown[id(form)] for form in forms]


def _distinct(forms: list[Json], root: Json, depth: int) -> list[Json]:
    """A value for each form, none of them twice, as far as such values are found."""
    values = {id(form): islice(_values(form, root, depth + 1), _MOST_VALUES) for form in forms}
    items: list[Json] = []
    for form in forms:
        others = (value for value in values[id(form)] if _UNIQUE.is_valid([*items, value]))
        items += islice(others, 1)
    return items


def _values(schema: Json, root: Json, depth: int) -> Iterator[Json]:
    """Several values of a form, its example first; one may come twice."""
    given = keywords(schema)
    first = _example(schema, root, frozenset(), depth)
    yield first
    yield from given.get("examples", ())
    yield from given.get("enum", ())
    if depth > _DEEPEST or given.get("enum") or "const" in given:
        return
    inner = [target(given["$ref"], root)] if "$ref" in given else []
    inner = inner or given.get("anyOf") or given.get("oneOf") or given.get("allOf", ())[:1]
    for form in inner:
        yield from _values(form, root, depth + 1)
    if inner:
        return
    kinds = given.get("type", "string")
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield from _of_one_type({**given, "type": kind}, root, depth)


def _of_one_type(given: dict[str, Json], root: Json, depth: int) -> Iterator[Json]:
    """Several values of a form that has one type."""
    match given["type"]:
        case "integer" | "number":
            yield from _numbers(given)
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case "array":
            yield from _lists(given, root, depth)
        case "object":
            yield from _objects(given, root, depth)
        case _:
            yield from _texts(given)


def _numbers(given: dict[str, Json]) -> Iterator[int | float]:
    """Upwards from the example, then downwards; between narrow limits, ever closer to one."""
    first, step = _number(given), given.get("multipleOf", 1)
    low, high = given.get("minimum", -inf), given.get("maximum", inf)
    above, below = given.get("exclusiveMinimum", -inf), given.get("exclusiveMaximum", inf)
    ways = [(first + step * n for n in count()), (first - step * n for n in count())]
    if given["type"] == "number" and "multipleOf" not in given:
        near = min(high, below) if min(high, below) > first else max(low, above)
        ways.append(first + (near - first) / 2**n for n in range(1, _MOST_VALUES))
    for numbers in ways:
        yield from takewhile(lambda it: low <= it <= high and above < it < below, numbers)


def _texts(given: dict[str, Json]) -> Iterator[str]:
    """Texts that differ in a number."""
    form, most = _FORMATS.get(str(given.get("format"))), given.get("maxLength")
    for n in range(2, _MOST_VALUES):
        if form is None:
            text = f"{_PLACEHOLDER}{n}".rjust(given.get("minLength", 0), ".")
            yield text if most is None else text[max(0, len(text) - most) :]
        elif number := re.search(r"\d+", form):
            yield f"{form[: number.start()]}{int(number[0]) + n}{form[number.end() :]}"
        else:
            name, at, rest = form.partition("@")
            yield f"{name}{n}{at}{rest}"


def _lists(given: dict[str, Json], root: Json, depth: int) -> Iterator[list[Json]]:
    """Lists with another item in one place, then longer ones."""
    first = _list(given, root, depth)
    fixed = given.get("prefixItems", ())
    rest = given.get("items", given.get("contains"))
    for place in range(len(first)):
        for value in _values(fixed[place] if place < len(fixed) else rest, root, depth + 1):
            other = [*first[:place], value, *first[place + 1 :]]
            if not given.get("uniqueItems") or _UNIQUE.is_valid(other):
                yield other
    most = min(len(first) + _MOST_VALUES, given.get("maxItems", inf))
    for length in range(len(first) + 1, most + 1) if rest is not False else ():
        yield _list({**given, "minItems": length}, root, depth)


def _objects(given: dict[str, Json], root: Json, depth: int) -> Iterator[dict[str, Json]]:
    """Objects with another value of one property, or with one more."""
    first = _of_type(given, root, frozenset(), depth)
    for name, form in keywords(given.get("properties")).items():
        for value in _values(form, root, depth + 1):
            yield {**first, name: value}
    if (form := given.get("additionalProperties", True)) is not False:
        for name in map(str, range(1, _MOST_VALUES)):
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
