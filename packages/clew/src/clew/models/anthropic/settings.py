"""Where Anthropic's Messages take a model's settings.

Formats: https://platform.claude.com/docs/en/api/messages, and for thinking
https://platform.claude.com/docs/en/build-with-claude/extended-thinking.
"""

import re
from typing import Final

from clew.core.values import Json
from clew.models.settings import Key, Keys, native, words
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings

KEYS: Final[Keys] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "stop": "stop_sequences",
    "effort": words("output_config.effort", "low", "medium", "high", "xhigh", "max"),
    "reasoning_tokens": Key("thinking.budget_tokens", beside={"thinking.type": "enabled"}),
    "cache": Key("", {"off": None, "short": None, "long": None}),  # marks in the prompt
}

_NO_EFFORT: Final = Key("thinking.type", {"none": "disabled"})

_ADAPTIVE: Final = re.compile(
    r"(?:.*/)?claude-(?:(?:opus|sonnet)-4-(?:[6-9]|\d\d(?!\d))|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)"
)
"""Models that think as much as they are to, where they are told how much effort to take."""

_EFFORT_ALONE: Final = re.compile(
    r"(?:.*/)?claude-(?:opus-4-(?:[7-9]|\d\d(?!\d))|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)"
)
"""Models that choose how they sample and how long they think: they take an effort alone."""

_MIN_BUDGET: Final = 1_024


def messages_params(provider: str, model: str, settings: ModelSettings) -> dict[str, Json]:
    """The settings as parameters of Messages. Raises `ConfigError`."""
    name, thinks = f"{provider}:{model}", settings.reasoning_tokens is not None
    if _EFFORT_ALONE.match(model):
        for field in ("temperature", "top_p", "reasoning_tokens"):
            if getattr(settings, field) is not None:
                message = f"{name} takes no {field}: leave it out, or say effort"
                raise ConfigError(message, field=field)
    if settings.temperature is not None and settings.temperature > 1:
        raise ConfigError(f"{name} takes a temperature of 0 to 1", field="temperature")
    if (budget := settings.reasoning_tokens) is not None and budget < _MIN_BUDGET:
        message = f"{name} takes reasoning_tokens of {_MIN_BUDGET:,} or more"
        raise ConfigError(message, field="reasoning_tokens")
    if thinks and settings.temperature not in {None, 1}:
        message = f"{name} takes no temperature but 1 while it reasons: leave it out"
        raise ConfigError(message, field="temperature")
    if thinks and settings.top_p is not None and settings.top_p < 0.95:
        message = f"{name} takes a top_p of 0.95 to 1 while it reasons: leave it out"
        raise ConfigError(message, field="top_p")
    keys = {**KEYS, "effort": _NO_EFFORT} if settings.effort == "none" else KEYS
    if thinks and settings.effort == "none":
        message = f"{name}: effort is 'none', which leaves no reasoning_tokens: leave one out"
        raise ConfigError(message, field="effort")
    params = native(name, settings, keys)
    if "output_config" in params and settings.effort and _ADAPTIVE.match(model):
        params.setdefault("thinking", {"type": "adaptive"})
    return params
