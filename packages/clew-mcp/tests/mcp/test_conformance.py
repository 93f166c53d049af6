"""The public conformance suite of MCP, against clew's client (`conformance_client`).

The package's README.md lists the scenarios; one that passes or fails otherwise fails here.
"""

import os
import subprocess
import sys
from typing import Final

import pytest

from tests import npm
from tests.patience import PATIENCE
from tests.test_layers import ROOT

pytestmark = pytest.mark.slow

CORE: Final = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")
AUTH: Final = (
    "metadata-default", "metadata-var1", "metadata-var2", "metadata-var3",
    "scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined",
    "scope-step-up", "scope-retry-limit", "token-endpoint-auth-basic", "token-endpoint-auth-post",
    "token-endpoint-auth-none", "pre-registration", "2025-03-26-oauth-endpoint-fallback",
    "resource-mismatch", "offline-access-scope", "offline-access-not-supported",
    "client-credentials-basic",
)  # fmt: skip
MISSED: Final = (
    "basic-cimd", "2025-03-26-oauth-metadata-backcompat", "client-credentials-jwt",
    "cross-app-access-complete-flow",
)  # fmt: skip
PASSED: Final = (*CORE, *(f"auth/{name}" for name in AUTH))


def play(scenario: str) -> subprocess.CompletedProcess[str]:
    """Play a scenario; it passes where the exit code is 0."""
    client = f"{sys.executable} -m tests.mcp.conformance_client"
    path = os.pathsep.join(sys.path)  # each package has a part of `tests`
    given = ["--command", client, "--scenario", scenario]
    given += ["--timeout", str(int(PATIENCE * 900))]  # ms; less than ours, so that it says so first
    return subprocess.run(
        [*npm.program("conformance"), "client", *given],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False, timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("scenario", PASSED)
def test_a_scenario_is_passed(scenario: str) -> None:
    done = play(scenario)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.share(2)
@pytest.mark.parametrize("scenario", [f"auth/{name}" for name in MISSED])
def test_a_scenario_that_is_missed_ends_with_a_line_and_does_not_hang(scenario: str) -> None:
    done = play(scenario)
    assert done.returncode != 0
    told = done.stdout + done.stderr
    assert "timed out" not in told
    assert "ModuleNotFoundError" not in told  # a client that never began misses all of them


def test_these_are_all_scenarios_and_the_documents_list_them() -> None:
    listed = subprocess.run(
        [*npm.program("conformance"), "list"], capture_output=True, text=True, check=True
    ).stdout.partition("Client scenarios")[2]
    names = {line.split()[1] for line in listed.splitlines() if line.startswith("  - ")}
    assert names == {*PASSED, *(f"auth/{name}" for name in MISSED)}
    page = (ROOT / "packages/clew-mcp/README.md").read_text("utf-8")
    assert [name for name in (*CORE, *AUTH, *MISSED) if f"`{name}`" not in page] == []
