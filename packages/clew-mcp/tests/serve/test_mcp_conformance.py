"""The public conformance suite of MCP, against `clew mcp serve` and against the same server with
agents of the names that the suite calls.

The package's README.md lists the scenarios; one that passes or fails otherwise fails here.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests import npm
from tests.patience import PATIENCE
from tests.serve.test_mcp_processes import Http, environment
from tests.test_layers import ROOT

pytestmark = pytest.mark.slow

DECLARED: Final = {
    "server-initialize", "ping", "tools-list", "server-sse-polling", "server-sse-multiple-streams",
    "resources-list", "dns-rebinding-protection",
}  # fmt: skip
"""The scenarios of what `clew mcp serve` declares."""

OF_AGENTS: Final = {
    "tools-call-simple-text", "tools-call-error", "tools-call-with-progress",
    "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums",
}  # fmt: skip
"""Those that agents of the suite's names pass besides."""

ABSENT: Final = {
    "logging-set-level": "logging is deprecated (2026-07-28); progress is told instead",
    "completion-complete": "there are no prompts whose arguments could be completed",
    "tools-call-image": "an agent answers in text or JSON",
    "tools-call-audio": "the same",
    "tools-call-embedded-resource": "the same",
    "tools-call-mixed-content": "the same",
    "tools-call-with-logging": "logging is deprecated",
    "tools-call-sampling": "an agent has a model of its own and asks for none",
    "json-schema-2020-12": "it wants an input schema of its own; an agent's is a question",
    "resources-read-text": "it reads test://static-text; records are the resources",
    "resources-read-binary": "the same",
    "resources-templates-read": "the same",
    "resources-subscribe": "records are followed by reading them, or by a task",
    "resources-unsubscribe": "the same",
    "prompts-list": "there are no prompts",
    "prompts-get-simple": "there are no prompts",
    "prompts-get-with-args": "there are no prompts",
    "prompts-get-embedded-resource": "there are no prompts",
    "prompts-get-with-image": "there are no prompts",
}
"""The rest, and why."""


def passed(url: str) -> dict[str, bool]:
    """Each scenario of the suite, and whether the server passes it."""
    command = [*npm.program("conformance"), "server", "--url", url, "--suite", "all"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE * 4
    )
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    found = re.findall(r"([✓✗]) (\S+): \d+ passed, (\d+) failed", summary)
    assert found, done.stdout + done.stderr
    return {name: mark == "✓" and failed == "0" for mark, name, failed in found}


@contextmanager
def own_server(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.serve.conformance_server"],
        env=environment(folder), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        process.stdout.close()


def test_serve_mcp_passes_the_scenarios_of_what_it_declares(tmp_path: Path) -> None:
    npm.program("conformance")
    server = Http(tmp_path, "--no-token")
    try:
        found = passed(server.url)
    finally:
        server.end(signal.SIGTERM)
    assert {name for name, good in found.items() if good} == DECLARED
    assert set(found) == DECLARED | OF_AGENTS | set(ABSENT)


def test_agents_of_the_suite_s_names_pass_what_agents_can_show(tmp_path: Path) -> None:
    npm.program("conformance")
    with own_server(tmp_path) as url:
        found = passed(url)
    assert {name for name, good in found.items() if good} == DECLARED | OF_AGENTS


def test_the_documents_list_every_scenario() -> None:
    page = (ROOT / "packages/clew-mcp/README.md").read_text("utf-8")
    for name in DECLARED | OF_AGENTS | set(ABSENT):
        assert f"`{name}`" in page


def test_in_ci_the_packages_may_not_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "PACKAGES", Path(os.devnull))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError, match=r"run make \.venv/\.npm"):
        npm.program("conformance")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match=r"run make \.venv/\.npm"):
        npm.program("conformance")
