"""`/healthz`, `/readyz` and `/metrics` of a worker, which has no other server."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

import anyio
import anyio.abc

from clew.operations.figures import Tally, queue_figures
from clew.operations.prometheus import CONTENT_TYPE, exposition
from clew.stores.locks import SharedStore
from clew.support.errors import ConfigError, StoreError
from clew.workers.day_budget import is_spent

Answer: TypeAlias = tuple[int, str]
"""A status and a text."""

_HEAD: Final = 8_192
_PATIENCE: Final = 5.0
"""Seconds for a request to come, and for its answer to go."""

_AT_ONCE: Final = 32
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    503: "Service Unavailable",
}


def parse_address(text: str) -> tuple[str, int]:
    """The host and port of `PORT` or `HOST:PORT`. Raises `ConfigError`."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else "127.0.0.1"
    if not port.isascii() or not port.isdigit() or int(port) > 65_535 or not host:
        message = f"{text!r} is no address for the health of a worker: give PORT or HOST:PORT"
        raise ConfigError(message)
    return host, int(port)


class Health:
    """What is answered of a worker that serves `queue`."""

    def __init__(self, store: SharedStore, queue: str, tally: Tally, leaving: anyio.Event) -> None:
        self._store = store
        self._queue = queue
        self._tally = tally
        self._leaving = leaving

    async def answer(self, path: str) -> Answer:
        """What is told at a path."""
        answers: Mapping[str, Callable[[], Awaitable[Answer]]] = {
            "/healthz": self._live, "/readyz": self._ready, "/metrics": self._metrics,
        }  # fmt: skip
        if path not in answers:
            return 404, f"ask {', '.join(answers)}\n"
        try:
            return await answers[path]()
        except StoreError:
            return 503, "the store does not answer\n"

    async def _live(self) -> Answer:
        return 200, "ok\n"

    async def _ready(self) -> Answer:
        if self._leaving.is_set():
            return 503, "it leaves: no new run is taken up\n"
        if not self._tally.events["serving"]:
            return 503, "it does not serve yet\n"
        await self._store.runs(1)
        if await is_spent(self._store, self._queue):
            return 200, f"ok, but the queue {self._queue!r} has spent what it may today\n"
        return 200, "ok\n"

    async def _metrics(self) -> Answer:
        return 200, exposition([*await queue_figures(self._store), *self._tally.figures()])


async def serve_health(
    address: str, health: Health, *, task_status: anyio.abc.TaskStatus[int]
) -> None:
    """Answer at an address until cancelled: for `TaskGroup.start`, which gives the port.

    Raises `ConfigError` where it cannot listen.
    """
    host, port = parse_address(address)
    try:
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    except OSError as error:
        why = error.strerror or str(error)
        message = f"cannot listen at {address} for the health of a worker: {why}"
        raise ConfigError(message) from error
    room = anyio.CapacityLimiter(_AT_ONCE)

    async def handle(stream: anyio.abc.SocketStream) -> None:
        async with stream, room:
            with anyio.move_on_after(_PATIENCE):
                await _respond(stream, health)

    async with listener:
        bound: int = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - no Django
        task_status.started(bound)
        await listener.serve(handle)


async def _respond(stream: anyio.abc.SocketStream, health: Health) -> None:
    try:
        head = b""
        while b"\r\n\r\n" not in head and len(head) <= _HEAD:
            head += await stream.receive(_HEAD)
        status, text = await _answer(head, health)
        body = b"" if head.startswith(b"HEAD ") else text.encode()
        lines = (
            f"HTTP/1.1 {status} {_REASONS[status]}", f"content-type: {CONTENT_TYPE}",
            f"content-length: {len(text.encode())}", "cache-control: no-store",
            "connection: close", "", "",
        )  # fmt: skip
        await stream.send("\r\n".join(lines).encode() + body)
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # whoever asked has gone


async def _answer(head: bytes, health: Health) -> Answer:
    method, *rest = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if b"\r\n\r\n" not in head or len(rest) != 2:
        return 400, "this is no request\n"
    if method not in {"GET", "HEAD"}:
        return 405, "only GET is answered\n"
    return await health.answer(rest[0].partition("?")[0])
