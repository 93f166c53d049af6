"""An application of `inside`, served by a process that may be killed and started again."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx2

from comparison.applications.model_server import PATIENCE

INSIDE: Final = Path(__file__).parents[1] / "inside"
Event = tuple[float, str, dict[str, Any]]
"""Seconds since the request, the event's id, and what it says."""


class Served:
    """A server of `program` in a folder, whose model is at `address`."""

    def __init__(self, python: Path, program: str, folder: Path, address: str) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._command = [
            *(str(python), "-m", "uvicorn", f"{program}:app"),
            *("--port", str(self.port), "--log-level", "error"),
        ]
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._env = kept | {
            "HOME": str(folder), "PYTHONPATH": str(INSIDE), "NO_PROXY": "127.0.0.1",
            "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "any", "LANGSMITH_TRACING": "false",
        }  # fmt: skip

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self.folder, env=self._env, stdout=log, stderr=log
            )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.get("/approvals")
            except httpx2.TransportError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.1)
            else:
                return

    def restart(self) -> None:
        """Wait for its death, and start it again in the same folder."""
        self.process.wait(PATIENCE)
        self.start()

    @contextmanager
    def client(self) -> Iterator[httpx2.Client]:
        """A client that speaks for a customer."""
        address = f"http://127.0.0.1:{self.port}"
        with httpx2.Client(base_url=address, timeout=PATIENCE, headers={"x-user": "ada"}) as client:
            yield client

    def get(self, path: str) -> Any:
        """What an address gives."""
        with self.client() as client:
            return client.get(path).json()

    def events(
        self, method: str, path: str, body: Any = None, after: str = ""
    ) -> tuple[str, list[Event]]:
        """The id of a run and the events of a stream, each with the time of its coming.

        One JSON document is taken for one event; a connection that breaks ends the stream.
        """
        began, events, number, run = time.monotonic(), list[Event](), "", ""
        headers = {"last-event-id": after} if after else {}
        try:
            with (
                self.client() as client,
                client.stream(method, path, json=body, headers=headers) as reply,
            ):
                run = reply.headers.get("x-run", "")
                for line in reply.iter_lines():
                    now = time.monotonic() - began
                    if line.startswith("id: "):
                        number = line[4:]
                    elif line.startswith(("data: ", "{")):
                        data = json.loads(line.removeprefix("data: "))
                        events.append((now, number, data))
        except httpx2.TransportError as error:
            events.append((time.monotonic() - began, "", {"broken": str(error)}))
        return run, events

    @property
    def payments(self) -> list[str]:
        """The lines that the shop paid."""
        path = self.folder / "payments.txt"
        return path.read_text("utf-8").splitlines() if path.exists() else []
