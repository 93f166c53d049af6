"""A forward proxy on 127.0.0.1, for plain HTTP, that notes what passes through it."""

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
        """Pass on one connection: its first request says where to."""
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := near.recv(65536)):
                return
            head += more
        line, _, rest = head.partition(b"\r\n")
        method, target, version = line.decode().split(" ")
        parts = urlsplit(target)
        self.passed.append(f"{method} {target}")
        self.asked.append(rest.partition(b"\r\n\r\n")[0].decode())
        far = socket.create_connection((parts.hostname or "", parts.port or 80))
        self._open.append(far)
        far.sendall(f"{method} {parts.path} {version}\r\nconnection: close\r\n".encode() + rest)
        with suppress(OSError):
            threading.Thread(target=_pipe, args=(near, far), daemon=True).start()
            _pipe(far, near)


def _pipe(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
