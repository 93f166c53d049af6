"""Readers of live events that cost little: what is measured is the server, not they."""

import asyncio
import re
import socket
import time
from collections.abc import Callable
from typing import Final

from benchmarks.viewers.server import Server

ENTRY: Final = re.compile(rb"id: (\d+)[^\n]*\nevent: Entry\n")
_TAIL: Final = 200
"""So many bytes may hold the head of an event that has not come as a whole."""
_SMALL: Final = 65_536

OnEntry = Callable[[int, float], None]
"""Is told the number of an entry, and when it came (`time.perf_counter`)."""


class EntryReader(asyncio.Protocol):
    """Reads the events of a run over a connection of its own."""

    def __init__(self, request: bytes, on_entry: OnEntry) -> None:
        self._request, self._on_entry = request, on_entry
        self._tail = b""
        self.closed = asyncio.get_running_loop().create_future()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Look for heads of events; JSON has no line of its own that could be one."""
        at = time.perf_counter()
        text, end = self._tail + data, 0
        for match in ENTRY.finditer(text):
            end = match.end()
            self._on_entry(int(match[1]), at)
        self._tail = text[max(end, len(text) - _TAIL) :]

    def connection_lost(self, exc: Exception | None) -> None:
        """The server ended, or this one closed."""
        if not self.closed.done():
            self.closed.set_result(exc)

    def close(self) -> None:
        """Leave."""
        if self.transport is not None:
            self.transport.abort()


def request(server: Server, run_id: str, after: str = "") -> bytes:
    """The request for the events of a run."""
    host, port = server.address
    last = f"last-event-id: {after}\r\n" if after else ""
    return (
        f"GET /api/runs/{run_id}/events HTTP/1.1\r\nhost: {host}:{port}\r\n"
        f"authorization: Bearer {server.token}\r\n{last}connection: close\r\n\r\n"
    ).encode()


async def reading(server: Server, run_id: str, on_entry: OnEntry, after: str = "") -> EntryReader:
    """A reader that has begun."""
    host, port = server.address
    loop = asyncio.get_running_loop()
    asked = request(server, run_id, after)
    _, reader = await loop.create_connection(lambda: EntryReader(asked, on_entry), host, port)
    return reader


def slow_socket(server: Server, run_id: str) -> socket.socket:
    """A connection that asks, has room for little, and is not read."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
    made.connect(server.address)
    made.sendall(request(server, run_id))
    return made


def rest_of(slow: socket.socket) -> list[int]:
    """The numbers of the entries that come to a connection that was not read, until it ends."""
    text = bytearray()
    while data := slow.recv(1_000_000):
        text += data
    return [int(match[1]) for match in ENTRY.finditer(text)]
