"""OpenAI's official client as a carrier, for all of its APIs and every server that speaks them."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import openai

from clew.models.http.endpoint import Api, Endpoint, HttpSettings
from clew.models.http.failures import FailureSource
from clew.models.http.sdk_client import Errors, Posting
from clew.models.http.server import address, find_key, http_client, through
from clew.support.errors import ConfigError

BASE_URL: Final = "https://api.openai.com/v1"
ERRORS: Final = Errors(
    openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError, openai.OpenAIError
)
UNSAID: Final[Mapping[str, Any]] = dict.fromkeys(
    (
        *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-Async"),
        *("X-Stainless-OS", "X-Stainless-Arch"),
        *("X-Stainless-Runtime", "X-Stainless-Runtime-Version"),
    ),
    openai.Omit(),
)
"""What the client would tell of the machine and of itself: no reply depends on it, it is nobody
else's business, and it is a tenth of what a request takes."""

UNSAID_EACH: Final[Mapping[str, Any]] = dict.fromkeys(
    ("X-Stainless-Retry-Count", "X-Stainless-Read-Timeout"), openai.Omit()
)
"""The same, of a request."""


def openai_endpoint(
    api: Api,
    *,
    base_url: str | None,
    api_key: str | None,
    api_version: str,
    key_variable: str,
    client: openai.AsyncOpenAI | None,
    settings: HttpSettings,
) -> Endpoint:
    """A model behind one of OpenAI's APIs, there or elsewhere. Raises `ConfigError`."""
    name = f"{api.provider}:{api.model}"
    if client is not None:
        source = FailureSource(name, str(client.base_url), client.api_key, "")
        return Endpoint(
            api, source, lambda _: Posting(client, ERRORS, source, answered=True), settings
        )
    where = _address(api.provider, name, base_url, api_version)
    way = through(where, settings)
    source = FailureSource(name, where, find_key(api_key, key_variable), key_variable, way)
    return Endpoint(api, source, partial(_connect, api, source, settings, api_version), settings)


def is_openai(provider: str) -> bool:
    """Whether it is OpenAI's own service, or Microsoft's of the same."""
    return provider.partition("-")[0] in {"openai", "azure"}


def _address(provider: str, name: str, base_url: str | None, api_version: str) -> str:
    """Where it is. Microsoft's addresses name a resource; with a dated version, nothing else."""
    if provider.partition("-")[0] == "azure":
        endpoint = address(name, base_url, "AZURE_OPENAI_ENDPOINT")
        return endpoint if api_version or "/openai" in endpoint else f"{endpoint}/openai/v1"
    if api_version:
        raise ConfigError(f"{name}: api_version is for azure; leave it out")
    usual = ("OPENAI_BASE_URL", BASE_URL) if is_openai(provider) else ("", "")
    return address(name, base_url, *usual)


def _connect(
    api: Api, source: FailureSource, settings: HttpSettings, api_version: str, timeout: float
) -> Posting:
    """A client without retries of its own."""
    connections = http_client(
        source.base_url,
        timeout,
        headers=settings.get("headers"),
        proxy=settings.get("proxy", ""),
    )
    key = source.key or "none"  # the clients insist on one; servers without keys ignore it
    client: openai.AsyncOpenAI
    if api_version:
        client = openai.AsyncAzureOpenAI(
            azure_endpoint=source.base_url,
            azure_deployment=api.model,
            api_version=api_version,
            api_key=key,
            max_retries=0,
            timeout=timeout,
            default_headers=UNSAID,
            http_client=connections,
        )
    else:
        client = openai.AsyncOpenAI(
            base_url=source.base_url,
            api_key=key,
            max_retries=0,
            timeout=timeout,
            default_headers=UNSAID,
            http_client=connections,
        )
    if not api.provider.startswith("openai"):  # whose account it is there is nobody else's business
        client.organization = client.project = None
    root = "" if api_version else source.base_url  # the dated one has its own way to make addresses
    # Said anew for every request, the last two are what the client would make copies of.
    client_options = {"headers": UNSAID_EACH, "security": {"bearer_auth": True}, "timeout": timeout}
    return Posting(client, ERRORS, source, root, client_options)
