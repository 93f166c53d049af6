"""A server that clew starts as a process and talks to over its pipes.

The SDK has such a transport too. This one bounds the length of a message, keeps the last lines that
the server wrote to stderr, and says at once when the process has gone.
"""

import math
import signal
import subprocess
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from clew import ToolError
from clew.tools.run_process import environment, signal_group
from clew_mcp.frames import Message
from clew_mcp.lines import MAX_BYTES, Lines
from clew_mcp.outcomes import Broken
from clew_mcp.replies import Oddities, Replies
from clew_mcp.settings import McpServer, ServerEndpoint, printable

GRACE: Final = 2.0
"""Seconds that a server has to end after its stdin was closed, and again after SIGTERM."""

_AHEAD: Final = 64
"""Messages of the server that are read before the session has looked at them."""

_REAP: Final = 0.5
_LINES: Final = 2
_MAX_QUOTED_CHARS: Final = 500
_BESIDE: Final = ("USER", "LOGNAME", "SHELL", "TERM", "APPDATA", "TEMP", "USERPROFILE")

_SILENCE: Final = 1.0
"""Seconds after which a message that was begun, and is not complete, will not be completed."""

Pipe = TypeVar("Pipe", ByteReceiveStream, ByteSendStream)

Inbox = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbox = MemoryObjectSendStream[SessionMessage]
Incoming = MemoryObjectSendStream[SessionMessage | Exception]


class StdioServer:
    """The process of a server; `broken` is set with the reason once it can answer no more."""

    def __init__(self, server: McpServer, endpoint: ServerEndpoint, broken: Broken) -> None:
        self._server = server
        self._endpoint = endpoint
        self._broken = broken
        self._stderr_lines: deque[str] = deque(maxlen=_LINES)
        self._replies = Replies(Oddities(server.name))
        self._lines = Lines(self._replies)

    def last_words(self) -> str:
        """What the server wrote beside messages, for people: the last lines of stderr, and of
        stdout what is no message.
        """
        tail = printable(" / ".join(line for line in self._stderr_lines if line.strip()))[
            :_MAX_QUOTED_CHARS
        ]
        printed = printable(self._replies.no_message.decode(errors="replace"))[:_MAX_QUOTED_CHARS]
        told = (
            tail and f"it wrote: {tail}",
            printed and f"it printed, in place of messages: {printed}",
        )
        return "; ".join(filter(None, told))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[tuple[Inbox, Outbox]]:
        """Start the process. Raises `ToolError` where that fails; then nothing was done."""
        process = await self._started()
        to_session, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](_AHEAD)
        outbox, from_session = anyio.create_memory_object_stream[SessionMessage](_AHEAD)
        async with anyio.create_task_group() as group, inbox, outbox, to_session, from_session:
            group.start_soon(self._read, process, to_session)
            group.start_soon(self._write, process, from_session)
            group.start_soon(self._listen, process)
            try:
                yield inbox, outbox
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process, at_once=self._broken.event.is_set())
                group.cancel_scope.cancel()

    async def _started(self) -> Process:
        server = self._server
        started: list[Process] = []  # a scope may swallow what is raised in it, as checkers see it
        try:
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    [server.command, *self._endpoint.args],
                    cwd=server.cwd or None,
                    env={**environment(_BESIDE), **self._endpoint.env},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
                started.append(process)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise ToolError(f"it cannot be started ({why})") from error
        return started[0]

    async def _read(self, process: Process, to_session: Incoming) -> None:
        """Pass on each line of stdout; say why before the session hears that nothing comes."""
        async with to_session:
            why = f"it sent a message of more than {MAX_BYTES // 1_000_000} MB"
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                if await self._pass_lines(_pipe(process.stdout), to_session):
                    with anyio.move_on_after(_REAP):
                        await process.wait()
                    why = _how(process.returncode)
            self._broken.because(why)

    async def _pass_lines(
        self,
        output: ByteReceiveStream,
        to_session: Incoming,
    ) -> bool:
        """False where a message was too long."""
        ended = False
        while not ended and not self._lines.too_long:
            messages: list[Message] = []
            with anyio.move_on_after(_SILENCE if self._lines.is_open else math.inf) as patience:
                try:
                    messages = self._lines.feed(await output.receive())
                except anyio.EndOfStream:
                    ended = True
            if ended or patience.cancelled_caught:
                messages = self._lines.silence()
            for one in messages:
                await to_session.send(SessionMessage(one))
        return ended

    async def _write(
        self, process: Process, from_session: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        stdin = _pipe(process.stdin)
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for one in from_session:
                ready = [*_with_waiting(one, from_session)]
                for each in ready:
                    self._replies.sent(each.message)
                await stdin.send(b"".join(map(_line, ready)))
            return
        with anyio.move_on_after(_REAP):  # the input of one that has ended is closed, too
            await process.wait()
        gone = process.returncode is not None
        self._broken.because(_how(process.returncode) if gone else "it closed its input")

    async def _listen(self, process: Process) -> None:
        """Keep the last lines of stderr."""
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for chunk in _pipe(process.stderr):
                self._stderr_lines.extend(chunk.decode(errors="replace").splitlines())


def _pipe(pipe: Pipe | None) -> Pipe:
    if pipe is None:  # pragma: no cover - it was started with pipes
        raise ToolError("the server has no pipe")
    return pipe


def _with_waiting(
    first: SessionMessage, more: MemoryObjectReceiveStream[SessionMessage]
) -> Iterator[SessionMessage]:
    """A message, and those that wait behind it: they are written at once."""
    yield first
    with suppress(anyio.WouldBlock, anyio.EndOfStream):
        while True:
            yield more.receive_nowait()


def _line(one: SessionMessage) -> bytes:
    return one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _how(code: int | None) -> str:
    """How a server came to say nothing more."""
    if code is None:
        return "it closed its output"  # and lives on
    if code >= 0:
        return f"it ended with exit code {code}"
    with suppress(ValueError):
        return f"it ended by {signal.Signals(-code).name}"
    return f"it ended by signal {-code}"  # pragma: no cover - signals without a name


async def _end(process: Process, *, at_once: bool) -> None:
    """Close its stdin, and end what does not go then, with all that it started."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await _pipe(process.stdin).aclose()
    for hard in (True,) if at_once else (False, True):
        with anyio.move_on_after(0 if at_once else GRACE):
            await process.wait()
        if process.returncode is not None:
            break
        signal_group(process.pid, hard=hard)
    with suppress(OSError):  # Windows has no groups: the process is gone
        signal_group(process.pid, hard=True)  # what it left running in its group
    with anyio.move_on_after(GRACE):
        await process.aclose()
