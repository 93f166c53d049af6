"""Describe a sandbox, and run programs in it."""

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Collection, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from anyio import (
    BrokenResourceError,
    CancelScope,
    ClosedResourceError,
    to_thread,
)
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from clew import ConfigError
from clew.support.settings import check_fields
from clew.tools.run_process import end_process, environment, run_process, start_process
from clew_code.sandbox.kernel import LAUNCH, Kernel, kernel
from clew_code.sandbox.script import script

SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    "/etc/alternatives", "/etc/ca-certificates", "/etc/group", "/etc/hosts", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/passwd", "/etc/pki/tls/certs", "/etc/protocols", "/etc/services",
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
"""What programs need of the system, to be read: no keys, no homes, no sockets."""

NAMES: Final = "/etc/resolv.conf"
VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TZ")
"""What a program is told of the environment, beside a home of its own: no keys are among it."""

MARK: Final = "CLEW_SANDBOX"
SCRATCH: Final = "/tmp"  # noqa: S108 - a folder of its own, in memory


class SandboxError(Exception):
    """The sandbox could not be built, so nothing ran. The message says which part failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """The resource limits of a program and everything it starts.

    `cpu`: seconds per process. `memory`: bytes of all processes together. `file`: bytes of one
    file. `disk`: bytes by which free disk space may shrink. The kernel enforces `cpu` and `file`,
    and for a single process also `memory` and the number of its threads (`processes`). The others
    are checked ten times a second.
    """

    cpu: int = 600
    memory: int = 4_000_000_000
    processes: int = 256
    file: int = 1_000_000_000
    disk: int = 4_000_000_000

    def __post_init__(self) -> None:
        """Refuse what limits nothing."""
        check_fields(self)
        for name, number in asdict(self).items():
            if number < 1:
                message = f"the limit {name} of a sandbox is {number}: give 1 or more"
                raise ConfigError(message, field=f"limits.{name}")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a program ended. `code` is None at the deadline, and negative if a signal ended it.

    `why` names the limit for which the sandbox ended it; `cut` counts omitted bytes of output.
    `left` are command lines of what it had left running, and was ended with it.
    """

    code: int | None
    stdout: str
    stderr: str
    cut: int = 0
    why: str = ""
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program in the sandbox: its process, and the mark before the line on how it ended."""

    process: Process
    mark: str

    @property
    def input(self) -> ByteSendStream:
        """Its standard input."""
        return cast("ByteSendStream", self.process.stdin)

    @property
    def output(self) -> ByteReceiveStream:
        """Its standard output."""
        return cast("ByteReceiveStream", self.process.stdout)

    async def why_it_ended(self) -> str:
        """Why it ended: a limit that it broke, a signal, or its last line. Waits for the end."""
        told = bytearray()
        with suppress(ClosedResourceError, BrokenResourceError):
            async for piece in cast("ByteReceiveStream", self.process.stderr):
                told += piece
        stderr, ended = _split(told.decode(errors="replace"), self.mark)
        if why := ended.get("why"):
            return str(why)
        code = ended.get("code", 0)
        how = f"it was ended by signal {-code}" if code < 0 else f"it ended with code {code}"
        return (stderr.strip().splitlines() or [how])[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """A sandbox around one folder.

    Programs can read the system's programs, the current Python and `readable` places. They can
    write `root` (if it is `writable`), the `writable_paths`, except what is `protected` below
    `root`, and a private `/tmp` in memory. Without `network` they reach no address, not even on
    this machine. They see no other processes.

    A `single_process` may start threads, but no other process. The kernel then enforces its memory:
    it can write to at most `limits.memory` bytes, and map 256 MB more (code of libraries, read-only
    pages). It can open 64 files, and without `network` no internet socket, not even to itself.

    If the kernel lacks a layer (`kernel`), nothing runs, unless `weak` allows an incomplete
    sandbox.
    """

    root: str
    writable: bool = True
    writable_paths: tuple[str, ...] = ()
    network: bool = False
    single_process: bool = False
    readable: tuple[str, ...] = ()
    protected: tuple[str, ...] = (".git",)
    limits: SandboxLimits = SandboxLimits()
    weak: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    def command(
        self, argv: Sequence[str], *, cwd: str = "", here: Kernel | None = None, scratch: str = ""
    ) -> list[str]:
        """The command that runs `argv` in the sandbox, from the folder `cwd` below the root.

        It takes the environment it is given; no descriptor but 0, 1 and 2 gets in.
        """
        here = here or kernel()
        wanted: dict[str, Any] = {
            "walls": {wall.name: wall.built for wall in here.walls},
            "network": self.network,
            "single_process": self.single_process,
            "root": self.root,
            "cwd": os.path.join(self.root, cwd),
            "paths": self._paths(scratch),
            "limits": asdict(self.limits),
        }
        return [*script(LAUNCH), json.dumps(wanted), *argv]

    def _paths(self, scratch: str) -> dict[str, list[str]]:
        known = [*SYSTEM, sys.base_prefix, sys.prefix, *self.readable]
        if self.network:
            known += [NAMES, os.path.realpath(NAMES)]
        writable = [*([self.root] if self.writable else []), *self.writable_paths]
        if not self.writable:
            known.append(self.root)
        protected = [os.path.join(self.root, name) for name in self.protected]
        return {
            "readable": list(dict.fromkeys(known)),
            "writable": [*writable, *filter(None, [scratch])],
            "protected": protected,
            "fixed": _above(self.root, protected) if self.writable else [],
        }

    async def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        limit: int,
        cwd: str = "",
        env: Collection[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a program to its end, or to its deadline, and end all that it started.

        Of each stream the first and last half of `limit` bytes are kept. It gets the variables of
        the environment that are in `env`, and further `variables`. Raises `SandboxError`, with
        nothing done.
        """
        here = await self._walls()
        with self._prepared(argv, here, cwd, env, variables) as (command, told):
            try:
                ran = await run_process(command, seconds=seconds, limit=limit, env=told)
            except (OSError, ValueError) as error:
                raise SandboxError(str(error)) from error
        stderr, end = _split(ran.stderr.decode(errors="replace"), told[MARK])
        if end and not end["built"]:
            raise SandboxError(end["why"])
        stdout = ran.stdout.decode(errors="replace")
        code = ran.code if ran.code is None or not end else end["code"]
        left = tuple(end.get("left", ()))
        return CommandResult(code, stdout, stderr, ran.cut, end.get("why", ""), left)

    @asynccontextmanager
    async def start(
        self,
        argv: Sequence[str],
        *,
        env: Collection[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[RunningProgram]:
        """Start a program to talk to over standard input and output; it is ended on leaving.

        Raises `SandboxError`, with nothing done. What it writes to its standard error is read only
        when it has ended.
        """
        here = await self._walls()
        with self._prepared(argv, here, "", env, variables) as (command, told):
            try:
                process = await start_process(command, None, told, fed=True)
            except (OSError, ValueError) as error:
                raise SandboxError(str(error)) from error
            try:
                yield RunningProgram(process, told[MARK])
            finally:
                with CancelScope(shield=True):
                    await end_process(process)
                    await process.aclose()

    async def _walls(self) -> Kernel:
        here = await to_thread.run_sync(kernel)
        if here.lacks and not self.weak:  # pragma: no cover - tested in a process without walls
            raise SandboxError(f"this machine has no complete sandbox ({here.lacks})")
        if sys.platform != "linux":  # pragma: no cover - other systems
            raise SandboxError("there is no sandbox on this system, not even in part")
        return here

    @contextmanager
    def _prepared(
        self,
        argv: Sequence[str],
        here: Kernel,
        cwd: str,
        env: Collection[str],
        variables: Mapping[str, str] | None,
    ) -> Generator[tuple[list[str], dict[str, str]]]:
        """The command to run, and the variables it is run with."""
        with _scratch(inside=here.namespaces.built) as scratch:
            told = {name: text for name, text in environment(env).items() if name in VARIABLES}
            told |= {name: os.environ[name] for name in env if name in os.environ}
            programs = os.path.join(sys.prefix, "bin")
            told["PATH"] = os.pathsep.join(filter(None, [programs, told.get("PATH", "")]))
            told |= {"HOME": scratch, "TMPDIR": scratch, **(variables or {})}
            told[MARK] = secrets.token_hex(12)
            outside = scratch if scratch != SCRATCH else ""
            yield self.command(argv, cwd=cwd, here=here, scratch=outside), told


def _above(root: str, protected: Collection[str]) -> list[str]:
    """The folders between the root and what is protected: they cannot be moved away with it."""
    above: set[str] = set()
    for path in protected:
        folder = os.path.dirname(path)
        while folder.startswith(root + os.sep):
            above.add(folder)
            folder = os.path.dirname(folder)
    return sorted(above)


@contextmanager
def _scratch(*, inside: bool) -> Generator[str]:
    """A folder for files that nobody keeps: in the sandbox's own memory, or a temporary one."""
    if inside:
        yield SCRATCH
        return
    made = tempfile.mkdtemp(prefix="clew-")  # pragma: no cover - tested in a process without walls
    try:  # pragma: no cover - as above
        yield str(Path(made).resolve())
    finally:  # pragma: no cover - as above
        shutil.rmtree(made, ignore_errors=True)


def _split(stderr: str, mark: str) -> tuple[str, dict[str, Any]]:
    """What the program wrote, and what the watch says of its end."""
    output, separator, end = stderr.rpartition(f"\n{mark}")
    if not separator:
        return stderr, {}
    last: dict[str, Any] = json.loads(end)
    return output, last
