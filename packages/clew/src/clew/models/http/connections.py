"""Connections for many requests at once: each request has a lane, a connection of its own.

A pool of httpx2 looks at all of its connections whenever a request begins or ends, and asks the
system about every idle one: 500 runs at once spend more CPU on that than on everything else. Taking
a free lane costs the same however many there are.
"""

import math
import zlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Any, Final, TypeAlias, cast

import anyio
import httpcore2
import httpx2

REFUSAL_BYTES: Final = 64_000
"""The most that is read of a refusal's body; what follows is dropped with its connection."""

REFUSED: Final = 400
"""The first status of a refusal."""

MAX_CONNECTIONS: Final = 1000
"""How many requests may be under way; further ones wait for one of them to end."""

Lane: TypeAlias = httpcore2.AsyncConnectionInterface

Headers: TypeAlias = list[tuple[bytes, bytes]]


class _Body(httpx2.AsyncByteStream):
    """A response's body; its lane is free once it is closed."""

    def __init__(
        self, body: Any, lane: Lane, free: Callable[[Lane], Awaitable[None]], *, refusal: bool
    ) -> None:
        self._body = body
        self._max_bytes = REFUSAL_BYTES if refusal else math.inf
        self._lane: Lane | None = lane
        self._free = free
        self.packed = False
        """Whether it is to be decompressed here: a small refusal may hold gigabytes."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        expander = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip, or zlib's own
        with _translate_errors():
            read = 0
            async with aclosing(aiter(self._body)) as pieces:
                async for sent in pieces:
                    piece = sent
                    if self.packed:
                        with suppress(zlib.error):  # another compression, or none
                            piece = expander.decompress(sent, REFUSAL_BYTES + 1)
                    yield piece
                    read += len(piece)
                    if read > self._max_bytes:
                        break

    async def aclose(self) -> None:
        lane, self._lane = self._lane, None
        if lane is None:
            return
        try:
            with anyio.CancelScope(shield=True):
                await self._body.aclose()
        finally:
            await self._free(lane)


def _unpacked(headers: Headers) -> Headers:
    """The headers of a refusal without those of its compression."""
    return [(name, text) for name, text in headers if name.lower() != b"content-encoding"]


class ConnectionPool(httpx2.AsyncBaseTransport):
    """A transport for an `httpx2.AsyncClient`.

    `connect` makes a lane to a server, without connecting it yet; at most `max_connections` are in
    use. The lane used last is taken first, so that those that are not needed get old and are
    closed.
    """

    def __init__(
        self, connect: Callable[[httpcore2.Origin], Lane], *, max_connections: int = MAX_CONNECTIONS
    ) -> None:
        self._connect = connect
        self._room = anyio.Semaphore(max_connections, fast_acquire=True)
        self._lanes: set[Lane] = set()
        self._free: deque[Lane] = deque()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = _core_request(request)
        await self._room.acquire()
        lane = self._take(asked.url.origin)
        try:
            await self._prune()
            with _translate_errors():
                response: Any = await lane.handle_async_request(asked)
        except BaseException:
            await self._release(lane)
            raise
        refusal, headers = response.status >= REFUSED, response.headers
        kept = _unpacked(headers) if refusal else headers
        body = _Body(response.stream, lane, self._release, refusal=refusal)
        body.packed = len(kept) < len(headers)
        return httpx2.Response(
            response.status,
            headers=kept,
            stream=body,
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        self._free.clear()
        lanes, self._lanes = self._lanes, set()
        for lane in lanes:
            await lane.aclose()

    def _take(self, origin: httpcore2.Origin) -> Lane:
        """The lane used last; a new one where that has ended, or goes elsewhere (a redirect)."""
        if self._free:
            lane = self._free[-1]
            if lane.can_handle_request(origin) and not lane.has_expired():
                return self._free.pop()
        lane = self._connect(origin)
        self._lanes.add(lane)
        return lane

    async def _release(self, lane: Lane) -> None:
        self._room.release()
        if lane in self._lanes and not lane.is_closed():
            self._free.append(lane)
            return
        self._lanes.discard(lane)  # something went wrong, or all were closed meanwhile
        with anyio.CancelScope(shield=True):
            await lane.aclose()  # one that was only connecting then is open now

    async def _prune(self) -> None:
        """Close what has been idle for too long, or was closed at the other end."""
        while self._free and self._free[0].has_expired():
            lane = self._free.popleft()
            self._lanes.discard(lane)
            await lane.aclose()


def _core_request(request: httpx2.Request) -> httpcore2.Request:
    """A request in the terms of httpcore2, which knows no schemes but these."""
    url = request.url
    if url.scheme not in {"http", "https"}:
        raise httpx2.UnsupportedProtocol(f"it was sent on to {url.scheme}://", request=request)
    return httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=cast("httpx2.AsyncByteStream", request.stream),
        extensions=request.extensions,
    )


@contextmanager
def _translate_errors() -> Generator[None]:
    """Tell errors of httpcore2 as those of httpx2, which have the same names."""
    try:
        yield
    except (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.TimeoutException,
    ) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error
