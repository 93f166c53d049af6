"""A model whose replies come from its provider's batch interface: hours later, at half the price."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from clew.core.events import Reply
from clew.core.interfaces import ModelInfo, OnText, Prompt
from clew.models.batches.anthropic import AnthropicBatches
from clew.models.batches.http import BatchHttp
from clew.models.batches.interface import WAIT, BatchApi, Timing
from clew.models.batches.ledger import Ledger, ledger_at
from clew.models.batches.openai import OpenAIBatches
from clew.models.batches.transport import BatchTransport
from clew.models.batches.waves import Waves
from clew.models.http.endpoint import Endpoint, Transport, current_loop
from clew.models.http.sdk_client import Posting
from clew.models.prices import Price
from clew.models.resolve import resolve
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings

PREFIX: Final = "batch"
DISCOUNT: Final = 0.5
"""The part of the price that both providers take off for what comes in batches."""

PROVIDERS: Final = ("openai", "openai-responses", "anthropic")


class Batched:
    """A model that is asked in batches: `batch:provider:model`.

    Requests of all runs that wait in this process are handed in together; runs go on as their
    replies come, up to 24 hours later, so start many at once. What was handed in is in a ledger on
    disk: a run that is resumed gets its reply, and nothing is paid twice.

    Args:
        model: A model of `openai`, `openai-responses` or `anthropic`, or its name.
        ledger: The ledger's file; None: that of `$CLEW_BATCHES`, or `batches.sqlite` in the user's
            data folder.
        discount: The part of the price that a batch saves; where `prices` are among the options,
            they are taken for what you pay, and it is 0.
        gather: Seconds without a new request after which those that wait are handed in.
        poll: Seconds between two looks at a batch.
        settle: Seconds after which a batch that the provider's list does not have was never
            handed in, where nobody saw the end of that.
        requests: The most requests of a batch; the provider's own limit is the highest.
        options: As for the model itself (`clew.models.resolve`).

    Raises `ConfigError` for a model without a batch interface, or a figure that cannot be meant.
    """

    def __init__(
        self,
        model: str | Endpoint,
        *,
        ledger: str | Path | None = None,
        discount: float | None = None,
        gather: float = 10.0,
        poll: float = 30.0,
        settle: float = 60.0,
        requests: int | None = None,
        **options: Any,
    ) -> None:
        check_argument("model", model, (str, Endpoint), 'a name as "openai:gpt-4.1-mini"')
        if isinstance(model, str):
            options = _without_names(model, options)
            model = cast("Endpoint", resolve(model, **options))
        off = (0.0 if options.get("prices") else DISCOUNT) if discount is None else discount
        if not 0 <= off < 1:
            raise ConfigError(f"discount is {off}: give a part of the price, from 0 to below 1")
        for name, seconds in (("gather", gather), ("poll", poll), ("settle", settle)):
            if not 0 <= seconds < math.inf:
                raise ConfigError(f"{name} is {seconds}: give a number of seconds")
        if requests is not None and requests < 1:
            raise ConfigError(f"requests is {requests}: give 1 or more")
        timing = Timing(gather, poll, settle, math.inf if requests is None else requests)
        self._make(model, _Room(ledger_at(ledger), timing, off))

    def _make(self, live: Endpoint, room: "_Room") -> None:
        _check_provider(live)
        self._live, self._room = live, room
        self._endpoint = live.through(
            lambda posting: room.transport(live, posting),
            name=f"{PREFIX}:{live.info.name}",
            price=lambda price: discounted(price, 1 - room.discount),
            wait=WAIT,
        )

    @property
    def info(self) -> ModelInfo:
        """What is known of it beforehand; its prices are those of batches."""
        return self._endpoint.info

    def with_settings(self, settings: ModelSettings) -> "Batched":
        """The model with these settings over its own; both wait for the same batches."""
        made = object.__new__(Batched)
        made._make(self._live.with_settings(settings), self._room)  # noqa: SLF001 - another one of this class
        return made

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt in the next batch; `on_text` gets the text in one piece.

        Raises `ModelError` as the model itself does; what was handed in stays.
        """
        reply = await self._endpoint.complete(prompt)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    async def close(self) -> None:
        """Close the connections; what was handed in goes on."""
        await self._endpoint.close()


class _Room:
    """What a model and those made of it by other settings share."""

    def __init__(self, ledger: Ledger, timing: Timing, discount: float) -> None:
        self.ledger = ledger
        self.timing = timing
        self.discount = discount

    def transport(self, live: Endpoint, posting: Transport) -> Transport:
        """The transport of an event loop, over the client that is made for it."""
        source, path, model = live.asked_at
        scope = "\n".join((source.base_url, path, model))
        name = f"{PREFIX}:{live.info.name}"

        def waves() -> Waves:
            mine = _WAVES.setdefault(self.ledger, {})
            loop = current_loop()
            at = (id(loop), scope)
            if at not in mine or mine[at][0] is not loop:
                mine[at] = loop, Waves(self.ledger, scope, source, name, self.timing)
            return mine[at][1]

        client = cast("Posting", posting)
        return BatchTransport(client, _batch_api(live, BatchHttp(client), path), waves)


_WAVES: Final[WeakKeyDictionary[Ledger, dict[tuple[int, str], tuple[object, Waves]]]] = (
    WeakKeyDictionary()
)
"""The waves of each ledger, by event loop and by model: models of other settings share them."""


def _batch_api(live: Endpoint, http: BatchHttp, path: str) -> BatchApi:
    if live.info.name.startswith("anthropic:"):
        return AnthropicBatches(http)
    return OpenAIBatches(http, path)


def _check_provider(live: object) -> None:
    name = live.info.name if isinstance(live, Endpoint) else type(live).__name__
    if isinstance(live, Endpoint) and name.partition(":")[0] in PROVIDERS:
        return
    message = f"{PREFIX}:{name}: clew knows the batch interfaces of {', '.join(PROVIDERS)}"
    raise ConfigError(f"{message}: name a model of one of these, or leave {PREFIX}: out")


def _without_names(model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options; what the rate of single requests is says nothing of batches, and prices may
    name the model with its provider.
    """
    cleaned = {name: value for name, value in options.items() if name != "rate"}
    provider = f"{model.partition(':')[0]}:"
    if prices := cleaned.get("prices"):
        cleaned["prices"] = {key.removeprefix(provider): it for key, it in prices.items()}
    return cleaned


def discounted(price: Price, share: float) -> Price:
    """So much of a price, for all kinds of tokens: both providers take the same part off of each."""
    return Price(
        price.input * share,
        price.output * share,
        None if price.cached is None else price.cached * share,
        price.long,
        None if price.written is None else price.written * share,
        None if price.beyond is None else discounted(price.beyond, share),
    )
