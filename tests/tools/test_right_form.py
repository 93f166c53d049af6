"""The form that a model is shown is one that the schema takes, or none is shown."""

from typing import Any

import pytest

from clew.tools.schema import compile_schema, problems, right_form


def of(**more: Any) -> dict[str, Any]:
    named = {"a": {"type": "string"}, "b": {"type": "integer"}}
    return {"type": "object", "properties": named, **more}


def kind(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": name}, **more},
        "required": ["kind", *more],
        "additionalProperties": False,
    }


CAT, DOG = kind("cat", lives={"type": "integer"}), kind("dog", bark={"type": "string"})
SCHEMAS: dict[str, dict[str, Any]] = {
    "one of two is required": of(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "exactly one": of(oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "beside a required one": of(required=["a"], anyOf=[{"required": ["b"]}]),
    "both": of(allOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "more properties": of(allOf=[{"properties": {"c": {"type": "null"}}, "required": ["c"]}]),
    "narrowed": of(required=["b"], allOf=[{"properties": {"b": {"minimum": 5}}}]),
    "if then": of(
        required=["a"],
        **{"if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}},
    ),
    "if else": of(
        required=["a"],
        **{"if": {"properties": {"a": {"const": "x"}}}, "then": False, "else": {"required": ["b"]}},
    ),
    "discriminated": {"type": "object", "oneOf": [CAT, DOG]},
    "discriminated inside": of(properties={"pet": {"anyOf": [CAT, DOG]}}, required=["pet"]),
    "by reference": {"type": "object", "$defs": {"x": DOG}, "allOf": [{"$ref": "#/$defs/x"}]},
    "references inside": {
        "type": "object",
        "$defs": {"x": DOG},
        "properties": {"pet": {"$ref": "#/$defs/x"}},
        "anyOf": [{"required": ["pet"]}],
    },
    "second choice": of(anyOf=[False, {"required": ["b"]}]),
    "open": {"type": "object", "properties": {"a": True}, "allOf": [True, {"required": ["a"]}]},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_the_form_shown_is_right(schema: dict[str, Any]) -> None:
    shown = right_form(schema)
    assert shown is not None
    assert compile_schema(schema)(shown) == []


@pytest.mark.parametrize(
    "schema",
    [of(allOf=[False]), of(required=["a"], properties={"a": {"pattern": "^z{9}$"}})],
)  # fmt: skip
def test_where_no_form_is_found_none_is_shown(schema: dict[str, Any]) -> None:
    assert right_form(schema) is None
    assert problems(schema, {}) != []


def test_a_schema_that_refers_to_itself_has_a_form() -> None:
    loop: dict[str, Any] = {"type": "object", "allOf": [{"$ref": "#"}]}
    assert right_form(loop) == {}
