"""What tokens cost: the list of the package `genai-prices`, and the user's own figures before it.

The package holds a list that its authors keep; nothing is fetched. A price is taken from it only
where that is certain: the model is in it by its name, is charged by tokens of text, and costs the
same at every hour. Other models have no price, and what they cost stays unknown (it is never taken
for nothing). Say what you really pay with `prices={"model": Price(...)}`.
"""

import importlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, cast

import msgspec

from clew.core.contents import Reply, Usage
from clew.core.specs import Rates
from clew.support.errors import ConfigError
from clew.support.nearest_name import did_you_mean, nearest
from clew.support.settings import check_fields

LOCAL: Final = frozenset({"ollama", "llamacpp", "vllm", "lmstudio"})
"""Providers that run on one's own machine: their tokens cost nothing."""

UNLISTED: Final = frozenset({"azure", "openrouter"})
"""Providers whose names for models say nothing of prices: deployments, and routes to others."""

RESOLD: Final[Mapping[str, str]] = {"google": "claude"}
"""Models of others that a provider serves over another API, by how their names begin."""

_UNITS: Final[Mapping[str, str]] = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "written": "cache_write_mtok",
}
"""Where a `Price` stands in the package's list."""

_OTHER: Final = re.compile(
    r"output_(audio|image|video|reasoning|citation)|input_image|.*(hours|requests|messages|mchars)"
)
"""What a model is charged for besides, and no reply tells: then its tokens alone are no price."""


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens; `cached` is for tokens read from a cache (None: like `input`).

    `written` is for tokens written to it (None: like `input`). A prompt of more than `long` tokens
    is charged by the tariff `beyond`; without one its input costs twice and its output one and a
    half times as much (the tariff of OpenAI and Google for long prompts).
    """

    input: float
    output: float
    cached: float | None = None
    long: int | None = None
    written: float | None = None
    beyond: "Price | None" = None

    def __post_init__(self) -> None:
        """Refuse what is no price."""
        for name in ("input", "output", "cached", "written"):
            each = getattr(self, name)
            if isinstance(each, int | float) and not 0 <= each < float("inf"):
                message = f"a price of {each:g}: give US dollars per million tokens"
                raise ConfigError(message, field=name)
        check_fields(self)

    def cost(self, usage: Usage) -> float:
        """The cost of one reply's tokens in US dollars."""
        long = self.long is not None and usage.input > self.long
        if long and self.beyond is not None:
            return self.beyond.cost(usage)
        cached = self.input if self.cached is None else self.cached
        kept = self.input if self.written is None else self.written
        read = (usage.input - usage.cached - usage.written) * self.input
        read += usage.cached * cached + usage.written * kept
        output_cost = usage.output * self.output
        if long:
            read, output_cost = 2 * read, 1.5 * output_cost
        return (read + output_cost) / 1_000_000

    @property
    def rates(self) -> Rates:
        """The price of a token of a prompt that is not long, to estimate a call."""
        return Rates(self.input, self.output, self.input if self.cached is None else self.cached)


FREE: Final = Price(0.0, 0.0)
FORMAT: Final = re.compile(r"-(?:responses|completions)$")
BATCH: Final = "batch:"
"""Stands before the name of a model that is asked in batches: it is the same model."""

DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


def price(provider: str, model: str, own: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model: from `own`, else from the package's list, else None.

    A name with a date or `-latest` behind it that has no entry of its own is looked up without; a
    name that only begins alike is another model. Local providers are free. What a provider's other
    formats cost (`openai-responses`) is what its models cost.
    """
    provider = FORMAT.sub("", provider)
    names = (model, DATED.sub("", model))
    for name in names:
        if (known := (own or {}).get(name)) is not None:
            return known
    if provider in LOCAL:
        return FREE
    table = listed(provider)
    return next((table[name.lower()] for name in names if name.lower() in table), None)


def unprefixed(model: str) -> tuple[str, str]:
    """The provider and the model of a name, which may say that the model is asked in batches."""
    provider, _, name = model.removeprefix(BATCH).partition(":")
    return provider, name


def is_priced_by(model: str, own: Iterable[str]) -> bool:
    """Whether one of the names in a table of prices is the model's, be it without its date."""
    return not {model, DATED.sub("", model)}.isdisjoint(own)


def check_own(models: Sequence[str], own: Collection[str]) -> None:
    """Raise `ConfigError` for a table of prices that says nothing of these models."""
    if not own or any(is_priced_by(model, own) for model in models):
        return
    near = next((one for one in own if nearest(one, models)), None)
    if near is None:
        message = f"prices are of {next(iter(own))!r}, and the model is {models[0]!r}: name that"
    else:
        message = f"prices are of {near!r}, which is not used: {did_you_mean(near, models, '')}"
    raise ConfigError(message)


def listed_models(provider: str) -> list[Any]:
    """The models of a provider in the package's list, without those that it resells."""
    try:
        snapshot = importlib.import_module("genai_prices.data_snapshot")  # dear to import
    except ImportError:
        return []
    return [
        model
        for each in snapshot.get_snapshot().providers
        if each.id == provider and provider not in UNLISTED
        for model in each.models
        if model.is_match(model.id) and not model.id.startswith(RESOLD.get(provider, "*"))
    ]


@cache
def listed(provider: str) -> Mapping[str, Price]:
    """What the models of a provider cost, by the package's list; nothing where it is missing."""
    prices = {model.id.lower(): _price(model) for model in listed_models(provider)}
    return {name: tariff for name, tariff in prices.items() if tariff is not None}


def _price(model: Any) -> Price | None:
    """What a model of the list costs today, where its tokens say it."""
    match model.prices:
        case [*choices] if any(hasattr(choice.constraint, "start_time") for choice in choices):
            return None  # it depends on the hour
        case _:
            pass
    units = cast("dict[str, Any]", vars(model.get_prices(datetime.now(UTC))))
    charged = {unit for unit, value in units.items() if value is not None}
    if not charged >= {"input_mtok", "output_mtok"} or any(map(_OTHER.match, charged)):
        return None
    values: dict[str, Any] = {field: units.get(unit) for field, unit in _UNITS.items()}
    steps: set[int] = {
        tier.start for value in values.values() for tier in getattr(value, "tiers", ())
    }
    tariff: Price | None = None
    above: int | None = None
    for start in sorted({0, *steps}, reverse=True):
        prices = {field: _from(value, start) for field, value in values.items()}
        tariff = Price(**prices, long=above, beyond=tariff)  # type: ignore[arg-type]  # in and out are there
        above = start
    return tariff


def _from(value: Any, tokens: int) -> float | None:
    """A price of the list, for prompts of more than so many tokens."""
    if value is None:
        return None
    if not hasattr(value, "tiers"):
        return float(value)
    fitting = [tier.price for tier in value.tiers if tier.start <= tokens]
    return float(fitting[-1] if fitting else value.base)


def priced(reply: Reply, of: Price | None) -> Reply:
    """The reply with what it cost, where the price is known."""
    if of is None:
        return reply
    usage = msgspec.structs.replace(reply.usage, cost=of.cost(reply.usage))
    return msgspec.structs.replace(reply, usage=usage)
