"""The messages in what a server sends over HTTP: the body of a response, or a stream of events.

The SDK reads them to the letter. What is not is put in order here, before the SDK sees it.
"""

import re
import zlib
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

import anyio
import httpx2
import mcp_types as types
import msgspec
from typing_extensions import override

from clew_mcp.frames import Message, Number, exact, number_of
from clew_mcp.replies import Oddities, Replies, is_answer

MAX_BYTES: Final = 32_000_000
"""The longest answer, and the longest event of a stream, that a server may send."""

JSON: Final = "application/json"
STREAM: Final = "text/event-stream"
OF_THE_BODY: Final = ("content-encoding", "content-length", "transfer-encoding", "content-type")
"""Headers that speak of a body as it was sent."""

_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})

_BREAK: Final = re.compile(rb"\r\n|\n|\r")
_FIELDS: Final = frozenset({b"data", b"event", b"id", b"retry"})
_LAST: Final = "last-event-id"


class TooLong(httpx2.StreamError):
    """An answer is longer than may be kept in memory."""


class _BoundedStream(httpx2.AsyncByteStream):
    """The body of a response; one that is too long ends with an error after `MAX_BYTES`."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, packed: bool) -> None:
        self._inner = inner
        self._packed = packed

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, expander = 0, zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip, or zlib's own
        async for sent in self._inner:
            try:
                piece = expander.decompress(sent, MAX_BYTES + 1) if self._packed else sent
            except zlib.error as error:
                message = f"the answer cannot be decompressed ({error})"
                raise httpx2.StreamError(message) from error
            size += len(piece)
            if size > MAX_BYTES:
                message = f"the answer is longer than {MAX_BYTES // 1_000_000} MB"
                raise TooLong(message)
            yield piece

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


async def complete_body(response: httpx2.Response) -> bytes:
    """The body of a response. Raises `TooLong`, and what a broken connection raises."""
    bound(response)
    try:
        return await response.aread()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await response.aclose()
        raise


def bound(response: httpx2.Response) -> None:
    """Let a body that is too long end with an error."""
    packed = response.headers.get("content-encoding", "").strip().lower() in _PACKED
    if packed:  # decompressed here, since a small body may hold gigabytes
        del response.headers["content-encoding"]
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedStream(response.stream, packed=packed)


def asked(request: httpx2.Request) -> Number | None:
    """The id of the request of JSON-RPC in a request; None where it asks for nothing."""
    with suppress(msgspec.DecodeError):
        message = msgspec.json.decode(request.content, type=dict[str, Any])
        return number_of(message.get("id")) if "method" in message else None
    return None  # pragma: no cover - the SDK sends JSON


class _Waits:
    """A request that waits for its response; `kept` while that is still being read."""

    def __init__(self, number: Number | None) -> None:
        self.number = number
        self.kept = False


class Bodies:
    """Puts the responses of one server in order."""

    def __init__(self, server: str) -> None:
        self._oddities = Oddities(server)
        self._open = Replies(self._oddities)
        self._events: dict[str, Number] = {}

    @contextmanager
    def waiting(self, number: Number | None) -> Generator[_Waits]:
        """While a request is made."""
        waits = _Waits(number)
        if number is not None:
            self._open.sent(types.JSONRPCRequest(jsonrpc="2.0", id=number, method=""))
        try:
            yield waits
        finally:
            if number is not None and not waits.kept:
                self._open.forget(number)

    async def read(
        self, request: httpx2.Request, response: httpx2.Response, waits: _Waits
    ) -> httpx2.Response:
        """A response with what it says to the letter. Raises what a broken connection raises."""
        kind = response.headers.get("content-type", "").lower()
        if not kind.startswith(STREAM):
            return await self._body(response, kind, waits.number)
        if request.method == "GET":
            number = self._events.get(request.headers.get(_LAST, ""))
        elif (number := waits.number) is None:
            return response
        waits.kept = True
        replies = self._open if number is None else Replies(self._oddities, number)
        return _with(response, STREAM, _Events(response, replies, self._seen(number)))

    def _seen(self, number: Number | None) -> "_Seen":
        return _Seen(self._open, self._events, number)

    async def _body(
        self, response: httpx2.Response, kind: str, number: Number | None
    ) -> httpx2.Response:
        """A response whose body is one message, or several."""
        if number is None or not response.is_success:
            bound(response)
            return response
        body = await complete_body(response)
        replies = Replies(self._oddities, number)
        is_json = kind.startswith(JSON)
        if not is_json and exact(body.strip()) is None:
            return _with(response, kind, body)
        messages = replies.read(body)
        if not is_json:
            self._oddities.tell([f"an answer is sent as {kind or 'nothing in particular'}"])
        if replies.waits:
            text = body.decode(errors="replace").strip()
            messages += replies.end(number, text or "(nothing)")
        if len(messages) == 1:
            return _with(response, JSON, _line(messages[0]), status=200)
        messages.sort(key=is_answer)  # the SDK reads no further than the answer
        events = b"".join(b"data: %s\n\n" % _line(each) for each in messages)
        return _with(response, STREAM, events, status=200)


class _Seen(NamedTuple):
    """What is noted of a stream while it is read, for the one that continues it."""

    open: Replies
    events: dict[str, Number]
    number: Number | None

    def event(self, name: str) -> None:
        """An event with an id: the stream may be asked to go on from there."""
        if self.number is not None:
            self.events.pop(self._last(), None)
            self.events[name] = self.number

    def end(self, *, answered: bool) -> None:
        """The stream is closed."""
        if self.number is not None:
            self.open.forget(self.number)
            if answered:
                self.events.pop(self._last(), None)

    def _last(self) -> str:
        return next((name for name, one in self.events.items() if one == self.number), "")


class _Events(httpx2.AsyncByteStream):
    """A stream of events whose messages are put in order."""

    def __init__(self, response: httpx2.Response, replies: Replies, seen: _Seen) -> None:
        self._response = response
        self._replies = replies
        self._seen = seen

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        event: list[bytes] = []
        size = 0
        async for line in _lines(self._response.aiter_bytes()):
            event.append(line)
            size += len(line)
            if not line or size > MAX_BYTES:  # the SDK ends one that is too long
                yield self._read(event) if not line else b"\n".join(event)
                event, size = [], 0
        messages = [*map(_value, _of(event, b"data"))]
        if messages and exact(b"\n".join(messages)) is not None:
            yield self._read(event)

    @override
    async def aclose(self) -> None:
        self._seen.end(answered=not self._replies.waits)
        await self._response.aclose()

    def _read(self, event: list[bytes]) -> bytes:
        """An event with its messages to the letter, an event each."""
        kept = [*_of(event, b"id"), *_of(event, b"retry")]
        for each in _of(event, b"id"):
            self._seen.event(_value(each).decode(errors="replace"))
        data = b"\n".join(map(_value, _of(event, b"data")))
        kinds = [*map(_value, _of(event, b"event"))]
        odd: list[str] = []
        if not data or (kinds and kinds[-1] not in {b"", b"message"} and exact(data) is None):
            return b"\n".join([*event, b""])
        if kinds and kinds[-1] not in {b"", b"message"}:
            odd.append("a message is in an event of another name")
        loose = [line for line in event if line.partition(b":")[0] not in {b"", *_FIELDS}]
        if loose and exact(data) is None:
            data = b"\n".join(_loose(line) for line in event)
            odd.append("lines of a message lack the field data")
        messages = self._replies.mend(data, odd) if odd else self._replies.read(data)
        ends: list[Sequence[bytes]] = [[b"data: " + _line(each), b"", b""] for each in messages]
        lines = [b"" if not kept else b"\n".join(kept), *(b"\n".join(end) for end in ends)]
        return b"\n".join(filter(None, lines)) if messages else b"\n".join([*kept, b"", b""])


def _of(event: Sequence[bytes], field: bytes) -> Iterator[bytes]:
    """The lines of a field in an event."""
    return (line for line in event if line.partition(b":")[0] == field)


def _value(line: bytes) -> bytes:
    return line.partition(b":")[2].removeprefix(b" ")


def _loose(line: bytes) -> bytes:
    """What a line adds to a message, be it marked as its data or not."""
    field = line.partition(b":")[0]
    if field == b"data":
        return _value(line)
    return b"" if field in {b"", *_FIELDS} else line


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream, however they are ended; one that is too long is cut."""
    pieces: list[bytes] = []
    size, held = 0, b""
    async for each in chunks:
        chunk = held + each
        held = b"\r" if chunk.endswith(b"\r") else b""  # the rest of its line break may follow
        head, *lines = _BREAK.split(chunk.removesuffix(held))
        pieces.append(head)
        size += len(head)
        for line in lines:
            yield b"".join(pieces)
            pieces, size = [line], len(line)
        if size > MAX_BYTES:
            yield b"".join(pieces)
            pieces, size = [], 0
    if rest := b"".join(pieces):
        yield rest


def _line(message: Message) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _with(
    response: httpx2.Response,
    kind: str,
    body: bytes | httpx2.AsyncByteStream,
    status: int | None = None,
) -> httpx2.Response:
    """A response with another body."""
    headers = [(name, it) for name, it in response.headers.items() if name not in OF_THE_BODY]
    made: dict[str, Any] = {"content" if isinstance(body, bytes) else "stream": body}
    return httpx2.Response(
        status or response.status_code,
        headers=[*headers, ("content-type", kind)],
        extensions=response.extensions,
        **made,
    )
