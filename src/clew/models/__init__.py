"""Models: whatever completes a prompt. `resolve("provider:model")` finds one by its name.

By hand they are made by `clew.models.openai.chat`, `.responses` and `.completions`, by
`clew.models.anthropic.messages` and `clew.models.gemini.model`; each stands on its extra. Which
models there are says `clew.models.catalog`.
"""

from clew.models.http.rate_limit import Rate
from clew.models.prices import Price, price
from clew.models.provider import Provider
from clew.models.resolve import OFFLINE, ProviderInfo, aliases, available, default_model, resolve

__all__ = [
    "OFFLINE",
    "Price",
    "Provider",
    "ProviderInfo",
    "Rate",
    "aliases",
    "available",
    "default_model",
    "price",
    "resolve",
]
