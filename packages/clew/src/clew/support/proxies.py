"""The proxies that the environment names: by which variable, and before which servers."""

import os
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from clew.support.addresses import hidden, proxy_problem

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {"http": ("http", "all"), "https": ("https", "all")}
"""Which proxies stand before a server, by the scheme of its address; the first that is named."""


class NamedProxy(NamedTuple):
    """A proxy for one kind of address ("http", "https", "all"), and what names it."""

    kind: str
    variable: str
    address: str

    @property
    def redacted(self) -> str:
        """Its address without the password that it may hold."""
        return hidden(self.address)

    @property
    def problem(self) -> str:
        """Why it cannot be used, or ""."""
        return proxy_problem(self.address)


def environment_proxies() -> list[NamedProxy]:
    """Those of the environment, or of the system's settings; host:port means http://host:port."""
    proxies = getproxies()
    if proxies.get("no") == "*":
        return []
    return [
        NamedProxy(kind, _variable(kind), _with_scheme(address))
        for kind, address in proxies.items()
        if kind in {"http", "https", "all"}
    ]


def proxy_before(base_url: str) -> NamedProxy | None:
    """The one that stands before a server, or None."""
    parts = urlsplit(base_url)
    by_kind = {each.kind: each for each in environment_proxies()}
    named = (by_kind.get(kind) for kind in _KINDS.get(parts.scheme, ()))
    proxy = next((each for each in named if each is not None), None)
    return None if proxy is None or proxy_bypass(parts.netloc) else proxy


def _variable(kind: str) -> str:
    """The name of the variable that says it, as it is written."""
    names = (f"{kind}_proxy", f"{kind}_proxy".upper())
    return next((name for name in names if os.environ.get(name)), "the system's settings")


def _with_scheme(address: str) -> str:
    bare = "://" not in address and address.rpartition(":")[2].isdigit()
    return f"http://{address}" if bare else address
