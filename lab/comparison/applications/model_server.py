"""A fake model behind OpenAI's Chat Completions: what it replies follows from the conversation.

It keeps nothing between requests, so a program that was killed and started again meets the same
model. The last word of the person chooses the situation (`_calls`).
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

from comparison.applications.wire import Body, Call, chunks, full

WORDS: Final = "Your bell was sent on Monday and will come on Friday"
PATIENCE: Final = 300.0
CITIES: Final = ("Vienna", "Berlin", "Paris", "Rome", "Madrid")
USED: Final = 200
DEAR: Final = 10_000
"""Tokens of a request that the model says it read, and of one that asks for more and more."""


class ModelServer:
    """The server, as a context manager; `asked` has the bodies of all requests."""

    def __init__(self) -> None:
        self.asked: list[Body] = []
        self.closed = threading.Event()
        self.holds = ""
        """Words of a question: with results of its look-ups, it gets no reply."""
        self.refuses = ""
        """Words of a question that is refused as a bad request."""
        self.held = threading.Event()
        """Set once a request gets no reply."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"

    def wait(self) -> None:
        """Wait until a request gets no reply. Raises `TimeoutError` where none comes."""
        if not self.held.wait(PATIENCE):
            raise TimeoutError("nobody asked what gets no reply")

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
        worded: Call = ("refund", {"order": "A7", "amount": "thirty"})
        calls: list[list[Call] | None] = [[worded], [seven], None]
        return calls[min(results, 2)]
    if "more and more" in question:
        return [("look_up", {"city": f"Town {results + 1}"})]
    if results:
        return None
    if "both" in question:
        return [seven, ("refund", {"order": "B8", "amount": 40})]
    if "efund" in question:
        return [seven]
    if "capitals" in question:
        return [("look_up", {"city": city}) for city in CITIES]
    return None


def _answer(question: str) -> Body:
    return {"text": WORDS, "refunded": 30 if "efund" in question else 0}


def _report(question: str, body: Body) -> str:
    """The answer of a research; a false one until it is sent back."""
    replies = (_text(each) for each in body["messages"] if each["role"] == "assistant")
    if not any("million" in text for text in replies):
        if "Invent a source" in question:
            return "Atlantis has 9.0 million people [Atlantis]."
        if "Invent a figure" in question:
            return "Vienna has 5.0 million people [Vienna]."
    return "Vienna has 2.0 million people [Vienna]. Rome has 2.8 million people [Rome]."


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
    if "capitals" in question:
        return _report(question, body), []
    answer = _answer(question)
    if "final_result" in names:
        return "", [("final_result", answer)]
    return json.dumps(answer), []


def _known(message: Body) -> bool:
    return any(
        word in _text(message) for word in ("efund", "capitals", "more and more", "Explain", "Hang")
    )


def _says(body: Body, words: str) -> bool:
    """Whether these words occur in a conversation; none never do."""
    return bool(words) and any(words in _text(each) for each in body["messages"])


def _has_results(body: Body) -> bool:
    return any(each["role"] == "tool" for each in body["messages"])


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append(body)
            if _says(body, "Hang") or (_says(body, server.holds) and _has_results(body)):
                server.held.set()
                server.closed.wait()
                self.close_connection = True
                return
            if _says(body, server.refuses):
                self._begin("application/json", 400)
                self.wfile.write(b'{"error": {"message": "no", "code": "bad_request"}}')
                self.close_connection = True
                return
            text, calls = _reply(body)
            read = DEAR if _says(body, "more and more") else USED
            if body.get("stream"):
                slow = _says(body, "Explain")
                self._begin("text/event-stream")
                for chunk in chunks(body["model"], read, text, calls, slow=slow):
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                    self.wfile.flush()
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True
            else:
                self._begin("application/json")
                self.wfile.write(json.dumps(full(body["model"], read, text, calls)).encode())
                self.close_connection = True

        def _begin(self, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("connection", "close")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of the base class
            """Say nothing."""

    return Handler
