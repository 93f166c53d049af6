"""The requests of batch interfaces, over the official client of a model."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, Protocol

import anyio
import httpx2

LINE_BYTES: Final = 1 << 28
"""The longest line of results that is read; a reply of so many bytes is none."""


class Client(Protocol):
    """What a model is asked through: responses unread, but for `send`. Raises as a `Transport`."""

    async def send(self, path: str, content: bytes) -> bytes: ...

    async def get(self, path: str) -> httpx2.Response: ...

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, content: bytes
    ) -> httpx2.Response: ...


class BatchHttp:
    """Requests by their path after the address; whole bodies, or their lines."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, path: str) -> bytes:
        return await _read(await self._client.get(path))

    async def post(self, path: str, content: bytes = b"") -> bytes:
        return await self._client.send(path, content)

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, content: bytes
    ) -> bytes:
        return await _read(await self._client.upload(path, fields, name, content))

    async def lines(self, path: str) -> AsyncGenerator[bytes, None]:
        """The lines of a body that may be too long to be held, without empty ones."""
        response = await self._client.get(path)
        rest = b""
        try:
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    *complete, rest = (rest + piece).split(b"\n")
                    for line in filter(bytes.strip, complete):
                        yield line
                    if len(rest) > LINE_BYTES:
                        raise httpx2.ReadError("a line of results is longer than any may be")
            if rest.strip():
                yield rest
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


async def _read(response: httpx2.Response) -> bytes:
    try:
        return await response.aread()
    finally:
        with anyio.CancelScope(shield=True):
            await response.aclose()
