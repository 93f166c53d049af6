"""What a program may use up: limits that the kernel holds, and a watch over all its processes."""

import contextlib
import os
import resource
import signal
from pathlib import Path
from typing import Any, Final

PERIOD: Final = 0.1
"""Seconds between two looks at the processes."""

CODE: Final = 256_000_000
"""Bytes of address space that a single process has beyond its memory, for the code of libraries."""

DESCRIPTORS: Final = 64
"""Files, pipes and sockets that a single process may have open: the kernel's memory for each is not
in its address space."""

_SPARE: Final = 2
"""Seconds of CPU between the signal that may be caught and the one that may not."""


def restrict(limits: dict[str, Any], *, watched: bool, single_process: bool) -> None:
    """Set the limits of this process and of what it starts; no limit is raised.

    Where nobody can watch how much memory all have together, each may have that much. A single
    process has nobody to share with, so the kernel holds its memory and its threads.
    """
    memory = limits["memory"]
    wanted = {
        resource.RLIMIT_CPU: (int(limits["cpu"]), int(limits["cpu"]) + _SPARE),
        resource.RLIMIT_FSIZE: (limits["file"], limits["file"]),
        resource.RLIMIT_NOFILE: (1024, 1024),
        resource.RLIMIT_CORE: (1, 1),  # the kernel's word for: to no program of the machine's
    }
    if single_process:
        # What can be written is memory; but a page that was written and made read-only counts as
        # address space alone.
        wanted[resource.RLIMIT_DATA] = (memory, memory)
        wanted[resource.RLIMIT_AS] = (memory + CODE, memory + CODE)
        wanted[resource.RLIMIT_NOFILE] = (DESCRIPTORS, DESCRIPTORS)
        if watched:  # in a user namespace of its own: elsewhere all of the user's threads count
            wanted[resource.RLIMIT_NPROC] = (limits["processes"], limits["processes"])
    elif not watched:
        wanted[resource.RLIMIT_AS] = (memory, memory)
    for kind, (soft, hard) in wanted.items():
        now = resource.getrlimit(kind)[1]
        if now != resource.RLIM_INFINITY:
            soft, hard = min(soft, now), min(hard, now)  # noqa: PLW2901 - none may be raised
        resource.setrlimit(kind, (soft, hard))


def exceeded(limits: dict[str, Any], free: int, folder: str) -> str:
    """Which limit the processes of our children's namespace break together; "" for none.

    `free` is what the disk of `folder` had at the beginning.
    """
    number, memory = _used()
    if number > limits["processes"]:
        return f"it had more than {limits['processes']} processes"
    if memory > limits["memory"]:
        return f"it used more than {limits['memory']:,} bytes of memory"
    if free - free_bytes(folder) > limits["disk"]:
        return f"the disk lost more than {limits['disk']:,} bytes meanwhile"
    return ""


def free_bytes(folder: str) -> int:
    """Bytes that are free on the disk of a folder."""
    stats = os.statvfs(folder)
    return stats.f_bavail * stats.f_frsize


def _used() -> tuple[int, int]:
    """The number of processes in a namespace of its own, and the bytes that are theirs."""
    number = memory = 0
    try:
        world = os.stat("/proc/self/ns/pid_for_children").st_ino
        if world == os.stat("/proc/self/ns/pid").st_ino:
            return 0, 0
    except OSError:
        return 0, 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}/ns/pid").st_ino == world:
                    number += 1
                    memory += _own_memory(
                        Path(f"/proc/{name}/status").read_text("utf-8", "replace")
                    )
    return number, memory


def _own_memory(status: str) -> int:
    """The memory that a process has for itself, by its status."""
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    sizes = (lines.get(key, "0 kB").split()[0] for key in ("RssAnon", "RssShmem", "VmSwap"))
    return sum(int(one) for one in sizes) * 1024


def kill(process: int) -> None:
    """Kill a process, and with it its namespace if it is the first there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
