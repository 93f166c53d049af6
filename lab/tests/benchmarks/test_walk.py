"""The count of what one walks through to follow a step."""

import json
import subprocess
import sys
from operator import le
from pathlib import Path

import pytest

from tests.patience import PATIENCE


@pytest.mark.slow
def test_each_stretch_of_a_question_is_counted() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.walk", "--json"],
        check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    question, reply, observation = json.loads(done.stdout)
    files = [len(row["files"]) for row in (question, reply, observation)]
    assert all(map(le, files, (84, 31, 19))), (  # docs/decisions/0080-limits-by-count.md
        "a step got longer to follow: `python -m benchmarks.walk --list`"
    )
    assert {"cli/ask.py", "agent/runner.py", "core/loop.py"} <= {*question["files"]}
    assert {"core/execute.py", "core/observations.py"} <= {*reply["files"]}
    assert {"context/view.py", "core/thought.py"} <= {*observation["files"]}
    assert all(
        row["calls"] >= row["functions"] >= len(row["files"]) > 0 for row in (question, reply)
    )
