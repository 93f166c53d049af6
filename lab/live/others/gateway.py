"""The one address that the other systems talk to: the model behind it, and the tools.

It passes requests on to the same server that clew's runs use, counts what they took, and keeps the
replies so that failures can be read.
"""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

import anyio.from_thread
import msgspec

from clew import ToolError
from clew.core.contents import Observation, Usage
from clew.core.judging import Check
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.models.openai.chat_reply import read_usage
from clew.tools.schema import compile_schema

TIMEOUT: Final = 3_600.0
REFUSED: Final = 422
"""The status of a call that gave nothing, to a program that is to raise an exception for it."""


@dataclass
class Spent:
    """What a question took so far. `replies` are what the model wrote, in order."""

    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    replying: float = 0.0
    calls: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    errors: Counter[str] = field(default_factory=Counter[str])
    replies: list[Any] = field(default_factory=list[Any])


class Gateway:
    """Serves one question at a time; `portal` is where the tools run.

    A call that fails gives the text of what is wrong. With `raises` it is refused, with that text
    as the reason, so that the program of the other system raises an exception.
    """

    def __init__(
        self,
        address: str,
        key: str,
        portal: anyio.from_thread.BlockingPortal,
        *,
        raises: bool = False,
    ) -> None:
        self.model, self.key, self.portal = urlsplit(address), key, portal
        self.raises = raises
        self.spent = Spent()
        self._tools: dict[str, Tool] = {}
        self._checks: Sequence[Check] = ()
        self._title = ""
        self._seen = Counter[tuple[str, str]]()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def begin(self, tools: Sequence[Tool], checks: Sequence[Check] = ()) -> None:
        """Serve another question, with these tools and checks of its answer, from now on."""
        self._tools, self.spent = {tool.name: tool for tool in tools}, Spent()
        self._checks = checks
        self._title, self._seen = "", Counter()

    def close(self) -> None:
        """Serve nothing any longer."""
        self._server.shutdown()
        self._server.server_close()

    def complete(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Pass a request on to the model."""
        begun = time.perf_counter()
        there = http.client.HTTPConnection(
            self.model.hostname or "", self.model.port, timeout=TIMEOUT
        )
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        try:
            there.request("POST", path, body, head)
            results = there.getresponse()
            status, record = results.status, results.read()
        finally:
            there.close()
        self.spent.replying += time.perf_counter() - begun
        self._count(status, record)
        return status, record

    def _count(self, status: int, data: bytes) -> None:
        spent = self.spent
        spent.steps += 1
        try:
            reply: Any = json.loads(data)
        except ValueError:
            reply = {}
        if status != 200:
            spent.errors[f"HTTP {status}"] += 1
            spent.replies.append(data.decode("utf-8", "replace")[:2_000])
            return
        spent.usage += read_usage(reply.get("usage") or {}, 0, "")
        spent.replies.append(reply["choices"][0]["message"])

    def call(self, name: str, args: dict[str, Any]) -> str:
        """Call a tool of the question at hand. Raises `ToolError` where it gives nothing."""
        if (tool := self._tools.get(name)) is None:
            raise ToolError(f"there is no tool {name}: there are {', '.join(self._tools)}")
        if wrong := compile_schema(tool.parameters)(args):
            self.spent.refused[name] += 1
            raise ToolError("; ".join(wrong))
        self.spent.calls[name] += 1
        try:
            called = self.portal.call(tool.call, self._placed(name, args), "others")
        except Exception as error:  # whatever a tool raises is told, as in clew
            raise ToolError(str(error)) from error
        observation = called if isinstance(called, Observation) else Observation(content=called)
        self._keep(name, args, observation)
        return observation.text if isinstance(called, Observation) else encode(called).decode()

    def objection(self, answer: Any) -> str:
        """What the checks say is wrong with an answer; "" where nothing is."""
        return str(self.portal.call(self._objection, answer))

    async def _objection(self, answer: Any) -> str:
        record = Trajectory("others")  # what another system did is not on record
        results = [check(answer, record) for check in self._checks]
        text = [await each if isinstance(each, Awaitable) else each for each in results]
        return "; ".join(filter(None, text))

    def _placed(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """A `lookup` is in the article that was searched last, and gives the next sentence."""
        if name != "lookup":
            return args
        title = args.get("title") or self._title
        seen = self._seen[title, args["word"].casefold()]
        return {"number": seen + 1, **args, "title": title}

    def _keep(self, name: str, args: dict[str, Any], observation: Observation) -> None:
        content: Any = observation.content
        if name not in {"search", "lookup"} or not content.get("results"):
            return
        if name == "search":
            self._title, self._seen = content["results"][0]["title"], Counter()
        else:
            self._seen[args.get("title") or self._title, args["word"].casefold()] += 1


def _reason(data: bytes) -> str:
    """What a line of status can say of it."""
    return " ".join(data.decode().split()).encode("latin-1", "replace").decode("latin-1")


def _handler(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/check":
                status, encoded = (
                    200,
                    gateway.objection(msgspec.json.decode(body)["answer"]).encode(),
                )
            elif self.path == "/tool":
                status, encoded = self._tool(msgspec.json.decode(body))
            else:
                status, encoded = gateway.complete(self.path, body)
            self.send_response(status, _reason(encoded) if status == REFUSED else None)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def _tool(self, asked: dict[str, Any]) -> tuple[int, bytes]:
            try:
                return 200, gateway.call(asked["tool"], asked["args"]).encode()
            except ToolError as error:
                return REFUSED if gateway.raises else 200, str(error).encode()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- theirs
            """Nobody reads it."""

    return Handler
