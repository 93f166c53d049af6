"""A forward proxy on 127.0.0.1, for plain HTTP, that notes what passes through it."""

import re
import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Proxy:
    """The proxy, as a context manager; `passed` are the request lines and `asked` their heads."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.asked: list[str] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for line in (self._door, *self._open):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _accept(self) -> None:
        with suppress(OSError):  # the door was closed
            while True:
                near, _ = self._door.accept()
                self._open.append(near)
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        """Pass on the requests of one connection, each to where its first line says."""
        held = b""
        with suppress(OSError):
            while True:
                head, held = _until(near, held, b"\r\n\r\n")
                line, _, rest = head.partition(b"\r\n")
                method, target, version = line.decode().split(" ")
                length = re.search(rb"(?im)^content-length: *(\d+)", rest)
                while len(held) < int(length[1] if length else 0):
                    held += _more(near)
                body, held = held[: int(length[1])] if length else b"", b""
                parts = urlsplit(target)
                self.passed.append(f"{method} {target}")
                self.asked.append(rest.partition(b"\r\n\r\n")[0].decode())
                far = socket.create_connection((parts.hostname or "", parts.port or 80))
                self._open.append(far)
                far.sendall(f"{method} {parts.path} {version}\r\n".encode() + rest + body)
                threading.Thread(target=_pipe, args=(far, near), daemon=True).start()


def _more(source: socket.socket) -> bytes:
    if not (piece := source.recv(65536)):
        raise OSError("the client is gone")
    return piece


def _until(source: socket.socket, held: bytes, end: bytes) -> tuple[bytes, bytes]:
    """What comes up to an end, with that, and what came behind it."""
    while end not in held:
        held += _more(source)
    at = held.index(end) + len(end)
    return held[:at], held[at:]


def _pipe(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
