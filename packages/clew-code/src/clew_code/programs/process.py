"""Programs in CPython, in a process of its own in the sandbox: for those that need libraries.

It has this Python's packages, files that it may read, and a folder in memory to write to; no
network, no second process, no way to keep anything. It cannot be dumped: after a crash a program is
run anew over what its calls gave.
"""

import json
import platform
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream

from clew import ToolError
from clew.support import json_arguments
from clew.support.settings import check_fields
from clew_code.programs import child_process
from clew_code.programs.interface import (
    CodeLimits,
    Finished,
    PendingCall,
    ProgramFailed,
    ProgramState,
    Raised,
    Returned,
    Session,
)
from clew_code.sandbox import Sandbox, SandboxError, SandboxLimits
from clew_code.sandbox.sandbox import RunningProgram

__all__ = ["SandboxedPython"]

_RULE: Final = "from clew.support.json_arguments import refused, unfit"
CHILD: Final = (
    Path(child_process.__file__)
    .read_text("utf-8")
    .replace(_RULE, Path(json_arguments.__file__).read_text("utf-8"))
)
START: Final = 60.0
"""Seconds that the process has to start."""

PATIENCE: Final = 5.0
"""Seconds past the limits of a program's work after which its process is ended from outside."""

LONGEST: Final = 4 * child_process.LONGEST
"""Bytes of one message."""

THREADS: Final = 64
FILE: Final = 50_000_000

VARIABLES: Final = {
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""Run anew, a program has the same order of sets, and the same sums on any number of cores."""

GONE: Final = (
    anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead
)  # fmt: skip


class _Line(msgspec.Struct, frozen=True):
    """A message of the process: it is ready, or a program made a call, ended or failed."""

    printed: str
    left_out: bool
    ask: str | None = None
    args: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    value: str = ""
    error: str | None = None


_LINES: Final = msgspec.json.Decoder(_Line)


@dataclass(frozen=True)
class SandboxedPython:
    """The executor for programs that need libraries or files.

    `files` is a folder that programs find as their working folder, and `readable` are further
    places; nothing but a folder in memory can be written. `memory` of the limits is what the
    process may write to, with the packages it loads: what asks for more gets a `MemoryError`. It
    may start threads, and no process.

    On a kernel that lacks a wall of the sandbox nothing is run, unless it may be `weak`: then what
    the kernel has is used.
    """

    files: str = ""
    readable: tuple[str, ...] = ()
    weak: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    @property
    def name(self) -> str:
        """This Python and its version."""
        return f"cpython/{platform.python_version()}"

    @asynccontextmanager
    async def open(
        self, limits: CodeLimits, functions: Sequence[str], seed: str
    ) -> AsyncGenerator[Session]:
        """A session in a process of its own."""
        wanted = {**asdict(limits), "functions": list(functions), "seed": seed}
        argv = ["python", "-s", "-P", "-c", CHILD, json.dumps(wanted)]
        with tempfile.TemporaryDirectory(prefix="clew-code-") as empty:
            try:
                async with self._box(limits, empty).start(argv, variables=VARIABLES) as running:
                    session = _ProcessSession(running, limits, functions)
                    await session.begin()
                    yield session
            except SandboxError as error:
                raise ToolError(f"no program can be run here: {error}") from error

    def _box(self, limits: CodeLimits, empty: str) -> Sandbox:
        return Sandbox(
            root=str(Path(self.files or empty).resolve()),
            writable=False,
            readable=self.readable,
            protected=(),
            single_process=True,
            limits=SandboxLimits(memory=limits.memory, processes=THREADS, file=FILE),
            weak=self.weak,
        )


class _ProcessSession:
    """A conversation with the process: a line each way."""

    def __init__(
        self, running: RunningProgram, limits: CodeLimits, functions: Sequence[str]
    ) -> None:
        self._running, self._limits, self._functions = running, limits, frozenset(functions)
        self._input = running.input
        self._lines = BufferedByteReceiveStream(running.output)
        self._printed: list[str] = []
        self._worked = 0.0
        self._calls = 0
        self._lost = ""

    async def begin(self) -> None:
        """Wait until the process is there."""
        reached: ProgramState = ProgramFailed(
            f"the process of programs does not start within {START:g} s"
        )
        with anyio.move_on_after(START):
            reached = await self._send(b"")
        if isinstance(reached, ProgramFailed):
            raise SandboxError(reached.error)

    async def start(self, program: str) -> ProgramState:
        """Run a program."""
        self._worked, self._calls = 0.0, 0
        return await self._exchange({"program": program})

    async def resume(self, result: Returned | Raised) -> ProgramState:
        """Go on with the result of a call."""
        if isinstance(result, Returned):
            return await self._exchange({"value": result.value})
        return await self._exchange({"kind": result.kind, "text": result.text})

    def printed(self) -> str:
        """What was printed since the last call of this method."""
        text, self._printed = "".join(self._printed), []
        return text

    async def dump(self) -> bytes:
        """Nothing: a process cannot be put on record."""
        return b""

    async def load(self, state: bytes) -> bool:
        """Never."""
        return False

    async def _exchange(self, message: dict[str, Any]) -> ProgramState:
        """Send a message and return the answer; past the time limit, end the process."""
        if self._lost:
            return ProgramFailed(self._lost, lost=True)
        begun = time.monotonic()
        with anyio.move_on_after(self._limits.seconds + PATIENCE - self._worked):
            reached = await self._send(f"{json.dumps(message)}\n".encode())
            self._worked += time.monotonic() - begun
            return reached
        return await self._abort(f"the program took over {self._limits.seconds:g} s")

    async def _send(self, message: bytes) -> ProgramState:
        try:
            await self._input.send(message)
            line = await self._lines.receive_until(b"\n", LONGEST)
        except anyio.DelimiterNotFound:
            return await self._abort(f"the program said over {LONGEST:,} bytes at once")
        except GONE:
            return await self._process_ended()
        return await self._parsed(line)

    async def _parsed(self, line: bytes) -> ProgramState:
        """Decode a line. One that does not decode was written by the program itself."""
        try:
            message = _LINES.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            return await self._abort(f"the program wrote into the conversation ({error})")
        self._print(message.printed, left_out=message.left_out)
        if message.ask is None:
            return (
                Finished(message.value) if message.error is None else ProgramFailed(message.error)
            )
        if message.ask not in self._functions:
            return await self._abort(f"the program asked for {message.ask!r}: there is none")
        self._calls += 1
        if self._calls > self._limits.calls:
            return await self._abort(f"the program made over {self._limits.calls} calls")
        return PendingCall(message.ask, message.args, message.named)

    def _print(self, text: str, *, left_out: bool) -> None:
        room = self._limits.output - sum(map(len, self._printed))
        self._printed.append(text[: max(0, room)])
        if left_out and room > 0:
            self._printed.append("\n[… more was printed, and is not kept]\n")

    async def _process_ended(self) -> ProgramState:
        """The process has ended by itself: say why."""
        self._lost = f"the process of the program ended: {await self._running.why_it_ended()}"
        return ProgramFailed(self._lost, lost=True)

    async def _abort(self, why: str) -> ProgramState:
        self._lost = why
        self._running.process.kill()
        return ProgramFailed(why, lost=True)
