"""The count of what one walks through to follow a step."""

import json
import subprocess
import sys
from operator import le
from pathlib import Path
from typing import Any, Final

import pytest

from tests.patience import PATIENCE

LIMITS: Final = {
    "clew ask": ((83, 450, 766), (31, 132, 215), (19, 79, 111)),
    "run_sync": ((46, 221, 288), (37, 152, 269), (21, 82, 111)),
}
"""Files, functions and calls of each stretch, which may only fall: docs/decisions/0080."""


TRIES: Final = 4
"""Walks of which one has to keep the limits: a thread of a tool may end before it is waited for."""


def walked() -> dict[str, list[dict[str, Any]]]:
    """What each program passes through, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.walk", "--json"],
        check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    walks: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return walks


@pytest.mark.slow
def test_each_stretch_of_a_question_is_counted() -> None:
    walks = walked()
    for name, limits in LIMITS.items():
        counts: list[tuple[int, int, int]] = []
        for _ in range(TRIES):
            counts = [(len(row["files"]), row["functions"], row["calls"]) for row in walks[name]]
            if all(all(map(le, *each)) for each in zip(counts, limits, strict=True)):
                break
            walks = walked()
        else:
            pytest.fail(f"{name}: a step got longer: `python -m benchmarks.walk --list`: {counts}")
    question, reply, observation = walks["clew ask"]
    assert {"cli/ask.py", "agent/runner.py", "core/loop.py"} <= {*question["files"]}
    assert {"core/execute.py", "core/observations.py"} <= {*reply["files"]}
    assert {"context/view.py", "core/thought.py"} <= {*observation["files"]}
    question, reply, observation = walks["run_sync"]
    assert {"agent/runner.py", "core/loop.py"} <= {*question["files"]}
    assert "core/execute.py" in reply["files"]
    assert "context/view.py" in observation["files"]
