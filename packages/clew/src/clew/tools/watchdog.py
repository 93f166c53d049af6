"""Work in a process of its own, and a process that watches it and ends all that it started.

Who watches is its parent. On Linux it also adopts what the work leaves behind, be it in a session
of its own; elsewhere only the process group is ended, by whoever runs the two.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

LOOK: Final = 0.5
"""Seconds between two looks at whether the worker still lives."""

GRACE: Final = 0.5
"""Seconds that the work has to end after SIGTERM; the one who watches has twice as many."""

RESERVE: Final = 64 * 1024 * 1024
"""Bytes beyond the limit that are let go, once it is reached, to say so."""

_KILLING: Final = 2.0
_TURN: Final = 0.005
_ADOPT: Final = 36  # PR_SET_CHILD_SUBREAPER in <linux/prctl.h>


@dataclass(frozen=True, slots=True)
class ChildExit:
    """How the work ended: its exit code (below 0, a signal did) and the CPU time it took."""

    code: int
    cpu: float


def watch(work: Callable[[], None], *, seconds: float, worker: int) -> ChildExit | None:
    """Do the work in a process of its own; with it ends whatever it started and left.

    All of that is ended after `seconds`, on SIGTERM, and once this process is no child of `worker`
    any more. In the process that did the work this returns None: that one has to leave.
    """
    bell, ring = os.pipe()
    os.set_blocking(ring, False)
    if sys.platform == "linux":  # pragma: no branch - elsewhere nobody can adopt
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    told: list[int] = []

    def tell(number: int, frame: FrameType | None) -> None:
        told.append(number)

    signal.signal(signal.SIGTERM, tell)
    signal.signal(signal.SIGCHLD, tell)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    if (child := os.fork()) == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        work()
        return None
    deadline = time.monotonic() + seconds
    while (ended := _reaped(child)) is None:
        if signal.SIGTERM in told or time.monotonic() > deadline or os.getppid() != worker:
            ended = _stop(child)
            break
        if select.select([bell], [], [], LOOK)[0]:
            os.read(bell, 4096)
    _end_rest()
    return ended


def limit(cpu: int, memory: int) -> None:
    """Hold this process and each that it starts to seconds of CPU and to bytes beyond its own.

    0 is no limit. Limits that hold already stay.
    """
    if cpu:
        _hold(resource.RLIMIT_CORE, 0, 0)
        _hold(resource.RLIMIT_CPU, cpu, 1)
    if memory:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        _hold(resource.RLIMIT_AS, pages * resource.getpagesize() + memory, RESERVE)


def take_reserve() -> None:
    """Lift the limit of memory by its reserve."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _hold(kind: int, soft: int, more: int) -> None:
    held = resource.getrlimit(kind)[1]
    hard = soft + more if held == resource.RLIM_INFINITY else min(soft + more, held)
    resource.setrlimit(kind, (min(soft, hard), hard))


def _reaped(child: int) -> ChildExit | None:
    pid, status, used = os.wait4(child, os.WNOHANG)
    return (
        ChildExit(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime) if pid else None
    )


def _stop(child: int) -> ChildExit:
    """End the work: first with a word to its process group, then for good."""
    os.killpg(0, signal.SIGTERM)
    patience = time.monotonic() + GRACE
    while (ended := _reaped(child)) is None:
        if time.monotonic() > patience:
            os.kill(child, signal.SIGKILL)
        time.sleep(_TURN)
    return ended


def _end_rest() -> None:
    """Kill what is left of the work, and what that starts meanwhile, until nothing is there."""
    patience = time.monotonic() + _KILLING
    while (rest := _descendants()) and time.monotonic() < patience:
        for pid in rest:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_TURN)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants() -> set[int]:
    """The processes that descend from this one, as far as the system tells."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
    family, descendants = {os.getpid()}, {os.getpid()}
    while descendants := {pid for pid, parent in parents.items() if parent in descendants}:
        family |= descendants
    return family - {os.getpid()}
