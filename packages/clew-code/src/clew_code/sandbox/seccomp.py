"""The system calls that a program in a sandbox may make, as a filter in the kernel.

The filter is a list of what is refused, not of what is allowed: a build or a test may need any
ordinary call. What gives more rights, reaches into other processes or opens rarely used parts of
the kernel is refused (`syscalls`), and so is everything newer than this page. See seccomp(2).
"""

import ctypes
import errno
import struct
from typing import Final

from clew_code.sandbox.syscalls import (
    MACHINE,
    MODES,
    NEWEST,
    OPENING,
    call,
    number,
    prctl,
    refused,
)

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _FIRST, _SECOND, _WORD = 0, 4, 16, 24, 8
"""Where a filter finds the call's number, its architecture and the low half of its arguments."""

_ARCHES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NEW_NAMESPACES: Final = 0x7E020000
"""All `CLONE_NEW…` flags that clone(2) takes."""
_THREAD: Final = 0x10000
"""CLONE_THREAD: what is made is a thread of this process, not another process."""
_TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: they type into a terminal in the place of its user."""
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_SET_USER_ID: Final = 0o4000
"""Whoever runs such a file has its owner's rights: outside, that is the user of clew."""
_MAKES: Final = 0o20000100
"""O_CREAT and O_TMPFILE: the flags with which the mode of an opened file counts."""

_NO_NEW_PRIVS: Final = 38
_FILTER_MODE: Final = 1

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _refuse(code: int = errno.EPERM) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | code)


def program(*, internet: bool, single_process: bool) -> list[Instruction]:
    """The filter: (code, jump if true, jump if false, value) for each instruction."""
    families = (_UNIX, _INET, _INET6, _NETLINK) if internet else (_UNIX,)
    instructions: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, _ARCHES[MACHINE]),
        (_RETURN, 0, 0, _KILL),  # calls of another architecture have other numbers
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER, 0, 1, NEWEST),
        _refuse(errno.ENOSYS),
    ]
    for name in ("clone3", "openat2"):  # what they are to do lies where no filter can look
        instructions += [(_EQUAL, 0, 1, number(name)), _refuse(errno.ENOSYS)]  # clone and open can
    for each in refused(single_process=single_process):
        instructions += [(_EQUAL, 0, 1, each), _refuse()]
    instructions += _clone(single_process=single_process)
    for name, argument in MODES.items():
        instructions += _mode(number(name), argument)
    for name, flags in OPENING.items():
        instructions += _mode(number(name), flags + 1, flags=flags)
    instructions += [
        (_EQUAL, 0, 5, number("ioctl")),
        (_LOAD, 0, 0, _SECOND),
        (_EQUAL, 1, 0, _TERMINAL_INPUT[0]),
        (_EQUAL, 0, 1, _TERMINAL_INPUT[1]),
        _refuse(),
        (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 1, 0, number("socketpair")),
        (_EQUAL, 0, len(families) + 2, number("socket")),
        (_LOAD, 0, 0, _FIRST),
    ]
    rest = len(families)
    instructions += [(_EQUAL, rest - index, 0, one) for index, one in enumerate(families)]
    return [*instructions, _refuse(errno.EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]


def _mode(called: int, argument: int, flags: int | None = None) -> list[Instruction]:
    """No file that runs as its owner, by a call whose mode is that argument.

    With `flags`, the argument with the flags of opening, only where these make a file.
    """
    if called < 0:
        return []
    rules: list[Instruction] = []
    if flags is not None:
        rules += [(_LOAD, 0, 0, _FIRST + _WORD * flags), (_ANY_BIT, 0, 3, _MAKES)]
    rules += [
        (_LOAD, 0, 0, _FIRST + _WORD * argument),
        (_ANY_BIT, 0, 1, _SET_USER_ID),
        _refuse(),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return [(_EQUAL, 0, len(rules), called), *rules]


def _clone(*, single_process: bool) -> list[Instruction]:
    """What becomes of clone(2): no new namespaces, and from a single process only threads."""
    rules = [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _refuse()]
    if single_process:
        rules += [(_ANY_BIT, 1, 0, _THREAD), _refuse()]
    rules.append((_RETURN, 0, 0, _ALLOW))
    return [(_EQUAL, 0, len(rules), number("clone")), *rules]


def restrict(*, internet: bool, single_process: bool) -> None:
    """Put the filter around this process and all that it starts. Raises `OSError`."""
    filters = program(internet=internet, single_process=single_process)
    lines = [struct.pack("HBBI", *each) for each in filters]
    body = ctypes.create_string_buffer(b"".join(lines))
    prctl(_NO_NEW_PRIVS, 1)
    loaded = _Program(len(lines), ctypes.cast(body, ctypes.c_void_p))
    call("seccomp", _FILTER_MODE, 0, ctypes.byref(loaded))
