"""A fake model behind OpenAI's Chat Completions: what it replies follows from the conversation.

It keeps nothing between requests, so a program that was killed and started again meets the same
model. The last word of the person chooses the situation (`_calls`).
"""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

PIECES: Final = 10
PAUSE: Final = 0.15
"""Seconds between the pieces of a slow answer."""
WORDS: Final = "Your bell was sent on Monday and will come on Friday"
CITIES: Final = ("Vienna", "Berlin", "Paris", "Rome", "Madrid")

Body = dict[str, Any]
Call = tuple[str, Body]


class ModelServer:
    """The server, as a context manager; `asked` has the bodies of all requests."""

    def __init__(self) -> None:
        self.asked: list[Body] = []
        self.closed = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()


def _text(message: Body) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(each["text"] for each in content)


def _calls(question: str, results: int) -> list[Call] | None:
    """The calls that a question leads to after so many results; None for an answer."""
    seven: Call = ("refund", {"order": "A7", "amount": 30})
    if "wrong" in question:
        return ([("refund", {"order": "A7", "amount": "thirty"})], [seven], None)[min(results, 2)]
    if results:
        return None
    if "both" in question:
        return [seven, ("refund", {"order": "B8", "amount": 40})]
    if "efund" in question:
        return [seven]
    if "capitals" in question:
        return [("look_up", {"place": city}) for city in CITIES]
    return None


def _answer(question: str) -> Body:
    if "capitals" in question:
        return {"text": "Vienna is the smallest of the five.", "sources": [*CITIES]}
    return {"text": WORDS, "refunded": 30 if "efund" in question else 0}


def _reply(body: Body) -> tuple[str, list[Call]]:
    """The text and the calls of a reply."""
    spoken = [at for at, each in enumerate(body["messages"]) if each["role"] == "user"]
    question = _text(body["messages"][spoken[-1]])
    question = next(
        (_text(body["messages"][at]) for at in reversed(spoken) if _known(body["messages"][at])),
        question,
    )
    results = sum(each["role"] == "tool" for each in body["messages"])
    calls = _calls(question, results)
    if calls:
        return "", calls
    names = [each["function"]["name"] for each in body.get("tools", ())]
    answer = _answer(question)
    if "final_result" in names:
        return "", [("final_result", answer)]
    return json.dumps(answer), []


def _known(message: Body) -> bool:
    return any(word in _text(message) for word in ("efund", "capitals", "Explain", "Hang"))


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append(body)
            if any("Hang" in _text(each) for each in body["messages"]):
                server.closed.wait()
                self.close_connection = True
                return
            text, calls = _reply(body)
            if body.get("stream"):
                slow = any("Explain" in _text(each) for each in body["messages"])
                self._begin("text/event-stream")
                for chunk in _chunks(text, calls, slow=slow):
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                    self.wfile.flush()
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True
            else:
                self._begin("application/json")
                self.wfile.write(json.dumps(_full(text, calls)).encode())
                self.close_connection = True

        def _begin(self, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("connection", "close")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of the base class
            """Say nothing."""

    return Handler


HEAD: Final = {"id": "c1", "created": 1_700_000_000, "model": "fake"}
USAGE: Final = {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}


def _described(calls: list[Call]) -> list[Body]:
    stamp = f"{time.monotonic_ns():x}"
    return [
        {
            "index": at, "id": f"call_{stamp}_{at}", "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for at, (name, args) in enumerate(calls)
    ]  # fmt: skip


def _full(text: str, calls: list[Call]) -> Body:
    message: Body = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = _described(calls)
    finish = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}


def _chunks(text: str, calls: list[Call], *, slow: bool) -> Iterator[Body]:
    def chunk(delta: Body, finish: str | None = None) -> Body:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**HEAD, "object": "chat.completion.chunk", "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for call in _described(calls):
        arguments = call["function"]["arguments"]
        size = -(-len(arguments) // (PIECES if slow else 1))
        named = {**call["function"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "function": named}]})
        for at in range(0, len(arguments), size):
            piece = {"arguments": arguments[at : at + size]}
            yield chunk({"tool_calls": [{"index": call["index"], "function": piece}]})
            time.sleep(PAUSE if slow else 0)
    size = -(-len(text) // (PIECES if slow else 1)) or 1
    for at in range(0, len(text), size):
        yield chunk({"content": text[at : at + size]})
        time.sleep(PAUSE if slow else 0)
    yield chunk({}, "tool_calls" if calls else "stop")
    yield {**chunk({}), "choices": [], "usage": USAGE}
