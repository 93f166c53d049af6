"""Patterns of others are matched in linear time, or not at all."""

import pytest

from clew.support.linear_patterns import is_linear, may_match
from clew.tools.schema_cost import MAX_WORK, patterns, work
from clew.tools.schema_repair import usable

SLOW = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){25}$", r"^(\w+\s?)*$", "(x+x+)+y"]
LOOKS = [r"(?=(a+))\1*b", "(?<!x)(a+)+$", "(?:[01]{0,400}1){50}x", "(", r"(a)\1"]


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_that_goes_back_takes_no_time(pattern: str) -> None:
    assert is_linear(pattern)
    assert not may_match(pattern, "b" * 50_000 + "!")


@pytest.mark.parametrize("pattern", LOOKS)
def test_what_cannot_be_said_in_linear_time_may_match(pattern: str) -> None:
    assert not is_linear(pattern)
    assert may_match(pattern, "a" * 100_000 + "!")


def test_what_a_published_schema_loses_is_told() -> None:
    schema, lines = usable({
        "properties": {
            "x": {"type": "string", "pattern": "(?<!x)(a+)+$"},
            "y": {"patternProperties": {"(?=a)": {}}, "additionalProperties": False},
            "z": {"type": "string", "pattern": "^a+$"},
            "pattern": {"type": "string"},
        },
    })  # fmt: skip
    assert schema["properties"] == {
        "x": {"type": "string"}, "y": {}, "z": {"type": "string", "pattern": "^a+$"},
        "pattern": {"type": "string"},
    }  # fmt: skip
    assert lines == (
        "x: its pattern might take for ever and is left out: any text passes",
        "y: patternProperties might take for ever and is left out",
    )


def test_work_counts_what_patterns_look_at() -> None:
    schema = {"allOf": [{"pattern": "a"}, {"patternProperties": {"a": {}, "b": {}}},
                        {"propertyNames": {"pattern": "c"}}]}  # fmt: skip
    assert patterns(schema) == 4
    assert work(schema, "x" * 2_000_000) > MAX_WORK
    assert work({"type": "string"}, "x" * 2_000_000) <= MAX_WORK
