"""A script of `inside`, run in a folder of its own by processes that may be killed."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from comparison.applications.model_server import PATIENCE, ModelServer
from comparison.applications.served import INSIDE

LOG: Final = "looked.txt"
KILL: Final = "kill"


def environment(folder: Path, address: str) -> dict[str, str]:
    """What a program of `inside` sees: nothing of ours, and a model at `address`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {
        "HOME": str(folder), "PYTHONPATH": str(folder), "NO_PROXY": "127.0.0.1",
        "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "any", "LANGSMITH_TRACING": "false",
    }  # fmt: skip


class Script:
    """A `program` in a folder, whose model is at `address`."""

    def __init__(self, python: Path, program: str, folder: Path, address: str) -> None:
        self.folder = folder
        for source in INSIDE.glob("*.py"):  # there, as pytest would find our own settings here
            shutil.copy(source, folder)
        self._command = [str(python), f"{program}.py"]
        self._env = environment(folder, address)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start it with these arguments."""
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [*self._command, *words],
                cwd=self.folder, env=self._env, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip

    def run(self, *words: str) -> Any:
        """Run it, and give what its last line says; None where it ended without one."""
        return last_line(self.start(*words))

    def tested(self) -> "subprocess.CompletedProcess[str]":
        """What pytest says of it."""
        python, program = self._command
        plugin = ["-p", "pytest_clew"] if program.endswith("_clew.py") else []
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, program]
        return subprocess.run(
            command, cwd=self.folder, env=self._env, capture_output=True, text=True, check=False
        )

    @property
    def looked_up(self) -> list[str]:
        """The places that were looked up, also those that nobody heard of."""
        return [line.split()[1] for line in self._log if line.startswith("begin")]

    @property
    def at_once(self) -> int:
        """How many look-ups were under way at the same time."""
        under_way = peak = 0
        for line in self._log:
            under_way += 1 if line.startswith("begin") else -1
            peak = max(peak, under_way)
        return peak

    @property
    def _log(self) -> list[str]:
        path = self.folder / LOG
        return path.read_text("utf-8").splitlines() if path.exists() else []


def last_line(process: "subprocess.Popen[str]") -> Any:
    """What the last line of a process says."""
    out, _ = process.communicate(timeout=PATIENCE)
    lines = [line for line in out.splitlines() if line.startswith(("[", "{"))]
    return json.loads(lines[-1]) if lines else None


def played_by(
    python: Path, program: str, plays: Iterable[Callable[[Script, ModelServer], str]]
) -> list[str]:
    """What came of each play, in a folder and with a model of its own."""
    outcomes: list[str] = []
    for play in plays:
        with tempfile.TemporaryDirectory() as folder, ModelServer() as model:
            outcomes.append(play(Script(python, program, Path(folder), model.address), model))
    return outcomes
