"""OpenAI's official client as a carrier, for all of its APIs and every server that speaks them."""

from collections.abc import Callable
from functools import partial
from typing import Final

import httpx2
import openai

from clew.models.connections import address, find_key, http_client
from clew.models.endpoint import TIMEOUT, Settings
from clew.models.failures import Source
from clew.models.posting import Errors, Posting

BASE_URL: Final = "https://api.openai.com/v1"
ERRORS: Final = Errors(
    openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError, openai.OpenAIError
)


class Unread(openai.AsyncStream[bytes]):
    """A streamed reply as the client hands it over: the response, with nothing read."""

    def __init__(self, *, response: httpx2.Response, **_: object) -> None:
        self.response = response


def openai_source(
    name: str,
    base_url: str | None,
    api_key: str | None,
    key_variable: str,
    client: openai.AsyncOpenAI | None,
) -> Source:
    """Who is asked: as the given client says, else by address and key. Raises `ConfigError`."""
    if client is not None:
        return Source(name, str(client.base_url), client.api_key, "")
    usual = ("OPENAI_BASE_URL", BASE_URL) if name.startswith("openai") else ("", "")
    where = address(name, base_url, *usual)
    return Source(name, where, find_key(api_key, key_variable), key_variable)


def openai_carrier(
    source: Source, provider: str, settings: Settings, client: openai.AsyncOpenAI | None
) -> Callable[[], Posting]:
    """What makes a carrier for an event loop: over the given client, or over a new one."""
    if client is not None:
        return lambda: Posting(client, ERRORS, Unread, source, given=True)
    return partial(_connect, source, provider, settings)


def _connect(source: Source, provider: str, settings: Settings) -> Posting:
    """A client without retries of its own."""
    timeout = settings.get("timeout", TIMEOUT)
    client = openai.AsyncOpenAI(
        base_url=source.base_url,
        api_key=source.key or "none",  # the client insists on one; servers without keys ignore it
        max_retries=0,
        timeout=timeout,
        http_client=http_client(
            source.base_url,
            timeout,
            headers=settings.get("headers"),
            proxy=settings.get("proxy", ""),
        ),
    )
    if not provider.startswith("openai"):  # whose account it is at OpenAI is nobody else's business
        client.organization = client.project = None
    return Posting(client, ERRORS, Unread, source)
