"""Connections for many requests at once: each request has a lane, a pool of one connection.

A pool of httpx2 looks at all of its connections whenever a request begins or ends, and asks the
system about every idle one: 500 runs at once spend more CPU on that than on everything else. Taking
a free lane costs the same however many there are.
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final, cast

import anyio
import httpx2

IDLE: Final = 5.0
"""Seconds after which a connection that nobody used is closed; httpx2's own figure."""

MOST: Final = 1000
"""How many requests may be under way; further ones wait for one of them to end."""


@dataclass(slots=True)
class _Lane:
    transport: httpx2.AsyncBaseTransport
    since: float = 0.0


class _Stream(httpx2.AsyncByteStream):
    """A response's body; its lane is free once it is closed."""

    def __init__(
        self, body: httpx2.AsyncByteStream, lane: _Lane, free: Callable[[_Lane], None]
    ) -> None:
        self._body = body
        self._lane: _Lane | None = lane
        self._free = free

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        lane, self._lane = self._lane, None
        if lane is None:
            return
        try:
            await self._body.aclose()
        finally:
            self._free(lane)


class Lanes(httpx2.AsyncBaseTransport):
    """A transport for an `httpx2.AsyncClient`.

    `make` makes the transport of a lane, `idle` (s) and `most` are as above. The lane used last is
    taken first, so that those that are not needed get old and are closed.
    """

    def __init__(
        self,
        make: Callable[[], httpx2.AsyncBaseTransport],
        *,
        idle: float = IDLE,
        most: int = MOST,
    ) -> None:
        self._make = make
        self._idle = idle
        self._room = anyio.Semaphore(most, fast_acquire=True)
        self._lanes: dict[int, _Lane] = {}
        self._free: deque[_Lane] = deque()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await self._room.acquire()
        lane = self._free.pop() if self._free else self._open()
        try:
            await self._prune()
            response = await lane.transport.handle_async_request(request)
        except BaseException:
            self._release(lane)
            raise
        body = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = _Stream(body, lane, self._release)
        return response

    async def aclose(self) -> None:
        self._free.clear()
        lanes, self._lanes = self._lanes, {}
        for lane in lanes.values():
            await lane.transport.aclose()

    def _open(self) -> _Lane:
        lane = _Lane(self._make())
        self._lanes[id(lane)] = lane
        return lane

    def _release(self, lane: _Lane) -> None:
        self._room.release()
        if id(lane) in self._lanes:  # else all of them were closed meanwhile
            lane.since = time.monotonic()
            self._free.append(lane)

    async def _prune(self) -> None:
        """Close what has been idle for too long."""
        while self._free and time.monotonic() - self._free[0].since > self._idle:
            lane = self._free.popleft()
            del self._lanes[id(lane)]
            await lane.transport.aclose()
