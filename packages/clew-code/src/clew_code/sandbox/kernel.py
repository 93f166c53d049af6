"""Which layers of the sandbox this machine's kernel supports, found by trying each."""

import functools
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Final

from clew_code.sandbox import landlock
from clew_code.sandbox.script import script
from clew_code.sandbox.syscalls import MACHINE, known

LAUNCH: Final = "clew_code.sandbox.launch"
SCOPED: Final = 6
"""The first version of landlock that keeps signals and abstract sockets inside."""

_SECONDS: Final = 20
_BROKEN: Final = (OSError, ValueError, IndexError, subprocess.TimeoutExpired)


@dataclass(frozen=True, slots=True)
class KernelLayer:
    """One layer of the sandbox: whether the kernel supports it, and if not, why."""

    name: str
    built: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """The sandbox layers of a kernel."""

    namespaces: KernelLayer
    landlock: KernelLayer
    seccomp: KernelLayer

    @property
    def walls(self) -> tuple[KernelLayer, ...]:
        """All three."""
        return (self.namespaces, self.landlock, self.seccomp)

    @property
    def lacks(self) -> str:
        """The missing layers with the reason for each; "" if the sandbox is complete."""
        return "; ".join(f"{it.name}: {it.detail}" for it in self.walls if not it.built)


@functools.cache
def kernel() -> Kernel:
    """What this machine's kernel supports. Takes some 0.1 s the first time."""
    if sys.platform != "linux" or not known():  # pragma: no cover - other machines
        here = f"only Linux on x86_64 and aarch64 has them, and this is {sys.platform} {MACHINE}"
        return Kernel(
            *(KernelLayer(name, False, here) for name in ("namespaces", "landlock", "seccomp"))
        )
    return Kernel(_tried("namespaces"), landlock_wall(landlock.version()), _tried("seccomp"))


def landlock_wall(version: int) -> KernelLayer:
    """What a version of landlock can build; 0 is none."""
    detail = f"version {version}"
    if not version:
        detail = "the kernel has none, or was started without it (lsm=…,landlock)"
    elif version < SCOPED:
        detail += f" (from version {SCOPED} on it keeps signals and abstract sockets inside)"
    return KernelLayer("landlock", version > 0, detail)


def _tried(name: str) -> KernelLayer:
    """Build one wall alone, around a program that does nothing."""
    walls = {one: one == name for one in ("namespaces", "landlock", "seccomp")}
    limits = {
        "cpu": _SECONDS,
        "file": 1 << 20,
        "processes": 100,
        "memory": 1 << 30,
        "disk": 1 << 40,
    }
    paths: dict[str, list[str]] = {
        "readable": ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"],
        "writable": [],
        "protected": [],
    }
    wanted: dict[str, Any] = {
        "walls": walls, "network": False, "root": "/", "cwd": "/", "paths": paths, "limits": limits,
        "single_process": False,
    }  # fmt: skip
    command = [*script(LAUNCH), json.dumps(wanted), "/bin/sh", "-c", ":"]
    try:
        ended = subprocess.run(  # noqa: S603 - a command of our own
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
        last: dict[str, Any] = json.loads(ended.stderr.decode(errors="replace").split("\n")[-2])
    except _BROKEN as error:  # pragma: no cover - nothing here can break a shell
        return KernelLayer(name, False, f"trying them failed: {error}")
    built = bool(last.get("built") and last.get("code") == 0)
    why = last.get("why") or f"a program in them ended with {last.get('code')}"
    return KernelLayer(name, built, "usable" if built else why)
