"""Every example is run as a process of its own and prints what its docstring says it prints.

An example shows one thing in less than 60 lines and its output is the same every time; `…` stands
for any text.
"""

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.test_documents import alike

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PRINTS = "Prints:\n\n"


def printed_text(path: Path) -> str:
    """The last part of the docstring: what a person will see."""
    words = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    assert PRINTS in words, f"{path.name}: its docstring must end with what it prints"
    return textwrap.dedent(words.partition(PRINTS)[2])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    keyless = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        env=keyless | home | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert alike(printed_text(path), done.stdout), done.stdout


WITHOUT = """\
import runpy, sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
runpy.run_path(sys.argv[2], run_name="__main__")
"""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_names_the_package_that_it_lacks(path: Path) -> None:
    if not (needs := re.findall(r"from (clew_(\w+))", path.read_text("utf-8"))):
        return
    ((module, name),) = needs
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, module, path],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(f".*{module}.*: run make install WITH={name}\n", done.stderr)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < 60


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} >= {"hello", "own_tool", "crash_and_resume"}
