"""Where there is no browser, the last line of the output says which tests are left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import ROOT


@pytest.mark.slow
def test_the_last_line_says_that_browser_tests_are_left_out() -> None:
    tests = Path(__file__).with_name("test_browser.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    environment = {**os.environ, "PATH": ""}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    last = done.stdout.splitlines()[-1]
    assert last.startswith("browser tests left out: "), done.stdout + done.stderr
