"""`clew acp` with no editor at the other end says so in one line, and touches nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.editors.editor import command, environment
from tests.patience import PATIENCE


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[int]:
    """A descriptor that is no pipe."""
    if kind == "terminal":
        below, number = os.openpty()
    else:
        path = os.devnull if kind == "null" else folder / "file"
        below, number = -1, os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        yield number
    finally:
        os.close(number)
        if below >= 0:
            os.close(below)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("stdin", "null"),
        pytest.param("stdin", "terminal", marks=pytest.mark.rest),
        pytest.param("stdin", "file", marks=pytest.mark.rest),
        pytest.param("stdout", "file", marks=pytest.mark.rest),
    ],
)
def test_what_is_no_pipe_is_refused_in_a_line(tmp_path: Path, name: str, kind: str) -> None:
    with opened(kind, tmp_path) as number:
        ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, name: number}
        with subprocess.Popen(
            command("telling", tmp_path), env=environment(tmp_path), stderr=subprocess.PIPE,
            text=True, stdin=ends["stdin"], stdout=ends["stdout"],
        ) as process:  # fmt: skip
            _, told = process.communicate(timeout=PATIENCE)
    (line,) = told.splitlines()
    what = "a terminal" if kind == "terminal" else "no pipe"
    assert line.startswith(f"clew: {name} is {what}; an editor starts this")
    assert process.returncode == 2
    assert not (tmp_path / "runs.sqlite").exists()
