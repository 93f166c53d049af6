"""A process run to its end or to its deadline, then ended with all its children."""

import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import anyio
from anyio.abc import ByteReceiveStream, Process

from clew.support.errors import ConfigError

GRACE: Final = 1.0
"""Seconds a process has to end after SIGTERM, and a pipe to run dry after the process."""

ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT")
"""Variables every process gets; keys and tokens are not among them."""

_PYTHON: Final = ("PYTHON", "COVERAGE_", "VIRTUAL_ENV")
"""So the names of those begin that a Python of ours reads, and what measures it."""

_NO_VARIABLE: Final = re.compile(r"[=\s\0]")

SLACK: Final = 3 * GRACE
"""Seconds by which the deadline of a tool lies behind that of its process: time to end it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a process. `code` is None where the deadline ended it; below 0, a signal did."""

    code: int | None
    stdout: bytes
    stderr: bytes
    cut: int = 0
    """Bytes of standard output that were left out."""


class HeadAndTail:
    """The first and the last bytes of a stream, each at most half of `limit`."""

    def __init__(self, limit: float) -> None:
        self._half = limit if math.isinf(limit) else max(1, int(limit) // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.cut = 0

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        room = len(piece) if math.isinf(self._half) else int(self._half) - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        if (over := len(self._tail) - self._half) > 0:
            del self._tail[: int(over)]
            self.cut += int(over)

    def value(self) -> bytes:
        """All that was kept, with a mark where something was left out."""
        mark = f"\n[… {self.cut} bytes left out …]\n".encode() if self.cut else b""
        return bytes(self._head) + mark + bytes(self._tail)


def environment(named: Iterable[str], *, python: bool = False) -> dict[str, str]:
    """What a process may know of the environment: little, and the variables that were `named`."""
    known = {*ENVIRONMENT, *named}
    return {
        name: text
        for name, text in os.environ.items()
        if name in known or (python and name.startswith(_PYTHON))
    }


def check_variables(named: Iterable[str]) -> tuple[str, ...]:
    """The names. Raises `ConfigError` for what can be no variable of the environment."""
    if isinstance(named, str):
        raise ConfigError(f"env is {named!r}: give a list of names", field="env")
    names = tuple(named)
    for name in names:
        if not isinstance(cast("object", name), str) or not name or _NO_VARIABLE.search(name):
            raise ConfigError(
                f"env names {name!r}, which is no variable of the environment: give its name "
                "alone, such as 'LANG'; the value is that of the environment",
                field="env",
            )
    return names


async def run_process(
    argv: Sequence[str],
    *,
    seconds: float,
    limit: float,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
) -> Ran:
    """Run a program, never through a shell, and keep what it wrote, also when it had to be ended.

    After `seconds` its process group gets SIGTERM and then SIGKILL; whatever it leaves running when
    it ends, and on cancellation, is killed too. Raises `OSError` or `ValueError` where it cannot be
    started: then nothing was done.
    """
    process = await start_process(argv, cwd, env, fed=stdin is not None)
    out, err, late = HeadAndTail(limit), HeadAndTail(limit), False
    try:
        async with anyio.create_task_group() as readers:
            readers.start_soon(_drain, cast("ByteReceiveStream", process.stdout), out)
            readers.start_soon(_drain, cast("ByteReceiveStream", process.stderr), err)
            try:
                with anyio.move_on_after(seconds) as deadline:
                    await _feed(process, stdin)
                    await process.wait()
                late = deadline.cancelled_caught
            finally:
                with anyio.CancelScope(shield=True):
                    await end_process(process)
            # what escaped the group may hold the pipes open for ever
            readers.cancel_scope.deadline = anyio.current_time() + GRACE
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()
    return Ran(None if late else process.returncode, out.value(), err.value(), out.cut)


async def start_process(
    argv: Sequence[str], cwd: str | None, env: Mapping[str, str] | None, *, fed: bool
) -> Process:
    """Start the process; whoever is cancelled meanwhile has it all the same, to end it.

    A start that is broken off ends the process alone, and leaves what that has started.
    """
    started: list[Process] = []  # a scope may swallow what is raised in it, as type checkers see it
    await anyio.lowlevel.checkpoint_if_cancelled()
    with anyio.CancelScope(shield=True):
        started.append(
            await anyio.open_process(
                argv,
                stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
                cwd=cwd,
                env=env,
                start_new_session=True,
            )
        )
    return started[0]


async def _drain(stream: ByteReceiveStream, kept: HeadAndTail) -> None:
    async for piece in stream:
        kept.add(piece)


async def _feed(process: Process, stdin: bytes | None) -> None:
    """Write all of `stdin`, as far as the process reads it."""
    if stdin is not None and process.stdin is not None:
        try:
            await process.stdin.send(stdin)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # it ended, or closed its input, without reading to the end
        await process.stdin.aclose()


async def end_process(process: Process) -> None:
    """End what still runs of the process and its group."""
    if process.returncode is None:
        signal_group(process.pid, hard=False)
        with anyio.move_on_after(GRACE):
            await process.wait()
    signal_group(process.pid, hard=True)
    await process.wait()


def signal_group(group: int, *, hard: bool) -> None:
    """Send SIGTERM, or with `hard` SIGKILL, to a process group, if anybody is left in it."""
    if sys.platform == "win32":  # pragma: no cover - Windows has no process groups to signal
        os.kill(group, signal.SIGTERM)
        return
    try:
        os.killpg(group, signal.SIGKILL if hard else signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left in it (macOS refuses to signal a group of zombies)


__all__ = [
    "SLACK",
    "Ran",
    "check_variables",
    "end_process",
    "environment",
    "run_process",
    "signal_group",
    "start_process",
]
