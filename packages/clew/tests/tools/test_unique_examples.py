"""The example of a list that holds nothing twice holds nothing twice, whatever it is a list of."""

import jsonschema_rs
import pytest

from clew.core.values import Json
from clew.tools.schema import example

FORMATS = ["date", "time", "date-time", "duration", "email", "uri", "uuid"]
PAIR: Json = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True}
ITEMS: list[Json] = [
    True,
    {"type": "string"},
    {"type": "string", "minLength": 6},
    {"type": "string", "maxLength": 1},
    {"type": "string", "minLength": 2, "maxLength": 2},
    *({"type": "string", "format": name} for name in FORMATS),
    {"type": "boolean"},
    {"type": "integer"},
    {"type": "integer", "maximum": 1},
    {"type": "integer", "minimum": 4, "maximum": 5},
    {"type": "integer", "multipleOf": 7},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6},
    {"type": "number"},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "multipleOf": 0.5, "maximum": 1},
    {"type": ["boolean", "null"]},
    {"type": ["null", "string"]},
    {"enum": ["a", "b"]},
    {"enum": [1, 1.0, 2]},
    {"enum": [True, 1]},
    {"type": "string", "examples": ["a"]},
    {"type": "integer", "default": 4},
    {"anyOf": [{"const": 1}, {"type": "null"}]},
    {"anyOf": [{"const": 1}, {"const": 1.0}, {"const": True}]},
    {"oneOf": [{"type": "null"}, {"type": "boolean"}]},
    {"allOf": [{"type": "integer"}]},
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "array", "items": {"type": "boolean"}},
    {"type": "array", "items": {"type": "null"}},
    {"type": "array", "prefixItems": [{"const": 1}, {"type": "boolean"}]},
    PAIR,
    {"$ref": "#/$defs/deep"},
]
UNIQUE: list[Json] = [
    {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
    *({**PAIR, "items": item} for item in ITEMS),
    *({**PAIR, "minItems": 5, "items": {"type": kind}} for kind in ("string", "number", "object")),
    {"type": "array", "prefixItems": [{"type": "string"}] * 2, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"const": 1}, {"type": "integer"}], "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "boolean"}], "minItems": 3, "uniqueItems": True},
    {**PAIR, "items": {**PAIR, "items": PAIR}},
]
"""Lists that hold nothing twice, of all kinds of items."""


@pytest.mark.parametrize("schema", UNIQUE, ids=str)
def test_an_example_holds_nothing_twice(schema: Json) -> None:
    deep = {"type": "object", "properties": {"deep": {"$ref": "#/$defs/deep"}}}
    whole = {**schema, "$defs": {"deep": deep}}
    check = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    assert list(map(str, check.iter_errors(example(whole)))) == []


@pytest.mark.parametrize(
    ("item", "most"),
    [
        ({"type": "boolean"}, 2),
        ({"type": "null"}, 1),
        ({"enum": [1, 1.0, 2]}, 2),
        ({"type": "integer", "minimum": 1, "maximum": 3}, 3),
        ({"type": "array", "items": False}, 1),
        ({"type": "object", "additionalProperties": False}, 1),
        ({"type": "string", "maxLength": 0}, 1),
        ({"$ref": "#/$defs/same"}, 1),
    ],
)
def test_where_there_are_too_few_values_it_holds_what_there_is(item: Json, most: int) -> None:
    same = {"$ref": "#/$defs/same"}
    shown = example({**PAIR, "minItems": 9, "items": item, "$defs": {"same": same}})
    assert isinstance(shown, list)
    assert len(shown) == most
