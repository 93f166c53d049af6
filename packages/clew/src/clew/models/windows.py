"""How many tokens a model takes at once: by the list of the package `genai-prices`."""

from collections.abc import Mapping
from functools import cache

from clew.models.prices import DATED, FORMAT, listed_models


def window(provider: str, model: str) -> int | None:
    """The window of a model in tokens; None where the list does not know it."""
    known = _windows(FORMAT.sub("", provider))
    return next(
        (known[name] for name in (model.lower(), DATED.sub("", model).lower()) if name in known),
        None,
    )


@cache
def _windows(provider: str) -> Mapping[str, int]:
    return {
        model.id.lower(): model.context_window
        for model in listed_models(provider)
        if model.context_window
    }
