"""Environments in an evaluation: named in a matrix file, cut in the middle, gone on with."""

import json
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew.evals.matrix import read_matrix
from clew.evals.work import Evaluation, evaluate
from tests.evals import games

MATRIX = """
dataset = "tasks.jsonl"
world = "textworld"
models = ["simulated:strong"]
options = { make = "matrixgames:make", timeout = 0.2 }
"""
MODULE = """
from tests.evals import test_world_matrix

def make(name):
    return test_world_matrix.KIND[0](name)
"""


class Named(games.NewLamp):
    """A game that says which it is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"This is game {name}.")


class Holding(Named):
    """Waits in the second move of game b, until it is let go: whoever plays it is cancelled."""

    entered, let_go = threading.Event(), threading.Event()

    def moved(self, command: str) -> tuple[str, float]:
        found = super().moved(command)
        if self.first == "This is game b." and len(self.log) == 2:
            self.entered.set()
            self.let_go.wait()
        return found


class Other(Named):
    def moved(self, command: str) -> tuple[str, float]:
        text, reward = super().moved(command)
        return f"{text} It is cold.", reward


KIND: list[Any] = [Named]
WON = ["take lamp", "go to hall", "light lamp"]


def written(folder: Path) -> Path:
    """A matrix file over three games, with scripts for a simulated model."""
    moves = [{"think": "On.", "calls": [["act", {"command": one}]]} for one in WON]
    lines = [
        {
            "id": name,
            "question": f"Light the lamp ({name}).",
            "gold": {"reward": 1.0},
            "extra": {"make": {"name": name}, "script": [*moves, {"answer": "It is lit."}]},
        }
        for name in "abc"
    ]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "matrixgames.py").write_text(MODULE)
    (folder / "matrix.toml").write_text(MATRIX)
    return folder / "matrix.toml"


def told(found: Evaluation) -> list[tuple[Any, ...]]:
    """What a report says of each case, but for times."""
    return sorted(
        (one.case, one.passed, one.reward, one.answer, one.counted.steps, one.counted.usage.input)
        for one in found.outcomes
    )


async def cut(matrix: Path, results: Path) -> None:
    """Evaluate until somebody is in the second move of game b."""
    KIND[0] = Holding
    Holding.entered.clear()
    Holding.let_go.clear()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(evaluate, read_matrix(matrix), results)
            while not Holding.entered.is_set():
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    finally:
        Holding.let_go.set()


@pytest.mark.parametrize(
    "anyio_backend", ["trio"]
)  # once is enough: three evaluations take a second
async def test_an_evaluation_cut_in_a_move_comes_to_the_same(tmp_path: Path) -> None:
    matrix = written(tmp_path)
    KIND[0] = Named
    whole = await evaluate(read_matrix(matrix), tmp_path / "whole.db")
    paid = [(one.case, one.reward) for one in whole.outcomes]
    assert paid == [("a", 1.0), ("b", 1.0), ("c", 1.0)]
    await cut(matrix, tmp_path / "cut.db")
    KIND[0] = Named
    again = await evaluate(read_matrix(matrix), tmp_path / "cut.db")
    assert again.complete
    assert told(again) == told(whole)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # likewise
async def test_an_environment_that_has_changed_is_told(tmp_path: Path) -> None:
    matrix = written(tmp_path)
    await cut(matrix, tmp_path / "cut.db")
    KIND[0] = Other
    again = await evaluate(read_matrix(matrix), tmp_path / "cut.db")
    assert "b" in [one.case for one in again.failed]
    (reason,) = (one.reason for one in again.failed if one.case == "b")
    assert "'take lamp' leads otherwise than it did: now 'You have the lamp. It is cold." in reason
    KIND[0] = Named  # as it was
    assert (await evaluate(read_matrix(matrix), tmp_path / "cut.db")).complete
