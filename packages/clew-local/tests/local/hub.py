"""A local hub that answers as Hugging Face does: metadata in headers, files in ranges."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar


class Hub(BaseHTTPRequestHandler):
    """Serves the same bytes for every file. `cut` sends half of them once, then the rest."""

    body: ClassVar[bytes] = b""
    said: ClassVar[str] = ""
    cut: ClassVar[bool] = False
    ranges: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        """The file's metadata."""
        self._head(200, len(self.body))

    def do_GET(self) -> None:
        """The file, or what is wanted of it."""
        wanted = self.headers.get("range", "")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
        self._head(206 if wanted else 200, len(self.body) - start)
        rest = self.body[start:]
        if self.cut and not wanted:
            self.wfile.write(rest[: len(rest) // 2])
            self.close_connection = True
        else:
            self.wfile.write(rest)

    def _head(self, status: int, length: int) -> None:
        if "missing" in self.path:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(status)
        self.send_header("X-Repo-Commit", "c" * 40)
        self.send_header("ETag", f'"{self.said}"')
        self.send_header("X-Linked-Etag", f'"{self.said}"')
        self.send_header("X-Linked-Size", str(len(self.body)))
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of its base
        """Say nothing."""


@contextmanager
def hub(body: bytes, *, said: str = "", cut: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Its address, and the ranges it was asked for; `said` is another sum than the file's own."""
    sum_ = said or hashlib.sha256(body).hexdigest()
    ranges: list[str] = []
    kind = type("Served", (Hub,), {"body": body, "said": sum_, "cut": cut, "ranges": ranges})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", ranges
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
