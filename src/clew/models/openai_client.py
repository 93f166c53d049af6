"""The official client for a Chat Completions server: its address, key and connections."""

import os
from functools import partial
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

import anyio.lowlevel
import httpx2
import openai

from clew.errors import ConfigError
from clew.models.failures import Source
from clew.models.lanes import MOST, Lanes
from clew.models.resolve import is_local

BASE_URL: Final = "https://api.openai.com/v1"


def current_loop() -> object:
    """What tells this event loop from others."""
    return anyio.lowlevel.current_token().native_token


def connect(source: Source, provider: str, timeout: float) -> openai.AsyncOpenAI:
    """A client without retries of its own; `timeout` is in seconds."""
    client = openai.AsyncOpenAI(
        base_url=source.base_url,
        api_key=source.key or "none",  # the client insists on one; servers without keys ignore it
        max_retries=0,
        timeout=timeout,
        http_client=_http(httpx2.Timeout(timeout, connect=min(timeout, 10.0)), source.base_url),
    )
    if provider != "openai":  # whose account this is at OpenAI is nobody else's business
        client.organization = client.project = None
    return client


def _http(timeout: httpx2.Timeout, base_url: str) -> httpx2.AsyncClient:
    """Connections to a server, in lanes unless the environment names a proxy."""
    local = is_local(base_url)  # no proxy stands before one's own machine
    if getproxies() and not local:
        limits = httpx2.Limits(max_connections=MOST, max_keepalive_connections=MOST)
        return httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=True)
    lane = partial(
        httpx2.AsyncHTTPTransport,
        verify=httpx2.create_ssl_context(trust_env=not local),
        limits=httpx2.Limits(max_keepalive_connections=1),
    )
    return httpx2.AsyncClient(
        timeout=timeout, transport=Lanes(lane), follow_redirects=True, trust_env=not local
    )


def address(name: str, base_url: str | None) -> str:
    """The address of the model's server. Raises `ConfigError` where it cannot be one."""
    found = base_url
    if found is None and name.startswith("openai:"):
        found = os.environ.get("OPENAI_BASE_URL") or BASE_URL
    parts = urlsplit(found or "")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            f"{name}: {found!r} is no address of a server; give base_url as http(s)://host/v1"
        )
    return (found or "").rstrip("/")


def find_key(api_key: str | None, variable: str) -> str:
    """The key, given or from the environment. Raises `ConfigError` where it cannot be one."""
    key = os.environ.get(variable) if api_key is None else api_key
    if key is None:
        raise ConfigError(f"no key: set the environment variable {variable} (or give api_key)")
    if not key.isascii() or any(not 32 < ord(sign) < 127 for sign in key):
        raise ConfigError(f"the key in {variable} has a space, a line break or an odd character")
    return key
