"""The benchmarks run and do their work; how fast they are is for `make bench` to say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import unmeasured

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


PATH = os.pathsep.join([str(ROOT / "packages" / "clew" / "src"), str(ROOT / "lab")])


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    """A program of the benchmarks, without what measures coverage: it would measure that too."""
    return subprocess.run(
        [sys.executable, *argv],
        cwd=ROOT,
        env=unmeasured.environment() | {"PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_part_measures_something_and_nothing_is_written() -> None:
    kept = [
        ROOT / "lab" / "benchmarks" / "results.json",
        ROOT / "lab" / "reports" / "performance.md",
    ]
    before = [path.read_bytes() for path in kept]
    done = run("-m", "benchmarks", "--tiny")
    assert done.returncode == 0, done.stderr
    for title in (
        "CPU per step, over",
        "Bytes on",
        "`import clew`",
        "Many runs at once",
        "Parallel calls",
        "CPU per step through the other official clients",
        "A run of one step, streamed",
    ):
        assert f"\n## {title}" in done.stdout
    assert "3 steps of 1000 bytes" in done.stdout
    for format_ in ("OpenAI Responses", "Anthropic Messages", "Google Gemini"):
        for way in ("plain", "streamed", "for comparison: the official client and nothing else"):
            assert f"| {format_}, 2 steps, {way} |" in done.stdout
    for row in ("`def`, unsafe, over a loop with its commits", "on the event loop, plain"):
        assert f"| 2 steps, {row} |" in done.stdout
    assert [path.read_bytes() for path in kept] == before


@pytest.mark.parametrize("kind", ["plain", "streamed", "thread", "first"])
def test_a_client_without_its_server_tells_no_figures(kind: str) -> None:
    done = run("-m", "benchmarks.bare", "--kind", kind, "--url", "http://127.0.0.1:9/v1")
    assert "ConnectError" in done.stderr
    assert done.returncode
    assert not done.stdout


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_client_tells_its_figures_as_json(kind: str) -> None:
    done = run("-m", "benchmarks.clew_runs", "--kind", kind)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["wall_s"] > 0


def test_calls_of_mcp_tools_are_measured_beside_those_of_the_sdk() -> None:
    done = run("-m", "benchmarks.mcp", "--tiny")
    assert done.returncode == 0, done.stderr
    assert "start-up, CPU: SDK" in done.stdout
    for transport in ("stdio", "HTTP"):
        assert f"| {transport}: one after the other, the tool alone |" in done.stdout
        assert f"| {transport}: 3 at once, in a run with a record |" in done.stdout
