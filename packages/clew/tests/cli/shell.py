"""The command line as a user has it: a process of its own, in a real folder.

Most are forks of a Python that is warm (tests/warm.py). Where a shell, a device or the start itself
is in question, a test starts Python, with COMMAND or the program `clew`.
"""

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import clew as package
from tests.patience import PATIENCE
from tests.warm import Process

SOURCE = str(Path(package.__file__).parent.parent)
COMMAND = [sys.executable, "-m", "clew.cli"]
RUN_ID = r"\d{8}-\d{6}-[0-9a-f]{8}"

LIBRARY = {
    "mary.md": "# Mary Shelley\n\nMary Shelley was born in London on 30 August 1797.\n",
    "novel.md": "# Frankenstein\n\nFrankenstein is a novel written by Mary Shelley.\n",
}

TOOLS = '''
"""A user's own tools: slow ones wait for the file `go`."""
from pathlib import Path
import anyio
from clew import tool

@tool(effect="unsafe", timeout=60)
async def pay(to: str) -> str:
    """Pay somebody."""
    with Path("paid").open("a") as file:
        file.write(to + "\\n")
    return f"paid {to}"

@tool(effect="read", timeout=60)
async def wait(for_what: str) -> str:
    """Wait for something."""
    Path("begun").touch()
    while not Path("go").exists():
        await anyio.sleep(0.01)
    return f"{for_what} is here"

@tool(effect="unsafe", timeout=60)
async def send(to: str) -> str:
    """Send a letter, slowly."""
    with Path("sent").open("a") as file:
        file.write(to + "\\n")
    Path("begun").touch()
    while not Path("go").exists():
        await anyio.sleep(0.01)
    return f"sent to {to}"

both = [pay, wait]
no_tool = 42
'''


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What it says to programs."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """The test's own world, from which the package can be imported."""
    return {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "100", **more}


def clew(
    *words: str | bytes, stdin: str | bytes = "", env: Mapping[str, str] | None = None
) -> Done:
    """Run a command to its end; none of them ever shows a traceback unasked."""
    reading, writing = os.pipe()
    try:
        process = Process([*COMMAND[1:], *words], environment(**(env or {})), stdin=reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(stdin.encode() if isinstance(stdin, str) else stdin)
    finally:
        os.close(reading)
    out, err = process.communicate(timeout=PATIENCE)
    done = Done(process.wait(), out, err)
    assert "--debug" in words or "Traceback" not in done.err, done.err
    return done


def begin(*words: str, **env: str) -> Process:
    """Start a command and leave it running."""
    return Process([*COMMAND[1:], *words], environment(**env))


def until(path: str, process: Process | subprocess.Popen[str]) -> None:
    """Wait until the process has made the file."""
    while not Path(path).exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def until_told(process: Process, words: str, stream: int = 2) -> None:
    """Wait until the process has written these words, to its stderr or another stream."""
    late = time.monotonic() + PATIENCE
    while words not in process.trajectory(stream):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < late, [process.trajectory(each) for each in (1, 2)]
        time.sleep(0.01)


def library(folder: str = "library") -> str:
    """A small folder of documents."""
    Path(folder).mkdir()
    for name, text in LIBRARY.items():
        Path(folder, name).write_text(text)
    return folder


def own_tools() -> None:
    """The module `own` of a user's tools, in the working folder."""
    Path("own.py").write_text(textwrap.dedent(TOOLS))
