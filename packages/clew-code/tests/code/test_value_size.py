"""Values that hold themselves many times over are told from others, fast."""

from dataclasses import dataclass
from typing import Any

import pytest

from clew_code.programs.value_size import shortened, too_large


def laughs(depth: int) -> list[Any]:
    value: list[Any] = ["x"]
    for _ in range(depth):
        value = [value] * 10
    return value


@dataclass
class Instance:
    attributes: dict[str, object]


@pytest.mark.parametrize(
    ("value", "large"),
    [
        (None, False),
        (1.5, False),
        ("x" * 900, False),
        ("x" * 1_001, True),
        (b"x" * 1_001, True),
        (["x" * 300] * 3, False),
        (["x" * 300] * 4, True),
        ({"x" * 600: "x" * 600}, True),
        (set(range(100)), False),
        (list(range(2_000)), True),
        (10**900, False),
        (10**2_000, True),
        (laughs(2), False),
        (laughs(40), True),
        (Instance({"a": ["x" * 600], "b": ("x" * 600,)}), True),
        (Instance({"a": 1}), False),
    ],
)
def test_a_value_counts_each_part_each_time(value: object, large: bool) -> None:
    assert too_large(value, 1_000) is large


def test_a_cycle_is_too_large() -> None:
    value: list[object] = []
    value.append(value)
    assert too_large(value)


def test_a_long_text_keeps_its_beginning_and_end() -> None:
    assert shortened("short") == "short"
    assert shortened("a" * 50 + "b" * 50, 10) == "aaaaa\n[…]\nbbbbb"
