"""Which lines of a program mypy and pyright refuse, each in its strict mode."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def lines_marked_bad(program: str) -> set[int]:
    """The numbers of the lines that end with `# BAD`."""
    lines = enumerate(program.splitlines(), start=1)
    return {number for number, line in lines if line.endswith("# BAD")}


def refused_by_mypy(program: str, folder: Path) -> tuple[set[int], str]:
    """The numbers of the lines that mypy refuses, and all that it said."""
    (file := folder / "typed.py").write_text(program, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [*command, "--config-file", str(ROOT / "pyproject.toml"), str(file)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    told = re.findall(r"typed\.py:(\d+): error", done.stdout)
    return {int(number) for number in told}, done.stdout + done.stderr


def refused_by_pyright(program: str, folder: Path) -> tuple[set[int], str]:
    """The numbers of the lines that pyright refuses, and all that it said."""
    (file := folder / "typed.py").write_text(program, "utf-8")
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
         "-p", str(folder)],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    told = [
        each for each in json.loads(done.stdout)["generalDiagnostics"] if each["file"] == str(file)
    ]
    lines = {each["range"]["start"]["line"] + 1 for each in told if each["severity"] == "error"}
    return lines, done.stdout


CHECKERS: Final[list[Callable[[str, Path], tuple[set[int], str]]]] = [
    refused_by_mypy,
    refused_by_pyright,
]
