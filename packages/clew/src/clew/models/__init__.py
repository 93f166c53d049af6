"""Models: `resolve("provider:model")` finds one by name.

To create one yourself use `clew.models.openai.chat`, `.responses` or `.completions`,
`clew.models.anthropic.messages`, `clew.models.gemini.model` or `clew_local`; each needs
its extra.
"""

from clew.models.prices import Price, price
from clew.models.provider import Downloads, Offered, Provider
from clew.models.rate import Rate
from clew.models.resolve import (
    OFFLINE,
    ProviderInfo,
    aliases,
    available,
    default_model,
    provider_of,
    resolve,
)
from clew.support.errors import TooLongError

__all__ = [
    "OFFLINE",
    "Downloads",
    "Offered",
    "Price",
    "Provider",
    "ProviderInfo",
    "Rate",
    "TooLongError",
    "aliases",
    "available",
    "default_model",
    "price",
    "provider_of",
    "resolve",
]
