"""A world of its own for a program: its own processes, mounts, network, users (namespaces(7))."""

import contextlib
import ctypes
import os
import socket
import stat
import struct
from collections.abc import Iterable
from fcntl import ioctl
from pathlib import Path
from typing import Final

from clew_code.sandbox.syscalls import call, mount, unmount

_USER, _PROCESSES, _NETWORK, _IPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
_NAME, _GROUPS, _MOUNTS = 0x04000000, 0x02000000, 0x00020000

_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_RECURSIVE: Final = 0x8000
_AT_FDCWD: Final = -100

BASE: Final = "/tmp"  # noqa: S108 - a folder that every Linux has, to mount the new world at
OLD: Final = "/.old"
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_BYTES_A_FILE: Final = 8_192
_FEWEST_FILES: Final = 1_000
"""Of files in memory: an empty one takes a kilobyte that `size` does not count."""

USER: Final = 1000
"""Whom a program takes itself for where the administrator runs it."""

_INTERFACE: Final = struct.pack("16sh", b"lo", 0x41)  # up and running
_SET_FLAGS: Final = 0x8914


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def separate(*, network: bool) -> None:
    """Leave the namespaces of this machine; children have their own processes. Raises `OSError`."""
    user, group = os.geteuid(), os.getegid()
    flags = _USER | _PROCESSES | _IPC | _NAME | _GROUPS
    call("unshare", flags if network else flags | _NETWORK)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user or USER} {user} 1")
    _write("/proc/self/gid_map", f"{group or USER} {group} 1")
    if not network:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET) as any_socket:
            ioctl(any_socket, _SET_FLAGS, _INTERFACE)


def _write(path: str, text: str) -> None:
    opened = os.open(path, os.O_WRONLY)
    try:
        os.write(opened, text.encode())
    except OSError as error:
        raise OSError(error.errno, f"{path}: {error.strerror}") from error
    finally:
        os.close(opened)


def rebuild(
    readable: Iterable[str],
    writable: Iterable[str],
    protected: Iterable[str],
    fixed: Iterable[str] = (),
    *,
    size: int,
    processes: int,
) -> bool:
    """Make a root with these places only, at their own paths.

    What is written elsewhere lies in memory: `/tmp` and `/dev/shm` have `size` bytes each at most,
    and a number of files that goes with it.

    Gives whether it has a `/proc`, which the kernel refuses inside of some containers. Raises
    `OSError`.
    """
    call("unshare", _MOUNTS)
    mount("none", "/", "", _REC | _PRIVATE)
    _limit_processes(processes)
    size_options = f"size={size},nr_inodes={max(_FEWEST_FILES, size // _BYTES_A_FILE)}"
    mount("tmpfs", BASE, "tmpfs", _NOSUID | _NODEV, f"mode=755,{size_options}")
    os.mkdir(BASE + OLD)
    call("pivot_root", os.fsencode(BASE), os.fsencode(BASE + OLD))
    os.chdir("/")
    for path in ("/tmp", "/dev/shm"):  # noqa: S108 - folders of the new root
        os.makedirs(path)
        mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV, f"mode=1777,{size_options}")
    for name in DEVICES:
        _bind(f"/dev/{name}")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"/dev/{name}")
    for path in readable:
        if _bind(path):
            _attributes(path, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)
    for path in (*writable, *fixed):  # a mount itself can be neither renamed nor removed
        if _bind(path):
            _attributes(path, _ATTR_NOSUID | _ATTR_NODEV)
    for path in protected:
        if _bind(path):
            _attributes(path, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)
    os.mkdir("/proc")
    has_proc = _processes()
    unmount(OLD)
    os.rmdir(OLD)
    _attributes("/", _ATTR_RDONLY | _ATTR_NOSUID, recursive=False)
    return has_proc


def _processes() -> bool:
    try:
        mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC, "subset=pid")
    except OSError:
        return False
    return True


def _limit_processes(max_processes: int) -> None:
    """Let the namespace have so many processes at most, where the kernel can (Linux 6.14)."""
    try:
        mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    except OSError:
        return
    with contextlib.suppress(OSError):
        _write("/proc/sys/kernel/pid_max", str(max(max_processes, 301)))
    unmount("/proc")


def _bind(path: str) -> bool:
    """Show a place of the old root at the same path; links as links. False if it is not there."""
    source = Path(OLD + path)
    try:
        mode = source.lstat().st_mode
    except OSError:
        return False
    target = Path(path)
    if stat.S_ISLNK(mode):
        if not target.is_symlink() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(os.readlink(source))
        return False
    if stat.S_ISDIR(mode):
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(str(source), path, "", _BIND | _REC)
    return True


def _attributes(path: str, flags: int, *, recursive: bool = True) -> None:
    wanted = _Attributes(flags, 0, 0, 0)
    deep = _AT_RECURSIVE if recursive else 0
    call("mount_setattr", _AT_FDCWD, os.fsencode(path), deep, ctypes.byref(wanted), 32)
