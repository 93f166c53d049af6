"""Models: whatever completes a prompt. `resolve("provider:model")` finds one by its name.

By hand they are made by `clew.models.openai.chat`, `.responses` and `.completions`, by
`clew.models.anthropic.messages` and `clew.models.gemini.model`; each stands on its extra.
"""

from clew.models.http.rate_limit import Rate
from clew.models.prices import Price
from clew.models.provider import Provider
from clew.models.resolve import ProviderInfo, available, resolve

__all__ = ["Price", "Provider", "ProviderInfo", "Rate", "available", "resolve"]
