"""The body of a streamed reply, as it arrives."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Protocol

import anyio

from clew.models.reply_size import REPLY_BYTES


class OversizeError(Exception):
    """A reply is longer than any may be."""


class Incoming(Protocol):
    """A streamed reply, unread; `httpx2.Response` is one."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self) -> AsyncGenerator[bytes, None]: ...

    async def aclose(self) -> None: ...


async def complete_body(incoming: Incoming) -> bytes:
    """All of a body, which is closed then. Raises `OversizeError`."""
    body = bytearray()
    try:
        async with contextlib.aclosing(incoming.aiter_bytes()) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > REPLY_BYTES:
                    raise OversizeError
    finally:
        with anyio.CancelScope(shield=True):
            await incoming.aclose()
    return bytes(body)


async def pieces_of(body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The pieces of a body, and a line's end after the last."""
    async with contextlib.aclosing(body) as pieces:
        async for piece in pieces:
            yield piece
    yield b"\n"
