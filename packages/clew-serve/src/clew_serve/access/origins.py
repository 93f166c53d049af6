"""From where a request may come: by which names the server is reached, and from which pages.

A page of a stranger may have its own name lead to this machine (DNS rebinding), so a request has to
name a host that is known. A page of another site, or of another port, may send requests along with
the browser's cookies: its origin is another than the server's.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_SAME: Final = ("", "same-origin", "none")


def loopback_names(host: str) -> tuple[str, ...]:
    """The names by which this machine itself reaches a server that listens at `host`."""
    return (*_LOOPBACK, f"[{host}]" if ":" in host else host)


class Origins:
    """The hosts that requests may name, and the origins of pages that may send them.

    `hosts` are names, each for the server's own port and any other, since a proxy may have another.
    A page may come from one of them, or from one of the further `origins` (`https://x.example`).
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    def knows_host(self, headers: Headers) -> bool:
        """Whether a request names one host, and one that is known."""
        hosts = headers.getlist("host")
        return len(hosts) == 1 and _name(hosts[0]) in self._hosts

    def may_send(self, headers: Headers) -> bool:
        """Whether the page that sends a request may: no page is, or one of the server's own."""
        origins = headers.getlist("origin")
        if len(origins) > 1:
            return False
        if origins:
            return self._is_known(origins[0], headers.get("host", ""))
        if headers.get("sec-fetch-site", "").lower() in _SAME:
            return True
        return headers.get("sec-fetch-mode", "").lower() == "navigate"

    def shared_with(self, headers: Headers) -> str:
        """The further origin whose page sends a request, and may read the response; or ""."""
        origin = headers.get("origin", "").lower()
        return origin if origin in self._origins else ""

    def is_proven(self, method: str, headers: Headers) -> bool:
        """Whether a request that a browser signs by its cookie comes from a page of the server.

        One that changes something has to say where it comes from: all browsers do.
        """
        return method in SAFE_METHODS or bool(headers.get("origin"))

    def _is_known(self, origin: str, host: str) -> bool:
        origin = origin.lower()
        if origin in self._origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and parts.netloc == host.lower()


def _name(host: str) -> str:
    """A host without its port."""
    host = host.lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
