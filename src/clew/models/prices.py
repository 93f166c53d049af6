"""What tokens cost: a dated table, and the user's own figures before it.

Prices age, and these were not read off the providers' own pages: the table was put together in
November 2026 from copies of the price lists of OpenAI, Anthropic (as others checked them on
24 October 2026) and Google (as others read them on 7 October 2026; of its models that are cheaper
for a while the usual price) and public posts of 2026, and is not fetched again. Compare
https://developers.openai.com/api/docs/pricing, https://claude.com/pricing and
https://ai.google.dev/gemini-api/docs/pricing, and say what you really pay with
`prices={"model": Price(...)}`. Models that are not in it have no price, and what they cost stays
unknown (it is never taken for nothing); providers whose price depends on the hour or on a routing
of their own (DeepSeek, OpenRouter …) are left out on purpose.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from clew.errors import ConfigError
from clew.events import Rates, Reply, Usage

COLLECTED: Final = "2026-11-05"
"""The day the table was put together, from second-hand sources."""

LOCAL: Final = frozenset({"ollama", "llamacpp", "vllm", "lmstudio"})
"""Providers that run on one's own machine: their tokens cost nothing."""


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens; `cached` (None: like `input`) is for those read from a cache.

    `written` (None: like `input`) is for those written to it. Where a prompt has more than `long`
    tokens, all that it took is charged by the tariff `beyond`; without one its input costs twice
    and its output one and a half times as much (the tariff of OpenAI and Google for long prompts).
    """

    input: float
    output: float
    cached: float | None = None
    long: int | None = None
    written: float | None = None
    beyond: "Price | None" = None

    def __post_init__(self) -> None:
        """Refuse what is no price."""
        for each in (self.input, self.output, self.cached, self.written):
            if each is not None and not 0 <= each < float("inf"):
                raise ConfigError(f"a price of {each:g}: give US dollars per million tokens")

    def cost(self, usage: Usage) -> float:
        """What the tokens of one reply cost, in US dollars."""
        long = self.long is not None and usage.input > self.long
        if long and self.beyond is not None:
            return self.beyond.cost(usage)
        cached = self.input if self.cached is None else self.cached
        kept = self.input if self.written is None else self.written
        read = (usage.input - usage.cached - usage.written) * self.input
        read += usage.cached * cached + usage.written * kept
        said = usage.output * self.output
        if long:
            read, said = 2 * read, 1.5 * said
        return (read + said) / 1_000_000

    @property
    def rates(self) -> Rates:
        """What a token of a prompt that is not long costs, to estimate a call by."""
        return Rates(self.input, self.output, self.input if self.cached is None else self.cached)


FREE: Final = Price(0.0, 0.0)
_LONG: Final = 272_000


def _claude(input_: float, output: float, cached: float) -> Price:
    """Anthropic's tariff: what is kept for five minutes costs a quarter more to write."""
    return Price(input_, output, cached, written=1.25 * input_)


TABLE: Final[Mapping[str, Mapping[str, Price]]] = {
    "openai": {
        "gpt-6-astra": Price(10.0, 50.0, 1.0, _LONG),
        "gpt-6-sol": Price(2.0, 10.0, 0.2, _LONG),
        "gpt-6-luna": Price(0.1, 0.5, 0.01, _LONG),
        "gpt-5.6-sol": Price(4.0, 20.0, 0.4, _LONG),
        "gpt-5.6-terra": Price(2.0, 12.0, 0.2, _LONG),
        "gpt-5.6-luna": Price(0.2, 1.2, 0.02, _LONG),
        "gpt-5.5": Price(5.0, 30.0, 0.5, _LONG),
        "gpt-5.4": Price(2.5, 15.0, 0.25, _LONG),
        "gpt-5.4-mini": Price(0.75, 4.5, 0.075),
        "gpt-5.4-nano": Price(0.2, 1.25, 0.02),
        "gpt-5.2": Price(1.75, 14.0, 0.175),
        "gpt-5.1": Price(1.25, 10.0, 0.125),
        "gpt-5": Price(1.25, 10.0, 0.125),
        "gpt-5-mini": Price(0.25, 2.0, 0.025),
        "gpt-5-nano": Price(0.05, 0.4, 0.005),
        "gpt-4.1": Price(2.0, 8.0, 0.5),
        "gpt-4.1-mini": Price(0.4, 1.6, 0.1),
        "gpt-4.1-nano": Price(0.1, 0.4, 0.025),
        "gpt-4o": Price(2.5, 10.0, 1.25),
        "gpt-4o-2024-05-13": Price(5.0, 15.0),
        "gpt-4o-mini": Price(0.15, 0.6, 0.075),
        "gpt-4-turbo": Price(10.0, 30.0),
        "gpt-4": Price(30.0, 60.0),
        "gpt-3.5-turbo": Price(0.5, 1.5),
        "gpt-3.5-turbo-1106": Price(1.0, 2.0),
        "o1": Price(15.0, 60.0, 7.5),
        "o3": Price(2.0, 8.0, 0.5),
        "o3-mini": Price(1.1, 4.4, 0.55),
        "o4-mini": Price(1.1, 4.4, 0.275),
    },
    "anthropic": {
        "claude-fable-5-1": _claude(10.0, 50.0, 0.25),
        "claude-mythos-5-1": _claude(10.0, 50.0, 0.25),
        "claude-fable-5": _claude(10.0, 50.0, 1.0),
        "claude-mythos-5": _claude(10.0, 50.0, 1.0),
        "claude-opus-5-5": _claude(4.0, 20.0, 0.2),
        "claude-opus-5": _claude(5.0, 25.0, 0.5),
        "claude-opus-4-8": _claude(5.0, 25.0, 0.5),
        "claude-opus-4-7": _claude(5.0, 25.0, 0.5),
        "claude-opus-4-6": _claude(5.0, 25.0, 0.5),
        "claude-opus-4-5": _claude(5.0, 25.0, 0.5),
        "claude-sonnet-5-5": _claude(2.0, 10.0, 0.1),
        "claude-sonnet-5": _claude(2.0, 10.0, 0.2),
        "claude-sonnet-4-6": _claude(3.0, 15.0, 0.3),
        "claude-sonnet-4-5": _claude(3.0, 15.0, 0.3),
        "claude-haiku-5-5": Price(
            0.1, 0.5, 0.01, 100_000, written=0.125, beyond=_claude(0.5, 2.5, 0.05)
        ),
        "claude-haiku-4-5": _claude(1.0, 5.0, 0.1),
    },
    "google": {  # text in and out; storing a cache costs by the hour, which no reply tells
        "gemini-3.8-flash": Price(1.5, 7.5, 0.15),  # half of it until 31 December 2026
        "gemini-3.5-flash": Price(1.5, 9.0, 0.15),
        "gemini-3.5-flash-lite": Price(0.3, 2.5, 0.03),
        "gemini-3.1-pro-preview": Price(2.0, 12.0, 0.2, 200_000),
        "gemini-3.1-flash-lite": Price(0.25, 1.5, 0.025),
        "gemini-3-flash-preview": Price(0.5, 3.0, 0.05),
        "gemini-2.5-pro": Price(1.25, 10.0, 0.125, 200_000),
        "gemini-2.5-flash": Price(0.3, 2.5, 0.03),
        "gemini-2.5-flash-lite": Price(0.1, 0.4, 0.01),
    },
}

_FORMAT: Final = re.compile(r"-(?:responses|completions)$")
_DATE: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


def price(provider: str, model: str, own: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model: from `own`, else from the table, else None.

    A name with a date or `-latest` behind it that has no entry of its own is looked up without; a
    name that only begins alike is another model. Local providers are free. What a provider's other
    formats cost (`openai-responses`) is what its models cost.
    """
    provider = _FORMAT.sub("", provider)
    for table in (own or {}, TABLE.get(provider, {})):
        for name in (model, _DATE.sub("", model)):
            if (found := table.get(name)) is not None:
                return found
    return FREE if provider in LOCAL else None


def priced(reply: Reply, of: Price | None) -> Reply:
    """The reply with what it cost, where the price is known."""
    if of is None:
        return reply
    usage = msgspec.structs.replace(reply.usage, cost=of.cost(reply.usage))
    return msgspec.structs.replace(reply, usage=usage)
