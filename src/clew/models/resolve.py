"""From `provider:model` to a model: the one place that loads optional extras, by their names."""

import difflib
import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import msgspec

from clew.core.errors import ConfigError
from clew.core.interfaces import Model
from clew.models.prices import listed
from clew.support.extras import install

PROBE: Final = 0.3
"""Seconds that a local server has to say which models it serves."""

OFFLINE: Final = "offline"

CHAT: Final = "clew.models.openai.chat:openai_chat"
FORMS: Final[Mapping[str, str]] = {
    "responses": "clew.models.openai.responses:openai_responses",
    "completions": "clew.models.openai.completions:openai_completions",
}
"""OpenAI's other formats, asked for by their name behind that of a provider that speaks `CHAT`."""


class Provider(msgspec.Struct, frozen=True):
    """Where a provider is, and what makes a model of it.

    `base_url` is its address (empty: it has none that all share), `address` the environment
    variable that overrides it, `key` the one that holds the key (empty: it needs none) and `model`
    a model of it to begin with (empty: ask the server). `make` is the function that makes a model,
    as module:name, `extra` what must be installed for it, and `more` the variables of further
    options of that function, by the option. `first` is a variable that goes before `key` where both
    are set, `last` one that holds the key where neither is.
    """

    base_url: str
    address: str
    key: str = ""
    model: str = ""
    extra: str = "openai"
    make: str = CHAT
    more: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    first: str = ""
    last: str = ""

    def variable(self, env: Mapping[str, str]) -> str:
        """The variable that holds the key in this environment, or would."""
        names = (self.first, self.key, self.last)
        return next((name for name in names if name and env.get(name)), self.key)


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", "gpt-4.1-mini"
    ),
    "anthropic": Provider(
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_API_KEY",
        "claude-sonnet-5-5",
        extra="anthropic",
        make="clew.models.anthropic.messages:anthropic_messages",
        last="ANTHROPIC_AUTH_TOKEN",  # sent alike, and looked at later by Anthropic's own client
    ),
    "google": Provider(
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
        "GEMINI_API_KEY",
        "gemini-3.8-flash",
        extra="google",
        make="clew.models.gemini.model:google_gemini",
        first="GOOGLE_API_KEY",  # before the other in Google's own client too
    ),
    "azure": Provider(
        "",
        "AZURE_OPENAI_ENDPOINT",
        "AZURE_OPENAI_API_KEY",
        more={"api_version": "AZURE_OPENAI_API_VERSION"},
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1",
        "OPENROUTER_BASE_URL",
        "OPENROUTER_API_KEY",
        "openrouter/auto",
    ),
    "deepseek": Provider(
        "https://api.deepseek.com", "DEEPSEEK_BASE_URL", "DEEPSEEK_API_KEY", "deepseek-flash"
    ),
    "mistral": Provider(
        "https://api.mistral.ai/v1", "MISTRAL_BASE_URL", "MISTRAL_API_KEY", "mistral-large-latest"
    ),
    "groq": Provider(
        "https://api.groq.com/openai/v1",
        "GROQ_BASE_URL",
        "GROQ_API_KEY",
        "llama-3.3-70b-versatile",
    ),
    "together": Provider(
        "https://api.together.xyz/v1",
        "TOGETHER_BASE_URL",
        "TOGETHER_API_KEY",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ),
    "dashscope": Provider(
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_BASE_URL",
        "DASHSCOPE_API_KEY",
        "qwen-plus",
    ),
    "dashscope-intl": Provider(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_INTL_BASE_URL",
        "DASHSCOPE_INTL_API_KEY",
        "qwen-plus",
    ),
    "ollama": Provider("http://localhost:11434/v1", "OLLAMA_BASE_URL"),
    "llamacpp": Provider("http://localhost:8080/v1", "LLAMACPP_BASE_URL"),
    "vllm": Provider("http://localhost:8000/v1", "VLLM_BASE_URL"),
    "lmstudio": Provider("http://localhost:1234/v1", "LMSTUDIO_BASE_URL"),
}
"""All providers, those with keys in the order in which `default` looks at them."""

SAME: Final[Mapping[str, str]] = {
    "gemini": "google",
    "qwen": "dashscope",
    "qwen-intl": "dashscope-intl",
}
"""Other names of providers."""

MODULES: Final[Mapping[str, str]] = {"google": "google.genai"}
"""What an extra is imported as, where that is not its name."""

PROBED: Final = ("ollama", "llamacpp")
"""Local servers that `default` looks for, in this order."""


class ProviderInfo(msgspec.Struct, frozen=True):
    """What is there of a provider: its extra, a key in the environment (never the key itself).

    `key` names the variable and is empty where none is needed.
    """

    name: str
    extra: str
    installed: bool
    key: str
    key_set: bool
    base_url: str

    @property
    def usable(self) -> bool:
        """Whether `resolve` would make a model of it (a local server may still not be running)."""
        return self.installed and bool(self.base_url) and (self.key_set or not self.key)


def resolve(name: str, *, env: Mapping[str, str] | None = None, **options: Any) -> Model:
    """Find a model by its name: `provider:model`, or `offline`.

    A provider that speaks Chat Completions may have `-responses` or `-completions` behind it, for
    OpenAI's other formats. `options` go to the model as they are (`params`, `prices`, `timeout`,
    `base_url` …); keys, addresses, CLEW_RATE and CLEW_TIMEOUT come from `env`, the environment by
    default.

    Raises:
        ConfigError: For an unknown provider, a missing extra or key, or a name without a model.
    """
    given = os.environ if env is None else env
    if name == OFFLINE:
        return _load("clew.models.offline", "OfflineModel")(**options)
    asked, _, model = name.partition(":")
    if (found := _find(asked)) is None:
        raise ConfigError(_unknown(name, asked))
    provider_name, provider, make = found
    if not model:
        example = provider.model or "MODEL"
        raise ConfigError(f"{name!r} names no model: write {provider_name}:{example}, for example")
    module = MODULES.get(provider.extra, provider.extra)
    if not installed(module):
        raise _lacking(name, provider, module)
    settings = _settings(provider_name, provider, given) | options
    if "base_url" not in options and (said := given.get(provider.address)) and not reached(said):
        raise ConfigError(
            f"{name}: {provider.address} is {hidden(said)!r}, which is no address of a server; "
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
    try:
        factory = _load(*make.split(":"))
    except ModuleNotFoundError as missing:
        raise _lacking(name, provider, str(missing.name)) from missing
    return factory(model, **settings)


def _lacking(name: str, provider: Provider, module: str) -> ConfigError:
    return ConfigError(
        f"{name} needs {module}, which is not installed: run {install(provider.extra)}"
    )


def _find(asked: str) -> tuple[str, Provider, str] | None:
    """What a name before the colon stands for: the whole name, the provider, what makes a model."""
    name = SAME.get(asked, asked)
    if (provider := PROVIDERS.get(name)) is not None:
        return name, provider, provider.make
    base, _, form = asked.rpartition("-")
    base = SAME.get(base, base)
    provider = PROVIDERS.get(base)
    if provider is None or provider.make != CHAT or form not in FORMS:
        return None
    return f"{base}-{form}", provider, FORMS[form]


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
    if said := env.get("CLEW_RATE"):
        settings["rate"] = said
    if said := env.get("CLEW_TIMEOUT"):
        try:
            settings["timeout"] = float(said)
        except ValueError as error:
            raise ConfigError(f"CLEW_TIMEOUT is {said!r}: give a number of seconds") from error
    return settings


def available(env: Mapping[str, str]) -> list[ProviderInfo]:
    """All providers, and what is there of them."""
    return [
        ProviderInfo(
            name=name,
            extra=provider.extra,
            installed=installed(MODULES.get(provider.extra, provider.extra)),
            key=provider.variable(env),
            key_set=bool(env.get(provider.variable(env))),
            base_url=env.get(provider.address) or provider.base_url,
        )
        for name, provider in PROVIDERS.items()
    ]


async def default(env: Mapping[str, str]) -> tuple[str, str]:
    """The model to use when none is named, and why: (name, reason).

    The first provider whose key is set; else a local server that says within 0.3 seconds which
    models it serves; else the offline policy.
    """
    infos = {info.name: info for info in available(env)}
    for name, info in infos.items():
        if info.key_set and info.installed and PROVIDERS[name].model:
            return f"{name}:{PROVIDERS[name].model}", f"{info.key} is set"
    for name in PROBED:
        if infos[name].installed and (model := await _first_model(infos[name].base_url)):
            return f"{name}:{model}", f"a server answers at {infos[name].base_url}"
    return OFFLINE, "no key is set and no local model server answers"


def _unknown(name: str, provider: str) -> str:
    if makers := [maker for maker in PROVIDERS if name in listed(maker)]:
        return f"unknown model {name!r}: did you mean {makers[0]}:{name}?"
    spoken = [base for base, one in PROVIDERS.items() if one.make == CHAT]
    known = [*PROVIDERS, *SAME, OFFLINE]
    forms = [f"{base}-{form}" for base in spoken for form in FORMS]
    if near := difflib.get_close_matches(provider.lower(), [*known, *forms], n=3, cutoff=0.5):
        return f"unknown model {name!r}: did you mean {' or '.join(near)} before the colon?"
    return (
        f"unknown model {name!r}: write provider:model, with one of these providers: "
        f"{', '.join(known)}"
    )


def installed(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it would be in
        return False


def _load(module: str, name: str) -> Callable[..., Model]:
    made: Callable[..., Model] = getattr(importlib.import_module(module), name)
    return made


def is_local(base_url: str) -> bool:
    """Whether the address is on this machine."""
    found = reached(base_url)
    return found is not None and found[0] in {"localhost", "127.0.0.1", "::1"}


def reached(address: str) -> tuple[str, int] | None:
    """Host and port of an http(s) address; None where it cannot be one."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host or any(map(str.isspace, address)):
        return None
    return host, port or (443 if parts.scheme == "https" else 80)


def hidden(address: str) -> str:
    """An address as it may be shown: without the password that it may hold."""
    scheme, mark, rest = address.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


class _Named(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Named] = []


async def _first_model(base_url: str) -> str:
    """The first model the server lists; empty where no such server answers in time."""
    parts = urlsplit(base_url)
    if (where := reached(base_url)) is None or parts.scheme != "http":
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
