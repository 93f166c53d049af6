"""What an evaluation needs that is not always installed: nothing; and what its report needs."""

import subprocess
from pathlib import Path

import pytest

from clew.support.extras import install
from tests.cli.shell import COMMAND, SOURCE, environment
from tests.patience import PATIENCE

EXTRA = ("numpy", "matplotlib", "jinja2")
CASE = '{"id": "a", "question": "What is 17 * 23?", "gold": {"number": 391}}\n'


def without(*modules: str) -> dict[str, str]:
    """The environment of an install that lacks these modules."""
    Path("lacking").mkdir(exist_ok=True)
    lines = ["import sys", *(f"sys.modules[{name!r}] = None" for name in modules)]
    Path("lacking", "sitecustomize.py").write_text("\n".join(lines))
    return environment(PYTHONPATH=f"lacking:{SOURCE}")


def told(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@pytest.mark.slow
def test_an_evaluation_needs_no_extra() -> None:
    Path("sums.jsonl").write_text(CASE)
    env = without(*EXTRA)
    for words in (("--check",), (), ("--json",)):
        done = told("eval", "run", "sums.jsonl", "--model", "offline", *words, env=env)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert told("eval", "run", "--help", env=env).returncode == 0
    for missing in EXTRA:
        page = ["--html", "page.html"] if missing != "numpy" else []
        done = told("eval", "report", "sums.sqlite", *page, env=without(missing))
        assert done.returncode == 2
        assert (
            done.stderr
            == f"clew: {missing} is not installed: run {install('reports', 'clew-evals')}\n"
        )
    output = told("eval", "report", "sums.sqlite", "--html", "page.html", env=without())
    assert (output.returncode, Path("page.html").exists()) == (0, True)


@pytest.mark.parametrize("part", ["clew_evals", "clew_evals.matrix", "clew_evals.cli.eval_run"])
def test_what_evaluates_can_be_imported_without_it(part: str) -> None:
    code = f"import {part}"
    done = subprocess.run(
        [COMMAND[0], "-c", code], env=without(*EXTRA), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
