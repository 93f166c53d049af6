"""A local server of Chat Completions that follows the script in the user's message.

Plain replies and event streams, word by word; `/wait/200/v1` as base address lets each reply take
200 ms. Nothing is kept between requests. It listens on a free port and prints it.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import msgspec
import uvicorn

from benchmarks.script import Script, checksum, parse, proof_in, thought

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]

WAIT: Final = re.compile(r"^/wait/(\d+)/")
PIECE: Final = 8
"""Characters of a call's arguments in one event of a stream."""


class Said(msgspec.Struct):
    """A message of the request, as far as the script needs it."""

    role: str
    content: str | None = None


class Options(msgspec.Struct):
    """What a stream is asked to bring."""

    include_usage: bool = False


class Request(msgspec.Struct):
    """A request, as far as the script needs it; `tools` is only checked for being there."""

    messages: list[Said]
    model: str
    tools: list[msgspec.Raw]
    stream: bool = False
    stream_options: Options | None = None


decoder = msgspec.json.Decoder(Request)
encode = msgspec.json.encode


def follow(request: Request) -> Message:
    """The message that comes next."""
    goal = next(said.content for said in reversed(request.messages) if said.role == "user")
    script: Script = parse(goal or "")
    seen = [said.content or "" for said in request.messages if said.role == "tool"]
    step = len(seen) // script.calls
    if step >= script.steps:
        return {"role": "assistant", "content": checksum(map(proof_in, seen))}
    calls = [
        {
            "id": f"call_{step}_{place}",
            "type": "function",
            "function": {"name": "lookup", "arguments": encode({"key": key}).decode()},
        }
        for place, key in enumerate(script.keys(step))
    ]
    return {"role": "assistant", "content": thought(step, script), "tool_calls": calls}


def usage(body: bytes, message: Message) -> Message:
    """Four bytes to a token."""
    read, written = len(body) // 4, len(encode(message)) // 4
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def whole(request: Request, body: bytes, message: Message) -> bytes:
    """The body of a plain reply."""
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return encode(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": request.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage(body, message),
        }
    )


def deltas(message: Message) -> Iterator[Message]:
    """The pieces in which a message is streamed."""
    yield {"role": "assistant", "content": ""}
    for word in re.findall(r"\S+\s*", message["content"]):
        yield {"content": word}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        empty = {"name": function["name"], "arguments": ""}
        yield {"tool_calls": [call | {"index": index, "function": empty}]}
        text = function["arguments"]
        for start in range(0, len(text), PIECE):
            piece = {"arguments": text[start : start + PIECE]}
            yield {"tool_calls": [{"index": index, "function": piece}]}


def events(request: Request, body: bytes, message: Message) -> Iterator[bytes]:
    """The events of a streamed reply."""
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": request.model,
    }

    def event(choices: list[Message], **more: Any) -> bytes:
        return b"data: " + encode(chunk | {"choices": choices} | more) + b"\n\n"

    for delta in deltas(message):
        yield event([{"index": 0, "delta": delta, "finish_reason": None}])
    reason = "tool_calls" if "tool_calls" in message else "stop"
    yield event([{"index": 0, "delta": {}, "finish_reason": reason}])
    if request.stream_options is not None and request.stream_options.include_usage:
        yield event([], usage=usage(body, message))
    yield b"data: [DONE]\n\n"


async def read(receive: Receive) -> bytes:
    """The whole body of a request."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


async def app(scope: Message, receive: Receive, send: Send) -> None:
    """Answer any path."""
    body = await read(receive)
    try:
        request = decoder.decode(body)
        message = follow(request)
    except (msgspec.DecodeError, ValueError, StopIteration) as error:
        text = encode({"error": {"message": str(error), "type": "invalid_request_error"}})
        await start(send, 400, b"application/json")
        await send({"type": "http.response.body", "body": text})
        return
    if (wait := WAIT.match(scope["path"])) is not None:
        await asyncio.sleep(int(wait[1]) / 1000)
    if not request.stream:
        await start(send, 200, b"application/json")
        await send({"type": "http.response.body", "body": whole(request, body, message)})
        return
    await start(send, 200, b"text/event-stream")
    for event in events(request, body, message):
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def start(send: Send, status: int, kind: bytes) -> None:
    """Send the head of a response."""
    headers = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": status, "headers": headers})


def serve() -> None:
    """Listen on a free port of this machine until told to end."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", timeout_keep_alive=120
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    serve()
