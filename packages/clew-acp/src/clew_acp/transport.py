"""JSON-RPC messages as lines of stdin and stdout; what is none is answered with an error.

The SDK logs a line that it cannot read and says nothing, so a client would wait for ever.
"""

import asyncio
import json
import logging
import math
import os
import stat
import sys
from typing import Any, Final, cast

from acp import schema, stdio_streams

from clew import ConfigError
from clew_acp.safe_text import quoted

LONGEST: Final = 64 * 1024 * 1024
"""The most bytes of a message: a longer line is passed over, and answered with an error."""

LOG: Final = logging.getLogger("clew")

_NOTIFICATIONS: Final = {"session/cancel": schema.CancelNotification}
_ADVICE: Final = (
    "an editor starts this, with pipes as stdin and stdout: name it in its configuration"
)
_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600


class LineTransport:
    """A stream of messages, a line each, in the form that the SDK's connection takes."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, longest: int = LONGEST
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._longest = longest
        self._sending = asyncio.Lock()
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Take no more messages: it is as if the client had left."""
        self._leaving.set()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. Raises `ConnectionError` where nobody reads any more."""
        line = json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n"
        async with self._sending:
            self._writer.write(line)
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end. What is no message is answered here."""
        while (line := await self._line_unless_leaving()) is not None:
            if not line.strip():
                continue
            try:
                message = json.loads(line.decode(), parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as error:
                await self._refuse(_PARSE_ERROR, f"Parse error: {error}"[:200])
                continue
            if problem := problem_of(message):
                await self._refuse(_INVALID_REQUEST, f"Invalid request: {problem}", message)
                continue
            if problem := misfit_of(message):  # which nobody may answer
                LOG.warning("a notification was passed over: %s", problem)
                continue
            return without_meta(message)
        return None

    async def close(self) -> None:
        """Write nothing more."""
        self._writer.close()

    async def _line_unless_leaving(self) -> bytes | None:
        """The next line; None at the end, and once this side is to leave."""
        line = asyncio.ensure_future(self._line())
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait({line, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return None if leaving.done() else await line
        finally:
            line.cancel()
            leaving.cancel()

    async def _line(self) -> bytes | None:
        """The next line; None at the end."""
        parts: list[bytes] = []
        size = 0
        while True:
            try:
                part = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                part = await self._reader.readexactly(error.consumed)
            except asyncio.IncompleteReadError as error:
                if not (part := error.partial) and not size:
                    return None
                part += b"\n"
            size += len(part)
            parts = [*parts, part] if size <= self._longest else []
            if part.endswith(b"\n"):
                if size <= self._longest:
                    return b"".join(parts)
                await self._refuse(_PARSE_ERROR, f"Parse error: over {self._longest:,} bytes")
                parts, size = [], 0

    async def _refuse(self, code: int, why: str, message: object = None) -> None:
        """Answer what is no request with an error, and with its id where it has one."""
        number = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
        known = number if is_id(number) else None
        await self.send({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": why}})


def is_id(value: object) -> bool:
    """Whether a value may be the id of a request: it is sent back, as JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def _refuse_constant(name: str) -> None:
    """Raise `ValueError` for NaN and Infinity, which Python would read."""
    raise ValueError(f"{name} is no JSON")


def problem_of(message: object) -> str:
    """Why a value is no message of JSON-RPC 2.0; "" where it is one."""
    if not isinstance(message, dict):
        return "a message is an object; lists of them are not taken"
    fields = cast("dict[str, Any]", message)
    if fields.get("jsonrpc") != "2.0":
        return 'it lacks "jsonrpc": "2.0"'
    if fields.get("id") is not None and not is_id(fields["id"]):
        return "its id is neither a text nor a number"
    if "method" not in fields:
        return "" if "id" in fields and {"result", "error"} & fields.keys() else "it has no method"
    if not isinstance(fields["method"], str):
        return "its method is no text"
    return "" if isinstance(fields.get("params", {}), dict | None) else "its params are no object"


def misfit_of(message: dict[str, Any]) -> str:
    """Why a notification cannot be taken; "" where it can, and for a request."""
    method = message.get("method")
    if "id" in message or method is None or method.startswith("_"):
        return ""
    if method not in _NOTIFICATIONS:
        return f"there is no method {quoted(method)}"
    try:
        _NOTIFICATIONS[method].model_validate(message.get("params"))
    except ValueError as error:
        return f"{method}: {' '.join(str(error).split())[:200]}"
    return ""


def without_meta(message: dict[str, Any]) -> dict[str, Any]:
    """A message without `_meta` of its params: the SDK would take its keys for arguments."""
    params = message.get("params")
    if not isinstance(params, dict) or "_meta" not in params:
        return message
    fields = cast("dict[str, Any]", params)
    return {**message, "params": {name: fields[name] for name in fields if name != "_meta"}}


def no_pipe(number: int) -> str:
    """Why a descriptor can have no client at its other end; "" where it can."""
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return "is closed"
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return ""
    return "is a terminal" if os.isatty(number) else "is no pipe"


async def own_stdio() -> LineTransport:
    """The messages of stdin and stdout, which from now on are out of reach of anybody else.

    What a tool prints, or a program that it starts, goes to stderr; whoever reads stdin finds its
    end. Raises `ConfigError` where stdin or stdout is no pipe: a terminal, a file, or closed.
    """
    for number, name in enumerate(("stdin", "stdout")):
        if problem := no_pipe(number):
            raise ConfigError(f"{name} {problem}; {_ADVICE}")
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    stdin, stdout = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = os.fdopen(reading, "r"), os.fdopen(writing, "w")
    try:
        reader, writer = await stdio_streams(limit=LONGEST)
    finally:
        sys.stdin, sys.stdout = stdin, stdout
    return LineTransport(reader, writer)
