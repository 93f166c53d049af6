"""Published function sets against clew: on sets of our own, and on a sample of the recordings."""

from typing import Any

import pytest

from recordings import schemas
from recordings.allowed import forbidden
from recordings.data import VARIABLE, folder, missing
from recordings.forms import Record

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""

OVEN: dict[str, Any] = {
    "name": "oven.set heat",
    "description": "Heat the oven.",
    "parameters": {
        "type": "dict",
        "properties": {
            "degrees": {"type": "float", "description": "How hot."},
            "fan": {"type": "Boolean", "enum": ["on", "off"], "default": "off"},
            "größe": {"type": "string", "enum": ["small", "large"], "default": None},
            "racks": {"type": "array", "items": {"type": "long"}},
            "dish": {"type": "dict", "properties": {"name": {"type": "str"}}},
            "note": {"type": "any"},
        },
        "required": ["degrees"],
    },
}
TIMER: dict[str, Any] = {
    "name": "timer",
    "description": "Set a timer.",
    "parameters": {"type": "dict", "properties": {"minutes": {"type": "integer"}}, "required": []},
}


def made(*gold: dict[str, Any], tools: tuple[Any, ...] = (OVEN, TIMER)) -> Record:
    return {"id": "own", "tools": list(tools), "gold": list(gold)}


HEAT = {
    "oven.set heat": {
        "degrees": [180.5, 180],
        "fan": ["", "on"],
        "größe": ["", None],
        "racks": [[1, 2]],
        "dish": [{"name": ["pie", "cake"]}],
        "note": [""],
    }
}


def figures(*records: Record) -> dict[str, tuple[str, bool]]:
    return {each.what: (each.got, each.met) for each in schemas.evidence(records).figures}


def test_of_each_argument_the_first_allowed_value_is_taken() -> None:
    assert list(schemas.gold_calls(made(HEAT))) == [
        (
            "oven.set heat",
            {
                "degrees": 180.5,
                "fan": "on",
                "größe": None,
                "racks": [1, 2],
                "dish": {"name": "pie"},
            },
        )
    ]
    assert list(schemas.gold_calls(made({"timer": {"minutes": [""]}}))) == [("timer", {})]


def test_a_set_of_every_dialect_is_used_and_wrong_calls_of_it_are_refused() -> None:
    part = schemas.evidence([made(HEAT, {"timer": {"minutes": [5]}})])
    assert part.met, part
    assert not part.misses
    got = {each.what: each.got for each in part.figures}
    assert got["gold calls that their definitions allow, allowed"] == "2"
    assert got["refused: one required argument missing"] == "1"
    assert got["refused: one argument too many"] == "2"
    assert got["refused: one value of a wrong type"] == "6"
    assert got["refused: every 25th of these calls, in a run of its own"] == "3"
    assert "type 'long' is read as 'integer' (1)" in part.text


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        ({"timer": {"minutes": ["five"]}}, "another type"),
        ({"timer": {"seconds": [5]}}, "does not have"),
        ({"timer": {"minutes": [None]}}, "null"),
        ({"oven.set heat": {"fan": [""]}}, "is not there"),
        ({"oven.set heat": {"degrees": [1], "größe": ["huge"]}}, "enum"),
        ({"oven.set heat": {"degrees": [1], "racks": [["two"]]}}, "another type"),
        ({"clock": {}}, "not in the set"),
    ],
)
def test_gold_that_its_own_definition_forbids_is_told_and_no_miss(
    gold: dict[str, Any], why: str
) -> None:
    part = schemas.evidence([made(gold)])
    assert part.met
    assert why in part.text.splitlines()[-1]
    assert len(part.misses) == 1


ALLOWED = [
    ({"minutes": 5}, ""),
    ({"minutes": 5.0}, ""),
    ({"minutes": True}, "another type"),
    ({"minutes": 5, "more": 1}, "does not have"),
    (["minutes"], "no object"),
]


@pytest.mark.parametrize(("args", "why"), ALLOWED, ids=str)
def test_what_a_definition_allows_is_read_without_clew(args: Any, why: str) -> None:
    told = forbidden(TIMER["parameters"], args)
    assert why in told
    assert bool(told) == bool(why)


def test_a_definition_may_say_little() -> None:
    assert forbidden(None, {"a": 1}) == forbidden({}, {}) == ""
    inner = {"type": ["object", "null"], "properties": {"b": {"enum": [1]}}, "required": ["b"]}
    schema = {"properties": {"a": inner, "c": {"nullable": True, "type": "string"}, "d": 3}}
    assert forbidden(schema, {"a": {"b": 1}, "c": None, "d": "x"}) == ""
    assert forbidden(schema, {"a": {}}).endswith("a.b")
    assert forbidden(schema, {"a": {"b": 2}}).startswith("none of the words")


def test_a_set_that_cannot_be_used_is_a_miss() -> None:
    twice = made(tools=(TIMER, TIMER))
    assert figures(twice)["sets usable as tools"] == ("0", False)


def test_a_change_that_no_line_tells_is_found() -> None:
    written = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "int"}}}
    became = {"type": "object", "properties": {"a": {}, "b": {"type": "integer"}}}
    lines = ("b: type 'int' is read as 'integer'",)
    assert [line[:2] for line in schemas.silent(written, became, lines, {})] == ["a:"]
    gone = {"type": "object", "properties": {"b": {"type": "integer"}}}
    assert [line[:2] for line in schemas.silent(written, gone, lines, {})] == ["a:"]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    part = schemas.measure(20)
    judged = {each.what: each for each in part.figures}
    assert all(each.met for each in judged.values()), part
