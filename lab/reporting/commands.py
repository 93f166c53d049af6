"""Reports whose figures a command prints: `python -m reporting --measure [NAMES]` runs them.

What a command prints is kept as a section of its report: tables as data, other lines as they are.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reporting.outcomes import Section, of_markdown

ROOT: Final = Path(__file__).resolve().parents[2]
SYSTEMS: Final = sorted(path.stem for path in ROOT.glob("lab/comparison/features/*.toml"))
"""The systems that clew is compared with."""

COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "accuracy": {
        "audit-held-back": "python -m benchmarks.audit",
        "audit-last": "python -m benchmarks.audit --last",
        "audit-unaware": "python -m benchmarks.claims",
        "audit-public": "python -m benchmarks.public_claims",
        "filter-unseen": "python -m benchmarks.request_filter",
        "filter-tuning": "python -m benchmarks.request_filter --half tuning",
        "filter-fresh": "python -m benchmarks.request_filter --half fresh",
        "filter-later": "python -m benchmarks.request_filter --half later",
        "filter-unaware": "python -m benchmarks.request_filter --half unaware",
        "filter-public": "python -m benchmarks.public_requests",
    },
    "house": {
        "rooms": "python -m reporting.house rooms",
        "packages": "python -m reporting.house packages",
        "walk": "python -m reporting.house walk",
    },
    "packages": {
        "programs-steps": "python -m benchmarks.code",
        "programs-calls": "python -m benchmarks.code --overhead",
        "programs-escapes": "python -m tests.code.escapes",
        "files-escapes": "python -m tests.workspace.escapes",
        "sandbox-escapes": "python -m tests.sandbox.escapes",
        "edits": "python -m tests.workspace.mistakes",
        "schedules": "python -m tests.workspace.schedules 10000 1",
        "quixbugs": "python -m tests.workspace.quixbugs",
        "mcp-calls": "python -m benchmarks.mcp",
        "choices": "python -m benchmarks.choices",
        "votes": "python -m benchmarks.votes",
    },
    "offline": {
        "unseen": "python -m benchmarks.offline",
        "seen": "python -m benchmarks.offline --half seen",
        "reasoning": "python -m benchmarks.offline --reasoning",
        "reasoning-seen": "python -m benchmarks.offline --reasoning --half seen",
    },
    "formats": {"fuzz": "python -m tests.codecs.call_fuzz --values 6 --real 12 --cuts 8"},
    "viewer": {"viewer": "python -m benchmarks.viewers"},
    "unseen": {"attacks": "python -m unseen"},
    "comparison": {
        "lines": "python -m comparison.applications.lines",
        "applications": "python -m comparison.applications.situations",
        "research": "python -m comparison.applications.research",
        "evaluations": "python -m comparison.applications.evaluations",
        **{name: f"python -m comparison.features {name}" for name in SYSTEMS},
    },
    "ablation": {"tables": "python -m benchmarks.evaluation.figures ablation.sqlite"},
}
"""For each report, its sections by name, with the command of each."""


def measured(command: str) -> Section:
    """What a command prints, as a section. Raises `subprocess.CalledProcessError`."""
    python, *words = shlex.split(command)
    argv = [sys.executable if python == "python" else python, *words]
    done = subprocess.run(
        argv, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True, check=True
    )
    return of_markdown(command, _as_block(done.stdout))


def environment() -> dict[str, str]:
    """The environment in which the programs of the lab and of the tests are found."""
    paths = [str(ROOT / "lab"), *map(str, sorted((ROOT / "packages").iterdir()))]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "100"}


def _as_block(text: str) -> str:
    """Text without a table stands in a block, so that its lines stay lines."""
    return text if "|---" in text or "| ---" in text else f"```text\n{text.strip()}\n```"
