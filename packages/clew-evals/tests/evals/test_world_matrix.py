"""Environments in an evaluation: named in a matrix file, cut in the middle, gone on with."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from clew import ConfigError
from clew_evals.matrix import read_matrix
from clew_evals.runner import Evaluation, evaluate

MATRIX = """
dataset = "tasks.jsonl"
world = "textworld"
models = ["simulated:strong"]
options = { make = "tests.evals.kinds_of_game:make", timeout = 5 }
"""
WON = ["take lamp", "go to hall", "light lamp"]


def written(folder: Path) -> Path:
    """A matrix file over three games, with scripts for a simulated model."""
    moves = [{"think": "On.", "calls": [["act", {"command": one}]]} for one in WON]
    lines = [
        {
            "id": name,
            "question": f"Light the lamp ({name}).",
            "gold": {"reward": 1.0},
            "extra": {
                "make": {"name": name, "folder": str(folder)},
                "script": [*moves, {"answer": "It is lit."}],
            },
        }
        for name in "abc"
    ]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "matrix.toml").write_text(MATRIX)
    return folder / "matrix.toml"


def told(evaluation: Evaluation) -> list[tuple[Any, ...]]:
    """What a report says of each case, but for times."""
    return sorted(
        (one.case, one.passed, one.reward, one.answer, one.counted.steps, one.counted.usage.input)
        for one in evaluation.outcomes
    )


def play(folder: Path, kind: str) -> None:
    """Have environments of this kind made from now on."""
    (folder / "kind").write_text(kind)


async def cut(matrix: Path, results: Path) -> None:
    """Evaluate until somebody is in the second move of game b."""
    play(matrix.parent, "holding")
    entered, let_go = matrix.parent / "entered", matrix.parent / "let go"
    os.mkfifo(entered)
    os.mkfifo(let_go)
    async with anyio.create_task_group() as group:
        group.start_soon(evaluate, read_matrix(matrix), results)
        await anyio.to_thread.run_sync(entered.read_bytes)
        group.cancel_scope.cancel()  # and only then the move ends, so nobody hears what came of it
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(let_go.write_bytes, b"")


@pytest.mark.parametrize(
    "anyio_backend", ["trio"]
)  # once is enough: three evaluations take a second
async def test_an_evaluation_cut_in_a_move_comes_to_the_same(tmp_path: Path) -> None:
    matrix = written(tmp_path)
    play(tmp_path, "named")
    evaluation = await evaluate(read_matrix(matrix), tmp_path / "whole.db")
    paid = [(one.case, one.reward) for one in evaluation.outcomes]
    assert paid == [("a", 1.0), ("b", 1.0), ("c", 1.0)]
    await cut(matrix, tmp_path / "cut.db")
    play(tmp_path, "named")
    again = await evaluate(read_matrix(matrix), tmp_path / "cut.db")
    assert again.complete
    assert told(again) == told(evaluation)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # likewise
async def test_an_environment_that_has_changed_is_told(tmp_path: Path) -> None:
    matrix = written(tmp_path)
    await cut(matrix, tmp_path / "cut.db")
    play(tmp_path, "other")
    again = await evaluate(read_matrix(matrix), tmp_path / "cut.db")
    assert "b" in [one.case for one in again.failed]
    (reason,) = (one.reason for one in again.failed if one.case == "b")
    assert "'take lamp' leads otherwise than it did: now 'You have the lamp. It is cold." in reason
    play(tmp_path, "named")  # as it was
    assert (await evaluate(read_matrix(matrix), tmp_path / "cut.db")).complete


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # likewise
async def test_limits_name_the_tools_of_the_environment(tmp_path: Path) -> None:
    matrix = written(tmp_path)
    play(tmp_path, "named")
    matrix.write_text(f"{MATRIX}\n[agent.limits.calls_per_tool]\nact = 2\n")
    evaluation = await evaluate(read_matrix(matrix), tmp_path / "capped.db")
    assert [one.passed for one in evaluation.outcomes] == [False] * 3  # three moves win
    matrix.write_text(f"{MATRIX}\n[agent.limits.calls_per_tool]\natc = 2\n")
    with pytest.raises(ConfigError, match=r"names 'atc', which is no tool .*: did you mean act\?"):
        await evaluate(read_matrix(matrix), tmp_path / "wrong.db")
