"""A site on 127.0.0.1 for tests: what it answers to each path, and what it was asked."""

import contextlib
import json
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class SiteAnswer:
    """An answer."""

    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Was:
    """A request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Route: TypeAlias = SiteAnswer | Callable[[Was], SiteAnswer] | None
"""None: no answer until the site closes."""


def as_json(value: object, status: int = 200, **headers: str) -> SiteAnswer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return SiteAnswer(json.dumps(value).encode(), "application/json", status, named)


def page(text: str, status: int = 200) -> SiteAnswer:
    return SiteAnswer(text.encode(), status=status)


def moved(where: str, status: int = 302) -> SiteAnswer:
    return SiteAnswer(status=status, headers={"location": where})


class Server(ThreadingHTTPServer):
    daemon_threads = False

    def server_bind(self) -> None:
        """Bind without asking a name server what we are called."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]  # typed for any family of addresses


class Site:
    """Answers by path; a list of answers is given one by one, the last again and again."""

    def __init__(
        self, routes: Mapping[str, Route | list[Route]], certificate: ssl.SSLContext | None = None
    ) -> None:
        self.asked: list[Was] = []
        self._left: dict[str, list[Route]] = {}
        self.routes(routes)
        self._closing = threading.Event()
        self._server = Server(("127.0.0.1", 0), self._handler())
        scheme = "http"
        if certificate is not None:
            self._server.socket = certificate.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.port = self._server.server_port
        self.url = f"{scheme}://{self.host}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def routes(self, routes: Mapping[str, Route | list[Route]]) -> None:
        """Answer to these paths from now on."""
        for path, answer in routes.items():
            self._left[path.rstrip("/")] = list(answer) if isinstance(answer, list) else [answer]

    def answer(self, was: Was) -> SiteAnswer | None:
        self.asked.append(was)
        left = self._left.get(was.path.rstrip("/"), [page("<p>nothing here</p>", 404)])
        route = left.pop(0) if len(left) > 1 else left[0]
        if route is None:
            self._closing.wait()
            return None
        return route if isinstance(route, SiteAnswer) else route(was)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("content-length", "0"))
                was = Was(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query, keep_blank_values=True)),
                    {name.lower(): value for name, value in self.headers.items()},
                    self.rfile.read(length),
                )
                self.close_connection = True
                answer = site.answer(was)
                if answer is None:
                    return
                self.send_response(answer.status)
                if answer.type:
                    self.send_header("content-type", answer.type)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("connection", "close")
                if not {"content-length", "transfer-encoding"} & answer.headers.keys():
                    self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                with contextlib.suppress(OSError):  # the client has read enough
                    self.wfile.write(answer.body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                pass

        return Handler
