"""Linux system calls that Python has no function for, and the numbers of those that are refused."""

import ctypes
import functools
import os
import platform
from typing import Final

MACHINE: Final = platform.machine()
"""`x86_64` or `aarch64`; on others there is no sandbox."""

_COLUMN: Final = {"x86_64": 0, "aarch64": 1}

_NUMBERS: Final[dict[str, tuple[int, int]]] = {
    # name: x86_64, aarch64 (-1: the machine has no such call); from the kernel's syscall tables
    "clone": (56, 220),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "prctl": (157, 167),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "clone3": (435, 435),
    "fork": (57, -1),
    "vfork": (58, -1),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    # modes of files
    "chmod": (90, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "creat": (85, -1),
    "open": (2, -1),
    "openat": (257, 56),
    "openat2": (437, 437),
    "mknod": (133, -1),
    "mknodat": (259, 33),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # namespaces and mounts
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # parts of the kernel with a long history of holes, which no build or test needs
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "modify_ldt": (154, -1),
    "vhangup": (153, 58),
    # memory that a process need not have in its address space
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "vmsplice": (278, 75),
    "setsockopt": (54, 208),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, -1),
    "ioperm": (173, -1),
}

MODES: Final = {
    "chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2,
}  # fmt: skip
"""Calls that set the mode of a file, and which of their arguments it is, from 0."""

OPENING: Final = {"open": 1, "openat": 2}
"""Calls with flags that may make a file, and which argument the flags are; its mode is the next."""

ALLOWED: Final = frozenset(
    {
        *MODES, *OPENING, "openat2", "socketpair",
        "clone", "ioctl", "socket", "prctl", "capset", "seccomp", "clone3",
        "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    }
)  # fmt: skip
"""Names in the table that are not refused as a whole."""

NOT_FOR_ONE: Final = frozenset(
    {
        "fork", "vfork", "memfd_create", "memfd_secret", "shmget", "msgget", "semget", "vmsplice",
        "setsockopt",
    }
)  # fmt: skip
"""What only a program that is to be a single process is refused: new processes, and memory that
the limit on its address space would not count (`setsockopt` makes the buffers of a socket larger).
"""

NEWEST: Final = 469
"""Newest syscall in this table (`file_setattr`, Linux 6.17); newer ones are refused."""


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def known() -> bool:
    """Whether the numbers of this machine are known."""
    return MACHINE in _COLUMN


def number(name: str) -> int:
    """The number of a system call on this machine; -1 where it has none."""
    return _NUMBERS[name][_COLUMN[MACHINE]]


def refused(*, single_process: bool) -> list[int]:
    """The numbers of all calls that a program in a sandbox may not make."""
    allowed = ALLOWED if single_process else ALLOWED | NOT_FOR_ONE
    numbers = [number(name) for name in _NUMBERS if name not in allowed]
    return [one for one in numbers if one >= 0]


def call(name: str, *args: object) -> int:
    """Make a system call. Raises `OSError` with its name where the kernel refuses."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in args]
    result: int = _libc().syscall(ctypes.c_long(number(name)), *words)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int = 0, third: int = 0) -> None:
    """Change something about this process. Raises `OSError`."""
    call("prctl", option, value, third, 0, 0)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount a file system. Raises `OSError` that names the target."""
    words = (one.encode() if one else None for one in (source, target, kind))
    first, second, third = words
    if _libc().mount(first, second, third, ctypes.c_ulong(flags), data.encode() or None) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount of {target}: {os.strerror(code)}")


def unmount(target: str) -> None:
    """Detach a mount. Raises `OSError`."""
    detach = 2
    if _libc().umount2(target.encode(), detach) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"umount of {target}: {os.strerror(code)}")
