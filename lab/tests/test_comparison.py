"""Each claim of the comparison is shown by a program that runs."""

import sys
from pathlib import Path

import pytest

from comparison.features import (
    NAMES,
    Documented,
    Feature,
    listed,
    missing,
    mistakes,
    page,
    unproven,
)
from comparison.proofs import proofs, prove

SYSTEMS = listed()
SLOW = {"code-as-action", "crash", "dataset", "many-tools", "matrix", "mcp", "own-model", "sandbox"}
"""Proofs that start processes of their own."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in proofs()]
)
def test_a_proof_runs(name: str) -> None:
    prove(name)


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_row_says_what_shows_it(name: str) -> None:
    assert list(mistakes(SYSTEMS[name])) == []


def test_every_proof_is_of_a_row() -> None:
    used = {row.proof for system in SYSTEMS.values() for row in system.features}
    assert {*proofs()} <= used


def test_a_row_without_a_proof_and_a_name_that_is_not_there_are_told() -> None:
    rows = [
        Feature("a", "yes", "how"),
        Feature("b", "no", "how", proof="agent"),
        Feature("c", "yes", "how", ["pathlib.Path.exists", "pathlib.Nothing", "nothing"], "agent"),
    ]
    system = Documented("Other", [], "its pages", rows)
    assert list(mistakes(system)) == [
        "Other: 3 features",
        "Other, a: no proof ''",
        "Other, b: proves what is not there",
    ]
    assert missing(system, Path(sys.executable)) == ["pathlib.Nothing", "nothing"]
    assert list(unproven(Documented("Other", [], "", [rows[2]]))) == []
    (wrong,) = unproven(Documented("Other", [], "", [Feature("d", "yes", "how", [], "gone")]))
    assert wrong.startswith("gone: KeyError")
    assert next(page(system, "1.0")) == "1.0; order of its pages. Here: yes 2, partly 0, no 1."
    assert NAMES.exists()
