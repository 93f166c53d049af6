"""`make ask`, as somebody runs it who has just cloned the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
]


def ask(folder: Path, *text: str) -> subprocess.CompletedProcess[str]:
    """`make ask` in an environment that is set up already: this one."""
    environment = folder / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / ".core").touch()
    (environment / "bin" / "python").symlink_to(sys.executable)
    program = environment / "bin" / "clew"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{RUN}" "$@"\n', "utf-8")
    program.chmod(0o755)
    outside = {  # these tests may run under `make --jobs` themselves
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    return subprocess.run(
        ["make", "ask", f"VENV={environment}", *text],
        env={**outside, "CLEW_STORE": str(folder / "runs.sqlite")},
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip


TYPED = ["$(shell touch {})", "$$(touch {})", "`touch {}`", "'; touch {} #", "x; touch {}"]
RUN = "from clew_cli import main; main()"


def test_a_declined_answer_is_no_error_of_make(tmp_path: Path) -> None:
    done = ask(tmp_path, "Q=What is a tool?")
    assert "Declined: " in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_what_went_wrong_is_one(tmp_path: Path) -> None:
    done = ask(tmp_path, f"DOCS={tmp_path / 'absent'}")
    assert "absent" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("variable", ["Q", "DOCS", "MODEL"])
@pytest.mark.parametrize("form", TYPED)
def test_nothing_that_is_typed_is_executed(variable: str, form: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    ask(tmp_path, f"{variable}={form.format(made)}")
    assert not made.exists()


@pytest.mark.parametrize("question", ["-5 + 3", "--help"])
def test_a_question_may_begin_with_a_dash(question: str, tmp_path: Path) -> None:
    done = ask(tmp_path, f"Q={question}")
    assert "Usage:" not in done.stdout
    assert "No such option" not in done.stderr
