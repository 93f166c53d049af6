"""The front page: its first lines, and what each row of its table shows without a key."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text("utf-8")
ROWS = re.findall(r"^\| \[.*\| `([^|]+)` \|$", PAGE, re.MULTILINE)


def test_the_first_lines_say_for_whom_and_show_the_code() -> None:
    first = "\n".join(PAGE.splitlines()[:15])
    for words in ("Did it go out?", "something else", "@tool(effect=", "for Python", "**before**"):
        assert words in first
    assert re.search(r"```sh\n\$ make ask .*\n\$ make check ", PAGE[: PAGE.index("## ")])


def test_each_feature_can_be_tried() -> None:
    table = PAGE[PAGE.index("| feature |") :].partition("\n\n")[0]
    assert len(ROWS) == len(table.splitlines()) - 2


@pytest.mark.slow
@pytest.mark.parametrize("command", ROWS)
def test_without_a_key_something_useful_is_seen(command: str, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    keyless = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
    name, *rest = shlex.split(command)
    program = [sys.executable, "-m", "clew.cli"] if name == "clew" else [sys.executable]
    rest = [str(ROOT / each) if each.startswith("examples/") else each for each in rest]
    done = subprocess.run(
        [*program, *rest],
        cwd=tmp_path,
        env=keyless | home | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
