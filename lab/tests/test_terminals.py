"""No package of clew writes to a terminal but by the one exit of the command line."""

from pathlib import Path

import pytest

from tests.cli.test_terminal_escapes import past_the_exit

PACKAGES = Path(__file__).parents[2] / "packages"
OWN = {
    "clew-acp/src/clew_acp/transport.py": "an editor's pipe, which is taken away from all others",
    "clew-code/src/clew_code/programs/child_process.py": "a child's streams, which are pipes",
    "clew-code/src/clew_code/sandbox/launch.py": "a child's streams, which are pipes",
    "clew-code/src/clew_code/sandbox/namespaces.py": "files of the kernel",
    "clew-code/src/clew_code/workspace/grep_process.py": "a child's streams, which are pipes",
    "clew-serve/src/clew_serve/cli.py": "`clew view` opens a browser",
    "clew-testing/src/clew_testing/claimant.py": "a child's streams, which are pipes",
}
FILES = sorted(
    path for path in PACKAGES.glob("clew-*/src/**/*.py") if "/clew/" not in path.as_posix()
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGES).as_posix())
def test_nothing_writes_past_the_exit(path: Path) -> None:
    past = past_the_exit(path.read_text(encoding="utf-8"))
    assert bool(past) is (path.relative_to(PACKAGES).as_posix() in OWN), past
