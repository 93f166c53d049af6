"""Where a model's server is, with which key, and the connections to it."""

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

import httpcore2
import httpx2

from clew.models.http.connections import MAX_CONNECTIONS, ConnectionPool
from clew.models.resolve import is_local
from clew.models.validate import check_address
from clew.support.addresses import hidden
from clew.support.error_text import message_of
from clew.support.errors import ConfigError
from clew.support.proxies import environment_proxies, proxy_before

IDLE: Final = 5.0
"""Seconds after which a connection that nobody used is closed; httpx2's own figure."""

_TWICE: Final = frozenset({"accept", "user-agent"})
"""Headers that the official clients say themselves, in the place of these, for every request.
Google's says no `accept`: then any kind will do (RFC 9110, 12.5.1)."""


def http_client(
    base_url: str,
    timeout: float,
    *,
    headers: Mapping[str, str] | None = None,
    proxy: str = "",
    kind: type[httpx2.AsyncClient] = httpx2.AsyncClient,
) -> httpx2.AsyncClient:
    """Connections to a server, in lanes unless a proxy stands before it; `timeout` is in seconds.

    They are of the class `kind`. Raises `ConfigError` where the environment names a proxy that
    cannot be one.
    """
    waits = httpx2.Timeout(timeout, connect=min(timeout, 10.0))
    limits = httpx2.Limits(
        max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS
    )
    more = dict(headers or {})
    if proxy:
        return kind(timeout=waits, limits=limits, headers=more, follow_redirects=True, proxy=proxy)
    local = is_local(base_url)  # no proxy stands before one's own machine
    if not local and (named := environment_proxies()):
        try:
            return kind(timeout=waits, limits=limits, headers=more, follow_redirects=True)
        except (ValueError, httpx2.InvalidURL) as error:
            why = message_of(error)
            variables = ", ".join(each.variable for each in named)
            raise ConfigError(f"the proxy in {variables} cannot be used: {why}") from error
    lane = partial(
        httpcore2.AsyncHTTPConnection,
        ssl_context=httpx2.create_ssl_context(trust_env=not local),
        keepalive_expiry=IDLE,
    )
    client = kind(
        timeout=waits,
        headers=more,
        transport=ConnectionPool(lane),
        follow_redirects=True,
        trust_env=not local,
    )
    for name in _TWICE - {name.lower() for name in more}:
        del client.headers[name]
    return client


def through(base_url: str, settings: Mapping[str, Any]) -> str:
    """The proxy before a server, for messages, or "": as given, else that of the environment.

    Raises `ConfigError` where one that the environment names cannot be one.
    """
    if proxy := settings.get("proxy"):  # whether it can be one is looked at with the settings
        return f"the proxy {hidden(str(proxy))}"
    if is_local(base_url):
        return ""
    for each in environment_proxies():
        if each.problem:
            raise ConfigError(f"the proxy in {each.variable} cannot be used: {each.problem}")
    environment_proxy = proxy_before(base_url)
    return (
        ""
        if environment_proxy is None
        else f"the proxy {environment_proxy.redacted} ({environment_proxy.variable})"
    )


def address(name: str, base_url: str | None, variable: str = "", usual: str = "") -> str:
    """The address of the model's server: as given, else in the variable, else the usual one.

    Raises `ConfigError` where it cannot be one.
    """
    url = base_url
    if url is None:
        url = os.environ.get(variable) or usual
    try:
        check_address(url)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error
    return url.rstrip("/")


def find_key(api_key: str | None, variable: str) -> str:
    """The key, given or from the environment. Raises `ConfigError` where it cannot be one."""
    key = os.environ.get(variable) if api_key is None else api_key
    if key is None:
        raise ConfigError(f"no key: set the environment variable {variable} (or give api_key)")
    if not isinstance(cast("object", key), str):
        raise ConfigError(f"api_key is {type(key).__name__}: give a text, or None")
    if not key.isascii() or any(not 32 < ord(sign) < 127 for sign in key):
        raise ConfigError(f"the key in {variable} has a space, a line break or an odd character")
    return key
