"""The program that builds a sandbox around itself and then becomes the one that was asked for.

It runs in a process of its own, without clew's dependencies (`script`): what it does to itself,
nothing undoes. Three processes: the *watch* outside, which holds the limits that the kernel does
not; the *first* inside, whose end ends all others; and the *program*.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import time
from typing import Any, Final

from clew_code.sandbox import landlock, limits, namespaces, seccomp
from clew_code.sandbox.syscalls import call, prctl

MARK: Final = "CLEW_SANDBOX"
"""The variable with a word that only the watch knows: what it says of the end begins with it."""

_NOT_BUILT: Final = 120
_PARENT_DEATH: Final = 1
_DROP_BOUNDING: Final = 24
_NOT_DUMPABLE: Final = (4, 0)
_LAST_CAPABILITY: Final = 63
_VERSION: Final = 0x20080522
_READINGS: Final = 100
"""How often the command line of a process is read that has none."""

_NAMED: Final = 5
"""How many processes that were left running are named."""
_LINE: Final = 200
"""The bytes of their command lines that are told."""


def main() -> None:
    """Build what `argv[1]` describes, run the rest of `argv` in it, and say how it ended."""
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    mark = os.environ.pop(MARK, "")
    if wanted["walls"]["namespaces"]:
        try:
            namespaces.separate(network=wanted["network"])
        except OSError as error:
            _report_end(mark, {"built": False, "why": _message(error)})
            os._exit(_NOT_BUILT)
    reports, report = socket.socketpair()
    first = os.fork()
    if not first:
        reports.close()
        _or_report(report, _first, wanted, sys.argv[2:])
    report.close()
    code = _watch(first, wanted, reports, mark)
    os._exit(code)


def _report_end(mark: str, end: dict[str, Any]) -> None:
    """Write how it ended as the last line of standard error, after the mark."""
    with contextlib.suppress(OSError):
        os.write(2, f"\n{mark}{json.dumps(end)}\n".encode())


def _or_report(report: socket.socket, work: Any, *args: Any) -> None:
    """Do work that never returns. If a wall cannot be built, report it and run nothing."""
    try:
        work(report, *args)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the program must not run
        with contextlib.suppress(OSError):
            report.send(json.dumps({"built": False, "why": _message(error)}).encode())
    os._exit(_NOT_BUILT)


def _message(error: BaseException) -> str:
    strerror = error.strerror if isinstance(error, OSError) and not error.filename else None
    return strerror or str(error) or repr(error)


def _watch(first: int, wanted: dict[str, Any], reports: socket.socket, mark: str) -> int:
    """Wait for the end, and end what breaks a limit."""
    free, why = limits.free_bytes(wanted["root"]), ""
    reports.settimeout(limits.PERIOD)
    output = b""
    while True:
        try:
            piece = reports.recv(65_536)
        except TimeoutError:
            why = why or limits.exceeded(wanted["limits"], free, wanted["root"])
            if why:
                limits.kill(first)
            continue
        if not piece:
            break
        output += piece
    _, status = os.waitpid(first, 0)
    end: dict[str, Any] = {"built": True, "code": os.waitstatus_to_exitcode(status), "why": why}
    if output:
        end |= json.loads(output)
    _report_end(mark, end)
    code: int = end.get("code", _NOT_BUILT)
    return code if end["built"] and 0 <= code < _NOT_BUILT else _NOT_BUILT


def _first(report: socket.socket, wanted: dict[str, Any], argv: list[str]) -> None:
    """The first process inside: it builds the walls, starts the program and waits for it."""
    prctl(_PARENT_DEATH, signal.SIGKILL)
    prctl(*_NOT_DUMPABLE)
    walls, paths = wanted["walls"], wanted["paths"]
    if walls["namespaces"]:
        namespaces.rebuild(
            paths["readable"],
            paths["writable"],
            paths["protected"],
            paths.get("fixed", ()),
            size=wanted["limits"]["memory"] // 2,
            processes=wanted["limits"]["processes"],
        )
    os.chdir(wanted["cwd"])
    program = os.fork()
    if not program:
        _or_report(report, _program, wanted, argv)
    os.close(0)
    os.closerange(1, 3)
    end = 0
    while True:
        process, status = os.wait()
        if process == program:
            end = os.waitstatus_to_exitcode(status)
            break
    left = _still_running() if walls["namespaces"] else []
    if end < 0 or left:
        report.send(json.dumps({"code": end, "left": left}).encode())
    os._exit(max(end, 0))


def _still_running() -> list[str]:
    """The command lines of what the program leaves behind, which ends with the first process."""
    alive = list[str]()
    for name in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        with contextlib.suppress(OSError):
            if int(name) != os.getpid() and (line := _command_line(name)):
                alive.append(line)
    return alive[:_NAMED]


def _command_line(process: str) -> str:
    """What a process was started as; nothing of one that has ended."""
    for _ in range(_READINGS):
        with open(f"/proc/{process}/cmdline", "rb") as file:
            if line := file.read(_LINE).replace(b"\0", b" ").decode(errors="replace").strip():
                return line
        with open(f"/proc/{process}/stat", "rb") as file:
            if file.read().rpartition(b") ")[2][:1] in b"ZX":
                return ""
        time.sleep(0.002)  # it is just becoming another program, and has no line for a moment
    return ""


def _program(report: socket.socket, wanted: dict[str, Any], argv: list[str]) -> None:
    """Give up all rights, and become the program."""
    walls, paths = wanted["walls"], wanted["paths"]
    if single := wanted["single_process"]:
        os.environ["MALLOC_ARENA_MAX"] = "1"  # a heap for each thread reserves 64 MB of addresses
    limits.restrict(wanted["limits"], watched=walls["namespaces"], single_process=single)
    os.closerange(3, report.fileno())
    os.closerange(report.fileno() + 1, 1 << 16)
    for one in range(_LAST_CAPABILITY + 1) if walls["namespaces"] else ():
        with contextlib.suppress(OSError):
            prctl(_DROP_BOUNDING, one)
    if walls["landlock"]:
        within = ("/proc", *(f"/dev/{name}" for name in namespaces.DEVICES))
        scratch = ("/tmp", "/dev/shm") if walls["namespaces"] else ()  # noqa: S108 - folders of its own
        landlock.restrict(
            (*paths["readable"], *within),
            (*paths["writable"], *scratch, "/dev/null", "/dev/zero", "/dev/full"),
            ("/",) if walls["namespaces"] else (),
            network=wanted["network"] or walls["namespaces"],
        )
    if walls["namespaces"]:
        _drop_capabilities()
    if walls["seccomp"]:
        inside = walls["namespaces"] and not single
        seccomp.restrict(internet=wanted["network"] or inside, single_process=single)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and programs inherit that
    os.set_inheritable(report.fileno(), False)  # closed by the kernel once the program is there
    try:
        os.execvpe(argv[0], argv, dict(os.environ))  # noqa: S606 - what the caller asked for
    except OSError as error:
        raise OSError(error.errno, f"{argv[0]} cannot be run: {error.strerror}") from error


def _drop_capabilities() -> None:
    header = _VERSION.to_bytes(4, sys.byteorder) + bytes(4)
    call("capset", header, bytes(24))
