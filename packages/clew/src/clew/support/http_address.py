"""The address at which a server listens."""

import os
import socket
from dataclasses import dataclass
from ipaddress import ip_address

from clew.support.errors import ConfigError
from clew.support.settings import check_fields

__all__ = ["HttpAddress"]


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where to listen; port 0 means any free port."""

    host: str
    port: int

    def __post_init__(self) -> None:
        """Raise `ConfigError` for what can be no host or port."""
        check_fields(self)
        if self.port > 65_535:
            raise ConfigError(f"the port {self.port} is none: give 0 to 65535", field="port")

    @classmethod
    def parse(cls, address: str, default_port: int = 8765) -> "HttpAddress":
        """Read `HOST:PORT`, `:PORT`, `HOST` or `[::1]:PORT`. Raises `ConfigError`."""
        host, colon, port = address.rpartition(":")
        if not colon or "]" in port:
            host, port = address, str(default_port)
        host = host.strip("[]") or "127.0.0.1"
        if not port.isdecimal() or int(port) > 65_535:
            message = f"{address!r} is no address: write HOST:PORT, such as 127.0.0.1:8765"
            raise ConfigError(message)
        return cls(host, int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def in_url(self) -> str:
        """The host as a URL has it."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def bind(self, backlog: int = 100) -> "tuple[socket.socket, HttpAddress]":
        """A socket that listens there, and the address it has. Raises `ConfigError`.

        `backlog` is how many connections may wait to be accepted. What is accepted sends at once:
        else a short response waits 40 ms for the next one's head.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            bound = socket.create_server((self.host, self.port), family=family, backlog=backlog)
        except (OSError, UnicodeError) as error:
            errno = error.errno if isinstance(error, OSError) else None
            why = (
                os.strerror(errno) if errno and errno > 0 else str(error)
            )  # the name's are below 0
            message = (
                f"cannot listen at {self.in_url}:{self.port}: {why}; another port may be free, and "
                "port 0 takes one that is"
            )
            raise ConfigError(message) from error
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio leaves this to us
        return bound, HttpAddress(self.host, bound.getsockname()[1])
