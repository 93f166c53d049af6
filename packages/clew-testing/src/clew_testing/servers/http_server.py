"""A server on 127.0.0.1 that answers as a script says, in the form of some provider's service.

The transport half of all the provider's servers in this package. What one of them adds is a
`Service`: its paths, what it refuses, and how a `Say` becomes a body or the events of a stream.
One script can so drive every provider. Nothing beyond the standard library is needed.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self, cast
from urllib.parse import parse_qsl, unquote

from clew.testing import asks_for_plan, written_plan
from clew_testing.model_script import Cut, Delay, Drop, Fail, Say, Script, Send, Turn

__all__ = [
    "JSON",
    "LARGEST",
    "CompletionKind",
    "Cut",
    "Delay",
    "Drop",
    "Fail",
    "HttpServer",
    "ReceivedRequest",
    "Say",
    "Script",
    "Send",
    "Service",
    "Turn",
    "sse",
    "to_json",
]

LARGEST: Final = 1 << 26
"""The longest head of a request, in bytes."""

JSON: Final = {"content-type": "application/json"}


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as received: `body` is decoded (None if it is not JSON), `raw` is not.

    `path` is unquoted and without the query; header names are in lower case.
    """

    path: str
    headers: Mapping[str, str]
    body: Any
    raw: bytes
    method: str = "POST"
    query: Mapping[str, str] = field(default_factory=dict[str, str])


class CompletionKind(Protocol):
    """One kind of completion of a service: what it refuses, and how it writes replies."""

    def refuse(self, seen: ReceivedRequest) -> Fail | Send | None:
        """The error for a request that the real service would refuse."""
        ...

    def streams(self, seen: ReceivedRequest) -> bool:
        """Whether a stream was asked for."""
        ...

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        """The body of a plain reply."""
        ...

    def events(self, say: Say, seen: ReceivedRequest) -> Iterable[bytes]:
        """The events of a streamed reply, each with its own line ends."""
        ...


class Service(Protocol):
    """The server of one provider."""

    @property
    def root(self) -> str:
        """What follows the port in the address that clients are given, such as `/v1`."""
        ...

    @property
    def stream_type(self) -> str:
        """The content type of streams."""
        ...

    def find(self, seen: ReceivedRequest) -> CompletionKind | Send | Fail:
        """The form for the path; or another answer, which uses up no entry of the script."""
        ...

    def error(self, fail: Fail) -> bytes:
        """The body of an error."""
        ...


class HttpServer:
    """The server, as a context manager; it runs in a thread of its own, so any event loop will do.

    Args:
        service: Whose form it speaks.
        script: What to answer, one entry a request, plain or streamed, whichever was asked for.
            Requests that the service refuses use up none, nor do those for a plan
            (`clew.guards.Planned`), which are answered with the calls of the script.
        piece: The size in bytes of the pieces that a stream is sent in (0: one event each).
    """

    def __init__(self, service: Service, script: Script = (), *, piece: int = 0) -> None:
        turns: Iterator[Turn] = iter(()) if callable(script) else iter(script)
        listed: Iterable[Turn] = () if callable(script) else script
        self._plan = written_plan(_calls_of(listed) if isinstance(listed, Sequence) else ())
        self._next: Callable[[dict[str, Any]], Turn] = (
            script
            if callable(script)
            else lambda _: next(turns, Fail(400, "the script has no further entry"))
        )
        self._service = service
        self._piece = piece
        self.requests: list[ReceivedRequest] = []
        """All requests for thoughts, refused ones included."""
        self.plans: list[ReceivedRequest] = []
        """All requests for plans, which use up no entry of the script: its own calls are given."""
        self.connections = 0
        """How many connections were opened."""
        self.base_url = ""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._end is not None:
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        open_now: set[asyncio.Task[None]] = set()

        async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._connection(reader, writer))
            open_now.add(task)
            await asyncio.wait([task])
            open_now.discard(task)

        server = await asyncio.start_server(serve_one, "127.0.0.1", 0, limit=LARGEST)
        port = server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}{self._service.root}"
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away
        finally:
            writer.transport.abort()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection goes on."""
        seen, version = await _read(reader)
        form = self._service.find(seen)
        if isinstance(form, (Send, Fail)):
            await self._fixed(writer, form)
            return version == "HTTP/1.1"
        if asks_for_plan(seen.raw):
            self.plans.append(seen)
            await self._send(writer, form.refuse(seen) or Say(self._plan), form, seen)
            return True
        self.requests.append(seen)
        turn = form.refuse(seen) or self._next(seen.body)
        match turn:
            case Drop():
                return False
            case Cut(of=of, at=at):
                await self._send(writer, of, form, seen, at)
                return False
            case Delay(of=of, at=at):
                if of is not None:
                    await self._send(writer, of, form, seen, at)
                await asyncio.Event().wait()
                return False
            case _:
                await self._send(writer, turn, form, seen)
                return True

    async def _send(
        self,
        writer: asyncio.StreamWriter,
        turn: Say | Fail | Send,
        form: CompletionKind,
        seen: ReceivedRequest,
        at: int | None = None,
    ) -> None:
        """Send an answer, or the first `at` bytes of its body."""
        if not isinstance(turn, Say):
            await self._fixed(writer, turn, at)
        elif form.streams(seen):
            events = list(form.events(turn, seen))
            if self._piece or at is not None:
                data, size = b"".join(events)[:at], self._piece or 64
                events = [data[i : i + size] for i in range(0, len(data), size)]
            await _stream(writer, self._service.stream_type, events, ends=at is None)
        else:
            await _send_plain(writer, 200, form.full_body(turn, seen), JSON, at)

    async def _fixed(
        self, writer: asyncio.StreamWriter, turn: Fail | Send, at: int | None = None
    ) -> None:
        """Send what is the same in every form."""
        if isinstance(turn, Send):
            kind = {"content-type": turn.content_type}
            await _send_plain(writer, turn.status, turn.body, kind, at)
        else:
            body = self._service.error(turn)
            await _send_plain(writer, turn.status, body, JSON | dict(turn.headers), at)


def _calls_of(script: Iterable[Turn]) -> Iterator[tuple[str, str | None]]:
    """The calls of a script, in order, those of replies that are cut off or late too."""
    for turn in script:
        answer = turn.of if isinstance(turn, Cut | Delay) else turn
        if isinstance(answer, Say):
            yield from answer.calls


async def _read(reader: asyncio.StreamReader) -> tuple[ReceivedRequest, str]:
    """One request, and the version of HTTP it speaks."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, version = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    try:
        body: Any = json.loads(raw)
    except ValueError:
        body = None
    asked = dict(parse_qsl(query, keep_blank_values=True))
    return ReceivedRequest(unquote(path), headers, body, raw, method, asked), version


def object_of(value: Any) -> dict[str, Any] | None:
    """The value, if it is an object of JSON."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def array_of(value: Any) -> list[Any] | None:
    """The value, if it is a list of JSON."""
    return value if isinstance(value, list) else None  # pyright: ignore[reportUnknownVariableType] # mypy calls the cast that helps pyright redundant


def to_json(value: object) -> bytes:
    """The value as JSON, in one line."""
    return json.dumps(value, ensure_ascii=False).encode()


def sse(data: object, name: str = "") -> bytes:
    """One server-sent event: `data` as JSON, with the event's name where it has one."""
    line = b"event: " + name.encode() + b"\n" if name else b""
    return line + b"data: " + to_json(data) + b"\n\n"


async def _send_plain(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    at: int | None,
) -> None:
    lines = dict(headers) | {"content-length": str(len(body))}
    writer.write(_head(status, lines) + body[:at])
    await writer.drain()


async def _stream(
    writer: asyncio.StreamWriter, kind: str, pieces: Iterable[bytes], *, ends: bool
) -> None:
    writer.write(_head(200, {"content-type": kind, "transfer-encoding": "chunked"}))
    for piece in pieces:
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    if ends:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode("latin-1")
