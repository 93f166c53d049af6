"""A local server that follows the script in the user's message, in the format that its path names.

Plain replies and event streams, word by word; `/wait/200/v1` as base address lets each reply take
200 ms. Nothing is kept between requests. It listens on a free port and prints it.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import uvicorn

from benchmarks.formats import format_at
from benchmarks.formats.shapes import Asked, Call, Message, NextReply, encode
from benchmarks.script import Script, checksum, parse, proof_in, thought

Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]

WAIT: Final = re.compile(r"^/wait/(\d+)/")


def follow(asked: Asked) -> NextReply:
    """What comes next."""
    script: Script = parse(asked.goal)
    step = len(asked.seen) // script.calls
    if step >= script.steps:
        return NextReply(checksum(map(proof_in, asked.seen)))
    calls = [Call(f"call_{step}_{index}", key) for index, key in enumerate(script.keys(step))]
    return NextReply(thought(step, script), calls)


async def read(receive: Receive) -> bytes:
    """The whole body of a request."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


async def app(scope: Message, receive: Receive, send: Send) -> None:
    """Answer a request."""
    body, path = await read(receive), scope["path"]
    try:
        form = format_at(path)
        asked = form.asked(body, path)
        reply = follow(asked)
    except (msgspec.DecodeError, LookupError, ValueError, StopIteration) as error:
        text = encode({"error": {"message": str(error), "type": "invalid_request_error"}})
        await start(send, 400, b"application/json")
        await send({"type": "http.response.body", "body": text})
        return
    if (wait := WAIT.match(path)) is not None:
        await asyncio.sleep(int(wait[1]) / 1000)
    if not asked.stream:
        await start(send, 200, b"application/json")
        await send({"type": "http.response.body", "body": form.full_body(asked, reply)})
        return
    await start(send, 200, b"text/event-stream")
    for event in form.events(asked, reply):
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def start(send: Send, status: int, kind: bytes) -> None:
    """Send the head of a response."""
    headers = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": status, "headers": headers})


def serve() -> None:
    """Listen on a free port of this machine until told to end."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # its connections inherit it
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", timeout_keep_alive=120
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    serve()
