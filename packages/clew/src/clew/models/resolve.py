"""From `provider:model` to a model, by the table of entry points."""

import difflib
import importlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, final
from urllib.parse import urlsplit

import anyio
import msgspec

from clew.core.models import Model
from clew.models.prices import listed
from clew.models.provider import Provider
from clew.support.addresses import hidden
from clew.support.entry_points import versions_met
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.extras import install, installed
from clew.support.model_settings import ModelSettings
from clew.support.wings import MODELS, find, missing_package, names

PROBE: Final = 0.3
"""Seconds that a local server has to say which models it serves."""

OFFLINE: Final = "offline"


class ProviderInfo(msgspec.Struct, frozen=True):
    """What is set up for a provider: its extra, and whether it has a key (never the key).

    `key` names the variable; it is empty if none is needed.
    """

    name: str
    extra: str
    installed: bool
    key: str
    key_set: bool
    base_url: str
    variable: str = ""
    """The environment variable for another address."""
    model: str = ""
    """An example model, "" if the provider has none."""
    custom: bool = False
    """Whether the environment sets another address."""

    @property
    def public_url(self) -> str:
        """The address without a password."""
        return hidden(self.base_url)

    @property
    def server(self) -> tuple[str, int] | None:
        """Host and port; None if the address cannot be that of a server."""
        return host_and_port(self.base_url)

    @property
    def usable(self) -> bool:
        """Whether `resolve` could make a model of it (a local server may still not be running)."""
        return self.installed and bool(self.base_url) and (self.key_set or not self.key)


def resolve(name: str, *, env: Mapping[str, str] | None = None, **options: Any) -> Model:
    """Find a model by its name: `provider:model`, or `offline`.

    A provider that speaks Chat Completions may have `-responses` or `-completions` behind it, for
    OpenAI's other formats. `options` go to the model as they are (`settings`, `prices`,
    `base_url` …); keys, addresses, CLEW_RATE and CLEW_TIMEOUT come from `env`, the environment by
    default.

    Raises:
        ConfigError: For an unknown provider, a missing extra or key, or a name without a model.
    """
    variables = os.environ if env is None else env
    asked, _, model = name.partition(":")
    if (entry := _find(asked)) is None:
        raise ConfigError(_unknown(name, asked))
    if not isinstance(entry, _Requested):
        return entry(model, **options)
    provider_name, provider, make = entry
    if not model:
        example = provider.model or "MODEL"
        raise ConfigError(f"{name!r} names no model: write {provider_name}:{example}, for example")
    if not installed(provider.library):
        raise _lacking(name, provider, provider.library)
    settings = _settings(provider_name, provider, variables) | options
    if (waits := _timeout(variables)) is not None:
        settings["settings"] = ModelSettings.of(options.get("settings")).over(
            ModelSettings(timeout=waits)
        )
    if (
        "base_url" not in options
        and (address := variables.get(provider.address))
        and not host_and_port(address)
    ):
        raise ConfigError(
            f"{name}: {provider.address} is {hidden(address)!r}, which is no address of a server; "
            "give it as http(s)://host:port/path"
        )
    if not settings["base_url"] and "client" not in options:
        raise ConfigError(f"{name} needs an address: set {provider.address} in the environment")
    keyless = not provider.key or is_local(settings["base_url"]) or "client" in options
    if not settings["api_key"] and not keyless:
        raise ConfigError(
            f"{name} needs a key: set {provider.key} in the environment or in .env, "
            f"or choose another model ({OFFLINE!r} needs none)"
        )
    return _imported(name, provider, make)(model, **settings)


def _imported(name: str, provider: Provider, make: str) -> Callable[..., Model]:
    """What makes a provider's models. Raises `ConfigError`, whatever its import raises."""
    module, _, function = make.partition(":")
    try:
        factory: Callable[..., Model] = getattr(importlib.import_module(module), function)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if not isinstance(error, ImportError):
            message = f"{name} cannot be loaded from {make}: {described(error)}"
            raise ConfigError(message) from error
        if not (missing := missing_package(error)):
            met = versions_met(module.partition(".")[0].replace("_", "-"), error)
            raise ConfigError(f"{name} cannot be loaded from {make}: {error}{met}") from error
        raise _lacking(name, provider, missing) from error
    return factory


def _lacking(name: str, provider: Provider, module: str) -> ConfigError:
    return ConfigError(
        f"{name} needs {module}, which is not installed: run {install(provider.extra)}"
    )


def providers() -> dict[str, Provider]:
    """All providers by their own names, in the order of their ranks."""
    infos = sorted(_entries().values(), key=lambda one: (one.rank, one.name))
    return {one.name: one for one in infos}


def aliases() -> dict[str, str]:
    """All names of providers, including aliases."""
    return {name: one.name for name, one in _entries().items() if one.name != name}


def _entries() -> dict[str, Provider]:
    """The providers of the table; one whose package is broken says so when it is asked for."""
    entries: dict[str, Any] = {}
    for name in names(MODELS):
        with suppress(ConfigError):
            entries[name] = find(MODELS, name)
    return {name: one for name, one in entries.items() if isinstance(one, Provider)}


@final
class _Requested(NamedTuple):
    """What a name before the colon stands for: the provider, and what makes a model of it."""

    name: str
    provider: Provider
    make: str


def _find(asked: str) -> _Requested | Callable[..., Model] | None:
    """A provider; or a function that makes a model of the name behind the colon and the options."""
    entry: Provider | Callable[..., Model] | None = find(MODELS, asked)
    if entry is not None:
        return _Requested(entry.name, entry, entry.make) if isinstance(entry, Provider) else entry
    base, _, form = asked.rpartition("-")
    registered: object = find(MODELS, base)
    if not isinstance(registered, Provider) or form not in registered.formats:
        return None
    return _Requested(f"{registered.name}-{form}", registered, registered.formats[form])


def _settings(name: str, provider: Provider, env: Mapping[str, str]) -> dict[str, Any]:
    """What the environment says of a provider, as options."""
    key = provider.variable(env)
    return {
        "base_url": env.get(provider.address) or provider.base_url,
        "api_key": env.get(key, "") if key else "",
        "key_variable": key,
        "provider": name,
        **{
            option: env[variable] for option, variable in provider.more.items() if env.get(variable)
        },
        **_common(env),
    }


def _common(env: Mapping[str, str]) -> dict[str, Any]:
    """What the environment says of all models behind HTTP."""
    settings: dict[str, Any] = {}
    if rate := env.get("CLEW_RATE"):
        settings["rate"] = rate
    return settings


def _timeout(env: Mapping[str, str]) -> float | None:
    """The seconds that the environment lets a model take for a reply."""
    if not (text := env.get("CLEW_TIMEOUT")):
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ConfigError(f"CLEW_TIMEOUT is {text!r}: give a number of seconds over 0")
    return seconds


def available(env: Mapping[str, str]) -> list[ProviderInfo]:
    """All providers, and what is installed and set for them."""
    return [_info(provider, env) for provider in providers().values()]


def provider_of(model: str, env: Mapping[str, str]) -> ProviderInfo | None:
    """The provider of a model, by the model's name; None for a model that is no provider's."""
    provider = _find(model.partition(":")[0])
    return _info(provider.provider, env) if isinstance(provider, _Requested) else None


def _info(provider: Provider, env: Mapping[str, str]) -> ProviderInfo:
    key = provider.variable(env)
    return ProviderInfo(
        name=provider.name,
        extra=provider.extra,
        installed=installed(provider.library),
        key=key,
        key_set=bool(env.get(key)),
        base_url=env.get(provider.address) or provider.base_url,
        variable=provider.address,
        model=provider.model,
        custom=bool(env.get(provider.address)),
    )


async def default_model(env: Mapping[str, str]) -> tuple[str, str]:
    """The default model and the reason: (name, reason).

    The first provider whose key is set; else a local server that lists its models within 0.3
    seconds; else the offline model.
    """
    infos = {info.name: info for info in available(env)}
    known = providers()
    for name, info in infos.items():
        if info.key_set and info.installed and known[name].model:
            return f"{name}:{known[name].model}", f"{info.key} is set"
    for name in (name for name, provider in known.items() if provider.probed):
        if infos[name].installed and (model := await _first_model(infos[name].base_url)):
            return f"{name}:{model}", f"a server answers at {infos[name].base_url}"
    why = "no key is set and no local model server answers; to run a model here"
    return OFFLINE, f"{why}: clew doctor models local"


def _unknown(name: str, provider: str) -> str:
    if not names(MODELS):
        return f"{name!r} is not found, for clew is not installed: run pip install on its folder"
    every = providers()
    if makers := [maker for maker in every if name in listed(maker)]:
        return f"unknown model {name!r}: did you mean {makers[0]}:{name}?"
    maker, slash, model = name.partition("/")
    if slash and ":" not in maker and _find(maker) is not None:
        return f"unknown model {name!r}: did you mean {maker}:{model}?"
    known = [*every, *(other for other in names(MODELS) if other not in every)]
    forms = [f"{base}-{form}" for base, one in every.items() for form in one.formats]
    if near := difflib.get_close_matches(provider.lower(), [*known, *forms], n=3, cutoff=0.5):
        return f"unknown model {name!r}: did you mean {' or '.join(near)} before the colon?"
    return (
        f"unknown model {name!r}: write provider:model, with one of these providers: "
        f"{', '.join(known)}"
    )


def is_local(base_url: str) -> bool:
    """Whether the address is on this machine."""
    location = host_and_port(base_url)
    return location is not None and location[0] in {"localhost", "127.0.0.1", "::1"}


def host_and_port(address: str) -> tuple[str, int] | None:
    """Host and port of an http(s) address; None where it cannot be one."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except (ValueError, AttributeError):  # the latter for what is no text
        return None
    if parts.scheme not in {"http", "https"} or not host or any(map(str.isspace, address)):
        return None
    return host, port or (443 if parts.scheme == "https" else 80)


class _Named(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Named] = []


async def _first_model(base_url: str) -> str:
    """The first model the server lists; empty where no such server answers in time."""
    parts = urlsplit(base_url)
    if (where := host_and_port(base_url)) is None or parts.scheme != "http":
        return ""
    request = f"GET {parts.path.rstrip('/')}/models HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n"
    answer = b""
    with anyio.move_on_after(PROBE):
        try:
            stream = await anyio.connect_tcp(*where)
            async with stream:
                await stream.send(request.encode())
                async for piece in stream:
                    answer += piece
        except (OSError, anyio.BrokenResourceError):
            return ""
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        return ""
    try:
        models = msgspec.json.decode(body, type=_Models).data
    except msgspec.MsgspecError:
        return ""
    return models[0].id if models else ""
