"""A date is not a subtraction."""

import pytest

from clew.support.errors import ToolError
from clew.toolbox.calc import calculate


@pytest.mark.parametrize(
    "expression",
    [
        "2024-03-01 - 2024-02-01", "2024-03-01", "(2025-12-31-2025-01-01)",
        "1999-12-31 + 1",
        "2024-03-01-7", "1000 * 2024-02-29", "2024-10-09 - 2023-10-09", "abs(2024-01-02)",
        "7+2001-09-11",
        "2024−03−01",
    ],
)  # fmt: skip
def test_a_date_is_refused(expression: str) -> None:
    with pytest.raises(ToolError, match="looks like a date"):
        calculate(expression)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2024 - 3 - 1", "2020"), ("2024-3", "2021"), ("2024-13-1", "2010"),
        ("2024-03.5-1", "2019.5"),
        ("12024-3-1", "12020"), ("2024-3-32", "1989"), ("1.2024-3-1", "-2.7976"),
        ("2024-3-1", "2020"),
        ("300-20-1", "279"),
    ],
)  # fmt: skip
def test_other_subtractions_are_computed(expression: str, result: str) -> None:
    assert calculate(expression)["result"] == result
