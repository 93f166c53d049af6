"""The work of a schema is estimated before it is done."""

import json
from typing import Any

import pytest

from clew import ConfigError
from clew.tools.schema import linear_validator
from clew.tools.schema_cost import MAX_WAYS, MAX_WORK, ways, work


def chain(levels: int, keyword: str) -> dict[str, Any]:
    named: dict[str, Any] = {
        f"d/{level}": {keyword: [{"$ref": f"#/$defs/d~1{level + 1}"}] * 2}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d~10", "$defs": {**named, f"d/{levels}": {"type": "null"}}}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_a_chain_of_references_is_counted_without_following_each_way(keyword: str) -> None:
    assert ways(chain(40, keyword)) == MAX_WAYS + 1
    assert work(chain(40, keyword), None) > MAX_WORK
    assert ways(chain(3, keyword)) < 100


TREE = {
    "type": "object",
    "properties": {
        side: {"anyOf": [{"$ref": "#"}, {"type": "null"}]} for side in ("left", "right")
    },
}
LOOPS: dict[str, Any] = {
    "$ref": "#/$defs/n",
    "$defs": {"n": {"anyOf": [{"properties": {"x": {"$ref": "#/$defs/n"}}}] * 2}},
}
MUTUAL: dict[str, Any] = {
    "$ref": "#/$defs/a",
    "$defs": {
        "a": {"anyOf": [{"items": {"$ref": "#/$defs/b"}}] * 3},
        "b": {"not": {"items": {"$ref": "#/$defs/a"}}},
        "c": {"items": [1], "$ref": 7, "enum": [1, 2]},
    },
}


def nested(levels: int) -> Any:
    value: Any = None
    for _ in range(levels):
        value = {"x": value}
    return value


def test_recursion_costs_by_the_depth_of_the_value_only_where_it_branches() -> None:
    assert work(TREE, nested(80)) <= MAX_WORK
    assert work(LOOPS, nested(10)) <= MAX_WORK
    assert work(LOOPS, nested(40)) > MAX_WORK
    assert work(MUTUAL, json.loads("[" * 60 + "]" * 60)) > MAX_WORK
    assert work({"type": "string"}, "x" * 100) == 1
    assert work({"enum": list(range(99))}, [1] * 100_000) > MAX_WORK


def test_a_pattern_that_looks_back_has_no_linear_time() -> None:
    assert linear_validator({"pattern": "^(a+)+$"})("a" * 41 + "!") != []
    with pytest.raises(ConfigError, match="regex"):
        linear_validator({"pattern": r"(a)\1"})
