"""Serve over stdin and stdout, for clients that start the server themselves."""

import os
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final, cast

import anyio
import anyio.to_thread
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from clew.concurrency.tasks import one_error

_CHUNK: Final = 65_536
_LONGEST: Final = 8 * 1024 * 1024
"""The most bytes of one message."""


async def serve_stdio(server: Server[Any], *, leaving: anyio.Event | None = None) -> None:
    """Serve one client until it closes stdin or `leaving` is set; runs then finish their step.

    While it serves, printed output goes to stderr, because stdout carries the protocol.
    """
    lines = _Lines(leaving or anyio.Event())
    stdin = cast("anyio.AsyncFile[str]", lines)  # the SDK only iterates over it
    with one_error():
        async with stdio_server(stdin=stdin) as (read, write):
            await server.run(read, write, server.create_initialization_options())


class _Lines:
    """The lines of stdin. Unlike with `sys.stdin`, waiting for a line can be cancelled."""

    def __init__(self, leaving: anyio.Event) -> None:
        self._leaving = leaving

    async def __aiter__(self) -> AsyncIterator[str]:
        buffer = bytearray()
        while chunk := await self._chunk():
            buffer += chunk
            if b"\n" not in chunk and len(buffer) <= _LONGEST:
                continue
            *complete, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest if len(rest) <= _LONGEST else b"")
            for line in complete:
                if line.strip():
                    yield line.decode("utf-8", "replace")
        if buffer.strip() and not self._leaving.is_set():
            yield buffer.decode("utf-8", "replace")

    async def _chunk(self) -> bytes:
        """The next bytes; empty at the end of stdin, and when `leaving` is set."""
        chunk = b""

        async def read() -> None:
            nonlocal chunk
            chunk = await anyio.to_thread.run_sync(
                partial(os.read, 0, _CHUNK), abandon_on_cancel=True
            )
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await self._leaving.wait()
            group.cancel_scope.cancel()
        return chunk
