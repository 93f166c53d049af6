"""The form that a model is shown is one that the schema takes, or none is shown."""

import json
from typing import Any

import pytest

from clew.codecs.arguments import example
from clew.core.tools import ToolSpec
from clew.tools.advice import right_form as advised
from clew.tools.schema import compile_schema, problems, right_form
from tests.tools.odd_schemas import odd_schema


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


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_the_arguments_that_formats_show_are_right(schema: dict[str, Any]) -> None:
    assert compile_schema(schema)(example(ToolSpec("t", "Do it.", schema))) == []


@pytest.mark.parametrize("seed", range(20))
def test_of_odd_schemas_the_form_shown_is_right_or_there_is_none(seed: int) -> None:
    """No form is wrong, more than half have one, and where there is one, formats show it too."""
    schemas = [odd_schema(f"{seed}.{number}") for number in range(20)]
    shown = [right_form(schema) for schema in schemas]
    right = [not compile_schema(one)(form) for one, form in zip(schemas, shown, strict=True)]
    assert all(fits or form is None for fits, form in zip(right, shown, strict=True))
    assert sum(right) > 7
    taught = [compile_schema(one)(example(ToolSpec("t", "Do it.", one))) for one in schemas]
    assert not any(lines for lines, fits in zip(taught, right, strict=True) if fits)


LIMITS: dict[str, dict[str, Any]] = {
    "a multiple": {"type": "integer", "minimum": 4, "multipleOf": 5},
    "a multiple below": {"type": "integer", "maximum": 4, "multipleOf": 3},
    "the last multiple": {"type": "integer", "minimum": 1, "maximum": 3, "multipleOf": 3},
    "no multiple above": {"type": "integer", "maximum": 1, "multipleOf": 5},
    "a share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "a narrow place": {"type": "number", "minimum": 0.1, "exclusiveMaximum": 0.2},
    "different ones": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True,
                       "minItems": 3},
    "one of a kind": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "several": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    "one that is in it": {"type": "array", "contains": {"const": 7}},
    "none": {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    "a date": {"type": "string", "format": "date", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
}  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_a_value_lies_within_its_limits(limit: dict[str, Any]) -> None:
    schema = of(properties={"a": limit}, required=["a"])
    shown = right_form(schema)
    assert shown is not None
    assert compile_schema(schema)(shown) == []
    assert compile_schema(schema)(example(ToolSpec("t", "Do it.", schema))) == []


def test_a_form_is_fetched_from_nowhere() -> None:
    with pytest.raises(ValueError, match="outside the schema"):
        right_form(of(allOf=[{"$ref": "http://127.0.0.1:9/schema"}]))


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


FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "field": {"type": "string"},
        "limit": {"type": "integer", "default": 10},
        "order": {"enum": ["up", "down"]},
    },
    "required": ["field"],
    "additionalProperties": False,
}
SEARCH: dict[str, Any] = {
    "type": "object",
    "$defs": {"filter": FILTER},
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "default": 5},
        "one": {"anyOf": [{"$ref": "#/$defs/filter"}, {"type": "null"}], "default": None},
        "all": {"anyOf": [{"type": "array", "items": FILTER}, {"type": "null"}], "default": None},
        "by_name": {"type": "object", "additionalProperties": FILTER},
    },
    "required": ["query"],
    "additionalProperties": False,
}
MISTAKES: dict[str, tuple[dict[str, Any], list[str | int]]] = {
    "optional": ({"query": "x", "limit": "many"}, ["limit"]),
    "nearly its name": ({"query": "x", "limt": 3}, ["limit"]),
    "without the required one": ({"limit": 3}, ["query"]),
    "in an object": ({"query": "x", "one": {"field": "a", "limit": "z"}}, ["one", "limit"]),
    "nearly its name in it": (
        {"query": "x", "one": {"field": "a", "ordr": "up"}}, ["one", "order"]
    ),
    "in a list": ({"query": "x", "all": [{"field": "a", "order": "z"}]}, ["all", 0, "order"]),
    "in one of a list": (
        {"query": "x", "all": [{"field": "a", "limit": 1}, {"field": "b", "order": "z"}]},
        ["all", 0, "order"],
    ),
    "what is no object in a list": ({"query": "x", "all": [3]}, ["all", 0]),
    "an object for a list": ({"query": "x", "all": {"field": "a"}}, ["all"]),
    "by names of its own": (
        {"query": "x", "by_name": {"mine": {"field": "a", "limit": "z"}}},
        ["by_name", "mine", "limit"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("examples", [(), ({"query": "cats", "one": {"field": "name"}},)])
@pytest.mark.parametrize(("given", "path"), MISTAKES.values(), ids=MISTAKES)
def test_every_field_that_an_error_names_is_in_the_form_shown(
    given: dict[str, Any], path: list[str | int], examples: tuple[dict[str, Any], ...]
) -> None:
    wrong = problems(SEARCH, given)
    assert wrong
    assert str(path[-1]) in wrong[0] or isinstance(path[-1], int)
    form = json.loads(advised(ToolSpec("search", "Search.", SEARCH, examples=examples), given))
    assert compile_schema(SEARCH)(form) == []
    for step in path:  # it is there
        form = form[step]


def test_a_form_that_fits_is_shown_where_none_with_those_fields_would() -> None:
    schema = of(required=["a"], **{"if": {"required": ["b"]}, "then": False})
    form = json.loads(advised(ToolSpec("t", "Do it.", schema), {"b": 1}))
    assert compile_schema(schema)(form) == []


def test_a_form_without_end_is_not_followed_without_end() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {**node, "$defs": {"node": node}}
    given: dict[str, Any] = {}
    for _ in range(50):
        given = {"next": given}
    assert json.loads(advised(ToolSpec("t", "Do it.", schema), given))
