"""Anthropic's official client as a carrier."""

import os
from collections.abc import Callable
from functools import partial
from typing import Final

import anthropic

from clew.models.http.endpoint import HttpSettings
from clew.models.http.failures import FailureSource
from clew.models.http.sdk_client import Errors, Posting
from clew.models.http.server import address, find_key, http_client, through

BASE_URL: Final = "https://api.anthropic.com"
TOKEN: Final = "ANTHROPIC_AUTH_TOKEN"  # noqa: S105 - the name of a variable
"""The client's other variable for its bearer token, read where that of the key is unset."""

ERRORS: Final = Errors(
    anthropic.APIStatusError,
    anthropic.APITimeoutError,
    anthropic.APIConnectionError,
    anthropic.AnthropicError,
)


def anthropic_source(
    name: str,
    base_url: str | None,
    api_key: str | None,
    key_variable: str,
    client: anthropic.AsyncAnthropic | None,
    settings: HttpSettings,
) -> FailureSource:
    """Who is asked: as the given client says, else by address and key. Raises `ConfigError`."""
    if client is not None:
        return FailureSource(
            name, str(client.base_url), client.api_key or client.auth_token or "", ""
        )
    where = address(name, base_url, "ANTHROPIC_BASE_URL", BASE_URL)
    unset = api_key is None and not os.environ.get(key_variable)
    variable = TOKEN if unset and os.environ.get(TOKEN) else key_variable
    way = through(where, settings)
    return FailureSource(name, where, find_key(api_key, variable), variable, way)


def anthropic_carrier(
    source: FailureSource, settings: HttpSettings, client: anthropic.AsyncAnthropic | None
) -> Callable[[float], Posting]:
    """What makes a carrier for an event loop: over the given client, or over a new one."""
    if client is not None:
        return lambda _: Posting(client, ERRORS, source, answered=True)
    return partial(_connect, source, settings)


def _connect(source: FailureSource, settings: HttpSettings, timeout: float) -> Posting:
    """A client without retries of its own."""
    root = source.base_url.removesuffix("/v1")  # its paths begin with it
    client = anthropic.AsyncAnthropic(
        base_url=root,
        api_key=source.key or "none",  # the client insists on one; servers without keys ignore it
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,  # it would read the request, which it is given as bytes
        http_client=http_client(
            source.base_url,
            timeout,
            headers=settings.get("headers"),
            proxy=settings.get("proxy", ""),
        ),
    )
    return Posting(client, ERRORS, source, root)
