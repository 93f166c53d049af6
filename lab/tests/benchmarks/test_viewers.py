"""The measuring of viewers runs, and nothing is lost and nothing comes twice; times are its own."""

import os
import subprocess
import sys

import pytest

from benchmarks.viewers.__main__ import PARTS
from reporting.commands import ROOT, environment
from tests import unmeasured

pytestmark = pytest.mark.slow

COUNTED = (
    "missing or twice: 0",
    "lost or twice: 0",
    "reconnects with `Last-Event-ID`: lost or twice | 0 |",
    "when it reads | 0 |",
    "lost, twice or wrong | 0 |",
)


def test_no_viewer_misses_an_entry_or_gets_one_twice() -> None:
    parts = [part for part in PARTS if part != "long_record"]  # a page of it is test_long_pages
    words = [sys.executable, "-m", "benchmarks.viewers", "--tiny", "--parts", ",".join(parts)]
    kept = unmeasured.environment() | {"PYTHONPATH": environment()["PYTHONPATH"]}
    kept["CLEW_INSPECT"] = os.devnull
    done = subprocess.run(words, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [each for each in COUNTED if each not in done.stdout] == []
    assert "Inspect's viewer left out" in done.stdout or "browser left out" in done.stdout
