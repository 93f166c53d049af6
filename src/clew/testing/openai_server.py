"""A server on 127.0.0.1 that speaks Chat Completions, for tests with the real client in between.

It answers from a script, one entry a request, plain or as a stream, whichever was asked for:

    with OpenAIServer([Say("Looking it up.", calls=[("search", '{"query": "x"}')]),
                       Fail(429, headers={"retry-after": "0"}),
                       Say("It is 42.")]) as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key="any")
        ...
        assert server.requests[0].body["messages"][0]["role"] == "system"

Requests that the real service would refuse get status 400 in its own form and use up no entry of
the script (`openai_rules`). Nothing beyond the standard library is needed to run it.
"""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from clew.testing.openai_rules import Refused, check

CREATED: Final = 1_700_000_000
"""The time that all replies claim to be of."""


@dataclass(frozen=True)
class Say:
    """A reply: text, calls as (name, arguments' text or None for no such key), and how it ended.

    `usage` is sent as it is (None: counted by the server, {}: left out). `more` are further keys of
    the message (`reasoning_content` …).
    """

    text: str | None = ""
    calls: Sequence[tuple[str, str | None]] = ()
    finish: str | None = ""
    usage: Mapping[str, Any] | None = None
    refusal: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    model: str = ""

    @property
    def reason(self) -> str | None:
        """The finish reason: as given, else the one that fits."""
        return ("tool_calls" if self.calls else "stop") if self.finish == "" else self.finish


@dataclass(frozen=True)
class Fail:
    """An error in the service's own form."""

    status: int
    message: str = "scripted error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Send:
    """Bytes as they are, whatever was asked for. The end of the body ends the connection."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True)
class Cut:
    """The connection is lost after `at` bytes of the body of another entry (0: after the head)."""

    of: "Say | Fail | Send"
    at: int = 0


@dataclass(frozen=True)
class Drop:
    """The connection is lost before anything is answered."""


@dataclass(frozen=True)
class Stall:
    """No answer for as long as the server runs; `at` bytes of the body of `of` come before."""

    of: "Say | Send | None" = None
    at: int = 0


Turn: TypeAlias = Say | Fail | Send | Cut | Drop | Stall
Script: TypeAlias = Iterable[Turn] | Callable[[dict[str, Any]], Turn]


@dataclass(frozen=True)
class Seen:
    """A request as it came: `body` is decoded, `raw` is not; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any
    raw: bytes


class OpenAIServer:
    """The server, as a context manager; it runs in a thread of its own, so any event loop will do.

    Args:
        script: What to answer, in order; or a function from a request's body to the answer.
        key: Ask for this key, and answer 401 without it.
        models: Names at `/v1/models`; when given, others get 404.
        listing: What `/v1/models` answers instead of them.
        piece: The size in bytes of the pieces that a stream is sent in (0: one event each).
    """

    def __init__(
        self,
        script: Script = (),
        *,
        key: str = "",
        models: Sequence[str] = (),
        listing: Send | None = None,
        piece: int = 0,
    ) -> None:
        turns: Iterator[Turn] = iter(()) if callable(script) else iter(script)
        self._next: Callable[[dict[str, Any]], Turn] = (
            script
            if callable(script)
            else lambda _: next(turns, Fail(400, "the script has no further entry"))
        )
        self._key = key
        self._models = models
        self._listing = listing
        self._piece = piece
        self.requests: list[Seen] = []
        """All requests to `/chat/completions`, refused ones included."""
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

        server = await asyncio.start_server(serve_one, "127.0.0.1", 0, limit=1 << 26)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
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
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, path, version = first.split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        goes_on = version == "HTTP/1.1"
        if method == "GET" and path == "/v1/models":
            listed = [{"id": name, "object": "model"} for name in self._models]
            whole = Send(_json({"object": "list", "data": listed}))
            return await self._answer(writer, self._listing or whole, {}) and goes_on
        if (method, path) != ("POST", "/v1/chat/completions"):
            return await self._answer(writer, Fail(404, f"Invalid URL ({method} {path})"), {})
        try:
            body: Any = json.loads(raw)
        except ValueError:
            body = None
        self.requests.append(Seen(path, headers, body, raw))
        turn = self._refusal(headers, body) or self._next(body)
        return await self._answer(writer, turn, body or {})

    def _refusal(self, headers: Mapping[str, str], body: Any) -> Fail | None:
        if self._key and headers.get("authorization") != f"Bearer {self._key}":
            given = headers.get("authorization", "").removeprefix("Bearer ")
            return Fail(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
        try:
            check(body)
        except Refused as refused:
            return Fail(400, str(refused), None, refused.param)
        if self._models and body["model"] not in self._models:
            return Fail(
                404, f"The model '{body['model']}' does not exist.", "model_not_found", "model"
            )
        return None

    async def _answer(self, writer: asyncio.StreamWriter, turn: Turn, body: Any) -> bool:
        match turn:
            case Drop():
                return False
            case Cut(of=of, at=at):
                await self._send(writer, of, body, at)
                return False
            case Stall(of=of, at=at):
                if of is not None:
                    await self._send(writer, of, body, at)
                await asyncio.Event().wait()
                return False
            case _:
                return await self._send(writer, turn, body, None)

    async def _send(
        self, writer: asyncio.StreamWriter, turn: Say | Fail | Send, body: Any, at: int | None
    ) -> bool:
        """Send an answer, or the first `at` bytes of its body; whether the connection goes on."""
        match turn:
            case Say() if body.get("stream"):
                events = list(chunks(turn, body))
                if self._piece or at is not None:
                    data, size = b"".join(events)[:at], self._piece or 64
                    events = [data[i : i + size] for i in range(0, len(data), size)]
                await _stream(writer, events, ends=at is None)
            case Say():
                await _whole(writer, 200, _json(reply(turn, body)), at=at)
            case Fail():
                error = {
                    "message": turn.message,
                    "type": "invalid_request_error" if turn.status < 500 else "server_error",
                    "param": turn.param,
                    "code": turn.code,
                }
                await _whole(writer, turn.status, _json({"error": error}), turn.headers, at=at)
            case Send():
                kind = {"content-type": turn.content_type}
                await _whole(writer, turn.status, turn.body, kind, at=at)
        return at is None


def reply(say: Say, body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a plain reply."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text, "refusal": say.refusal}
    message |= say.more
    if say.calls:
        message["tool_calls"] = [_call(call, place) for place, call in enumerate(say.calls)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": say.reason}
    whole = _frame(say, body, "chat.completion") | {"choices": [choice]}
    return whole if say.usage == {} else whole | {"usage": _usage(say, body)}


def chunks(say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a streamed reply: role, words, calls in pieces, the end, usage, `[DONE]`."""
    frame = _frame(say, body, "chat.completion.chunk")

    def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return b"data: " + _json(frame | {"choices": [choice]}) + b"\n\n"

    yield event({"role": "assistant", "content": "", "refusal": None})
    for key, value in say.more.items():
        yield event({key: value})
    if say.refusal:
        yield event({"refusal": say.refusal})
    for word in re.findall(r"\S+\s*|\s+", say.text or ""):
        yield event({"content": word})
    for place, call in enumerate(say.calls):
        whole = _call(call, place)
        arguments: str | None = whole["function"].pop("arguments", None)
        if arguments is not None:
            whole["function"]["arguments"] = ""
        yield event({"tool_calls": [{"index": place, **whole}]})
        for piece in re.findall(r"(?s).{1,6}", arguments or ""):
            yield event({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield event({}, say.reason)
    options: dict[str, Any] = body.get("stream_options") or {}
    if options.get("include_usage") and say.usage != {}:
        none: list[Any] = []
        yield b"data: " + _json(frame | {"choices": none, "usage": _usage(say, body)}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _frame(say: Say, body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    model = say.model or body["model"]
    return {"id": "chatcmpl-scripted", "object": kind, "created": CREATED, "model": model}


def _call(call: tuple[str, str | None], place: int) -> dict[str, Any]:
    name, arguments = call
    function = {"name": name} | ({} if arguments is None else {"arguments": arguments})
    return {"id": f"call_{place}", "type": "function", "function": function}


def _usage(say: Say, body: Mapping[str, Any]) -> Mapping[str, Any]:
    if say.usage is not None:
        return say.usage
    read, written = len(_json(body["messages"])) // 4, len(say.text or "") // 4 + 1
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


async def _whole(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    *,
    at: int | None = None,
) -> None:
    lines = {"content-type": "application/json"} | dict(headers or {})
    lines["content-length"] = str(len(body))
    writer.write(_head(status, lines) + body[:at])
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, pieces: Iterable[bytes], *, ends: bool) -> None:
    lines = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}
    writer.write(_head(200, lines))
    for piece in pieces:
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    if ends:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode("latin-1")
