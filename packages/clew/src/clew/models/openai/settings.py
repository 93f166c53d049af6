"""Where OpenAI, and servers that speak the same, take a model's settings.

Formats: https://platform.openai.com/docs/api-reference/chat/create, and each provider's own page.
What a provider does not document is left out: a server that ignores a key says nothing of it.
"""

import re
from collections.abc import Mapping
from typing import Final

from clew.core.values import Json
from clew.models.openai.client import is_openai
from clew.models.settings import Key, Keys, native, words
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings

_SAMPLING: Final[Keys] = {"temperature": "temperature", "top_p": "top_p"}
_USUAL: Final[Keys] = {**_SAMPLING, "max_tokens": "max_tokens", "stop": "stop", "seed": "seed"}
"""What all servers of Chat Completions take, and of plain completions too."""

_KEPT: Final = Key("prompt_cache_retention", {"long": "24h"})
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_OPENAI: Final[Keys] = {
    **_USUAL,
    "max_tokens": "max_completion_tokens",
    "effort": words("reasoning_effort", *_EFFORTS),
    "cache": _KEPT,
}

_QWEN: Final[Keys] = {
    **_USUAL,
    "effort": Key("enable_thinking", {"none": False}),
    "reasoning_tokens": Key("thinking_budget", beside={"enable_thinking": True}),
}
_LLAMA: Final[Keys] = {**_USUAL, "cache": Key("cache_prompt", {"off": False, "short": True})}

CHAT: Final[Mapping[str, Keys]] = {
    "openai": _OPENAI,
    "azure": {key: value for key, value in _OPENAI.items() if key != "cache"},
    "openrouter": {
        **_USUAL,
        "effort": words("reasoning.effort", *_EFFORTS[:-1]),
        "reasoning_tokens": "reasoning.max_tokens",
    },
    "deepseek": {
        **{key: value for key, value in _USUAL.items() if key != "seed"},
        "effort": words("reasoning_effort", "low", "high", "max"),
    },
    "mistral": {
        **_USUAL,
        "seed": "random_seed",
        "effort": words("reasoning_effort", "none", "high"),
    },
    "groq": {
        **_USUAL,
        "max_tokens": "max_completion_tokens",
        "effort": words("reasoning_effort", "none", "low", "medium", "high"),
    },
    "together": {**_USUAL, "effort": words("reasoning_effort", "low", "medium", "high")},
    "dashscope": _QWEN,
    "dashscope-intl": _QWEN,
    "ollama": {**_USUAL, "effort": words("reasoning_effort", "none", "low", "medium", "high")},
    "vllm": {**_USUAL, "effort": words("reasoning_effort", "none", "low", "medium", "high")},
    "llamacpp": _LLAMA,
    "local": _LLAMA,
}
"""By provider; any other server takes the usual ones."""

RESPONSES: Final[Keys] = {
    **_SAMPLING,
    "max_tokens": "max_output_tokens",
    "effort": words("reasoning.effort", *_EFFORTS),
    "cache": _KEPT,
}

_ALWAYS_REASONS: Final = re.compile(r"(?:o\d|gpt-5(?![.\d]))(?!.*chat)")
_REASONS_AT_WILL: Final = re.compile(r"gpt-5\.\d(?!.*chat)")
_NOT_REASONING: Final = ("temperature", "top_p", "stop")
"""What OpenAI's models do not take while they reason."""


def chat_params(provider: str, model: str, settings: ModelSettings) -> dict[str, Json]:
    """The settings as parameters of Chat Completions. Raises `ConfigError`."""
    name = f"{provider}:{model}"
    keys = CHAT.get(provider, _USUAL)
    _check(provider, model, settings)
    if provider == "openrouter" and settings.effort and settings.reasoning_tokens:
        message = f"{name} takes either effort or reasoning_tokens: leave one out"
        raise ConfigError(message, field="reasoning_tokens")
    if provider == "deepseek" and settings.effort == "none":
        keys = {**keys, "effort": Key("thinking.type", {"none": "disabled"})}
    elif provider == "deepseek" and settings.effort and settings.temperature is not None:
        raise _while_reasoning(name, "temperature")
    return native(name, settings, keys)


def responses_params(provider: str, model: str, settings: ModelSettings) -> dict[str, Json]:
    """The settings as parameters of the Responses API. Raises `ConfigError`."""
    _check(provider, model, settings)
    return native(f"{provider}:{model}", settings, RESPONSES)


def completions_params(provider: str, model: str, settings: ModelSettings) -> dict[str, Json]:
    """The settings as parameters of plain completions. Raises `ConfigError`."""
    return native(f"{provider}:{model}", settings, _USUAL)


def _check(provider: str, model: str, settings: ModelSettings) -> None:
    """Raise `ConfigError` for what a model of OpenAI's does not take while it reasons."""
    if not is_openai(provider):
        return
    at_will = settings.effort not in {None, "none"} and _REASONS_AT_WILL.match(model)
    if not (_ALWAYS_REASONS.match(model) or at_will):
        return
    for field in _NOT_REASONING:
        if getattr(settings, field) not in {None, ()}:
            raise _while_reasoning(f"{provider}:{model}", field)


def _while_reasoning(name: str, field: str) -> ConfigError:
    return ConfigError(f"{name} takes no {field} while it reasons: leave it out", field=field)
