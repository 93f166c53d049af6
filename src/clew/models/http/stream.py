"""The body of a streamed reply, as it arrives."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Protocol


class Incoming(Protocol):
    """A streamed reply, unread; `httpx2.Response` is one."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    async def aread(self) -> bytes: ...

    def aiter_bytes(self) -> AsyncGenerator[bytes, None]: ...

    async def aclose(self) -> None: ...


async def pieces_of(body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The pieces of a body, and a line's end after the last."""
    async with contextlib.aclosing(body) as pieces:
        async for piece in pieces:
            yield piece
    yield b"\n"


def mute(_: str) -> bool:
    """Show nothing of the text."""
    return False
