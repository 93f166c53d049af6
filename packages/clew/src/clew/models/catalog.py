"""Which models there are: those with a known price, and those that a server lists."""

import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

import anyio.to_thread
import msgspec

from clew.models.prices import listed
from clew.models.resolve import aliases, host_and_port, is_local, providers
from clew.support.errors import ConfigError, ModelError

__all__ = ["priced_models", "served"]

SOON: Final = 1.0
LATER: Final = 10.0
"""Seconds that servers on this machine, and elsewhere, have to list their models."""

MAX_MODELS: Final = 1 << 24
"""Bytes of a list that are read."""


class _Model(msgspec.Struct):
    """A model in a list: OpenAI and Anthropic say `id`, Google `name` and what it is for."""

    id: str = ""
    name: str = ""
    methods: list[str] | None = msgspec.field(name="supportedGenerationMethods", default=None)


class _List(msgspec.Struct):
    data: list[_Model] = []
    models: list[_Model] = []


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key goes nowhere but to the address that was set."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        """Follow nobody."""


def priced_models(provider: str) -> tuple[str, ...]:
    """Names of a provider's models with a known price."""
    return tuple(listed(aliases().get(provider, provider)))


async def served(name: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The models that a provider's server lists, in its order.

    Raises `ConfigError` without an address to ask, `ModelError` if no list comes.
    """
    provider = providers()[aliases().get(name, name)]
    address = (env.get(provider.address) or provider.base_url).rstrip("/")
    if host_and_port(address) is None:
        where = f"{_host(address)!r} is no address" if address else "it has no address"
        raise ConfigError(f"{name}: {where} of a server; set {provider.address}")
    variable = provider.variable(env)
    path, headers = provider.list_request(variable, env.get(variable, ""))
    try:
        request = urllib.request.Request(address + path, headers=headers)  # noqa: S310 - it is http(s)
        body = await anyio.to_thread.run_sync(_fetch, request, is_local(address))
        return _names(msgspec.json.decode(body, type=_List))
    except urllib.error.HTTPError as error:
        with error:
            what = f"refused the key in {variable}" if error.code in {401, 403} else "lists none"
        raise ModelError(f"{name}: {_host(address)} {what} ({error.code})") from error
    except (OSError, ValueError) as error:  # no answer, no address, no list
        why = getattr(error, "reason", None) or type(error).__name__
        raise ModelError(f"{name}: {_host(address)} lists no models ({why})") from error


def _fetch(request: urllib.request.Request, local: bool) -> bytes:  # noqa: FBT001 - by place, for a thread
    """Get it, through the environment's proxy unless it is on this machine."""
    proxies = [urllib.request.ProxyHandler({})] if local else []
    opener = urllib.request.build_opener(_NoRedirects, *proxies)
    with opener.open(request, timeout=SOON if local else LATER) as response:
        body: bytes = response.read(MAX_MODELS)
    return body


def _names(listed: _List) -> tuple[str, ...]:
    return tuple(
        one.id or one.name.removeprefix("models/")
        for one in (*listed.data, *listed.models)
        if (one.id or one.name) and (one.methods is None or "generateContent" in one.methods)
    )


def _host(address: str) -> str:
    """An address as it may be shown: it may hold a password."""
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
