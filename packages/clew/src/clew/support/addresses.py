"""Addresses as they may be shown, and whether one can be that of a proxy."""

from typing import Final
from urllib.parse import urlsplit

from clew.support.extras import installed

SOCKS: Final = "a SOCKS proxy needs socksio: run pip install socksio"
_SCHEMES: Final = frozenset({"http", "https", "socks5", "socks5h"})


def proxy_problem(address: str) -> str:
    """Why this cannot be the address of a proxy, or ""."""
    scheme, _, rest = address.partition("://")
    try:
        parts = urlsplit(f"http://{rest}")
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        named = False
    if scheme.lower() not in _SCHEMES or not named or any(map(str.isspace, address)):
        return f"{hidden(address)!r} is no address of a proxy; give http://host:port"
    return SOCKS if scheme.lower().startswith("socks") and not installed("socksio") else ""


def hidden(address: str) -> str:
    """An address as it may be shown: without the password that it may hold."""
    scheme, mark, rest = address.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]
