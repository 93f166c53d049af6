"""The files that a program in a sandbox may touch, as rules in the kernel (landlock(7)).

A second wall behind the mounts, and the only one where the kernel gives no namespaces.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterable
from typing import Final

from clew_code.sandbox.syscalls import call, known, prctl

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE = 1 << 13, 1 << 14, 1 << 15
_ALL: Final = (1 << 13) - 1
_OF_FILES: Final = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE
_LOOK: Final = _EXECUTE | _READ | _LIST
_TCP: Final = 3
_OUTSIDE: Final = 3
"""Abstract sockets of, and signals to, processes outside of the sandbox."""

_NO_NEW_PRIVS: Final = 38
_VERSION: Final = 1
_BENEATH: Final = 1


class _Rules(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64))


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """The version of landlock that the kernel has; 0 where it has none."""
    if not known():
        return 0
    try:
        return call("landlock_create_ruleset", None, 0, _VERSION)
    except OSError:
        return 0


def restrict(
    readable: Iterable[str], writable: Iterable[str], listed: Iterable[str], *, network: bool
) -> None:
    """Let this process, and all that it starts, touch these files and folders only.

    What is below a `listed` folder may be listed. Places that are not there are passed over.
    Without `network` there is no TCP either, where the kernel can tell. Raises `OSError`.
    """
    has = version()
    handled = _ALL | (has >= 2 and _REFER) | (has >= 3 and _TRUNCATE) | (has >= 5 and _DEVICE)
    rules = _Rules(handled, 0 if network or has < 4 else _TCP, _OUTSIDE if has >= 6 else 0)
    size = 24 if has >= 6 else 16 if has >= 4 else 8
    ruleset = call("landlock_create_ruleset", ctypes.byref(rules), size, 0)
    try:
        for path in listed:
            _allow(ruleset, path, _LIST)
        for path in readable:
            _allow(ruleset, path, _LOOK & handled)
        for path in writable:
            _allow(ruleset, path, handled)
        prctl(_NO_NEW_PRIVS, 1)
        call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.EACCES}:
            return
        raise
    try:
        folder = stat.S_ISDIR(os.fstat(opened).st_mode)
        rule = _Rule(access if folder else access & _OF_FILES, opened)
        call("landlock_add_rule", ruleset, _BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(opened)
