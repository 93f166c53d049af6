"""Where Gemini takes a model's settings: in `generationConfig`.

Formats: https://ai.google.dev/api/generate-content, and for thinking
https://ai.google.dev/gemini-api/docs/thinking.
"""

import re
from typing import Final

from clew.core.values import Json
from clew.models.settings import Key, Keys, native, words
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings

KEYS: Final[Keys] = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "seed": "seed",
    "effort": words("thinkingConfig.thinkingLevel", "minimal", "low", "medium", "high"),
    "reasoning_tokens": "thinkingConfig.thinkingBudget",
}

_OLDER: Final[Keys] = {**KEYS, "effort": Key("thinkingConfig.thinkingBudget", {"none": 0})}
"""Before Gemini 3 there are no levels: only a budget, and none."""

_BUDGETS: Final = re.compile(r"(?:.*/)?gemini-[12]\b")


def gemini_params(provider: str, model: str, settings: ModelSettings) -> dict[str, Json]:
    """The settings as parameters of `generateContent`. Raises `ConfigError`."""
    name = f"{provider}:{model}"
    if settings.effort and settings.reasoning_tokens is not None:
        message = f"{name} takes either effort or reasoning_tokens: leave one out"
        raise ConfigError(message, field="reasoning_tokens")
    return native(name, settings, _OLDER if _BUDGETS.match(model) else KEYS)
