"""A model whose replies come from its provider's batch interface: later, at half the price."""

import hashlib
import math
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from weakref import WeakKeyDictionary

from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.models.batches.anthropic import AnthropicBatches
from clew.models.batches.canceling import cancel
from clew.models.batches.http import BatchHttp
from clew.models.batches.interface import WAIT, BatchApi, Timing
from clew.models.batches.ledger import Ledger, ledger_at
from clew.models.batches.openai import OpenAIBatches
from clew.models.batches.transport import BatchTransport
from clew.models.batches.waves import Asker, Waves
from clew.models.http.endpoint import Endpoint, Transport, current_loop
from clew.models.http.sdk_client import Posting
from clew.models.prices import Price, listed
from clew.models.resolve import resolve
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings
from clew.support.nearest_name import nearest
from clew.support.wings import MODELS, names

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
        options: As for the model itself (`clew.models.resolve`); its `rate` is that of single
            requests, and counts nothing here.

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
            _check_name(model)
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
        _check_provider(model)
        self._ways = ways = _Ways(model, ledger_at(ledger), timing)
        self._endpoint = model.through(
            ways.transport,
            name=ways.name,
            price=lambda price: discounted(price, 1 - off),
            wait=WAIT,
        )

    @property
    def info(self) -> ModelInfo:
        """What is known of it beforehand; its prices are those of batches."""
        return self._endpoint.info

    def with_settings(self, settings: ModelSettings) -> "Batched":
        """The model with these settings over its own; both wait for the same batches."""
        made = object.__new__(Batched)
        made._ways, made._endpoint = self._ways, self._endpoint.with_settings(settings)
        return made

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt in the next batch; `on_text` gets the text in one piece.

        Raises `ModelError` as the model itself does; what was handed in stays.
        """
        reply = await self._endpoint.complete(prompt)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    async def cancel(self, batch: str) -> None:
        """Have the provider do no more of a batch of this model; what is done stays, and is paid.

        Its runs learn it when they look next, or when they are resumed. Raises `ConfigError` where
        no batch of such an id is out, and `ModelError` where the provider refuses, or the batch was
        handed in with another key.
        """
        await self._ways.cancel(cast("BatchTransport", self._endpoint.carrier()).api, batch)

    async def close(self) -> None:
        """Close the connections; what was handed in goes on."""
        await self._endpoint.close()


class _Ways:
    """How the requests of a model go, and of those made of it by other settings."""

    def __init__(self, live: Endpoint, ledger: Ledger, timing: Timing) -> None:
        self.name = f"{PREFIX}:{live.info.name}"
        self._source, self._path, model = live.asked_at
        self._account = live.account
        scope = f"{self._source.base_url}\n{self._path}\n{model}"
        payer = hashlib.blake2b(repr(live.account).encode(), digest_size=4).hexdigest()
        self._who = Asker(scope, payer, self.name)
        self._anthropic = live.info.name.startswith("anthropic:")
        self._ledger = ledger
        self._timing = timing

    def transport(self, posting: Transport) -> Transport:
        """The transport of an event loop, over the client that is made for it."""
        client = cast("Posting", posting)
        http = BatchHttp(client)
        api: BatchApi = (
            AnthropicBatches(http) if self._anthropic else OpenAIBatches(http, self._path)
        )
        return BatchTransport(client, api, self._waves)

    async def cancel(self, api: BatchApi, batch: str) -> None:
        """Give a batch up. Raises `ConfigError` and `ModelError`."""
        await cancel(api, self._ledger, self._who, self._source, batch)

    def _waves(self) -> Waves:
        """Those of this event loop, which models of the same name, address and account share."""
        waves, loop = _WAVES.setdefault(self._ledger, {}), current_loop()
        at = (id(loop), self._who.scope, self._account, self._timing)
        if at not in waves or waves[at][0] is not loop:
            made = Waves(self._ledger, self._who, self._source, self._timing)
            waves[at] = loop, made
        return waves[at][1]


_At: TypeAlias = tuple[int, str, tuple[tuple[str, str], ...], Timing]
"""Event loop, model at an address, who pays, and how long is waited."""

_WAVES: Final[WeakKeyDictionary[Ledger, dict[_At, tuple[object, Waves]]]] = WeakKeyDictionary()
"""The waves of each ledger: models of other settings share them, those of other accounts do not."""


def _check_name(name: str) -> None:
    """Raise `ConfigError` for what names no model of one, before a key is asked for."""
    provider, colon, model = name.partition(":" if ":" in name else "/")
    wrong = repr(f"{PREFIX}:{name}")
    if provider in PROVIDERS and colon == ":" and model:
        return
    if makers := [maker for maker in PROVIDERS if name in listed(maker)]:
        provider, model = makers[0], name
    elif provider not in names(MODELS):
        provider = nearest(provider, PROVIDERS) or provider
    if provider in PROVIDERS and model:
        raise ConfigError(f"unknown model {wrong}: did you mean {PREFIX}:{provider}:{model}?")
    if provider in PROVIDERS or not name:
        message = f"{wrong} names no model: write {PREFIX}:{provider or PROVIDERS[0]}:MODEL"
        raise ConfigError(message)
    raise _no_batches(name)


def _check_provider(live: object) -> None:
    name = live.info.name if isinstance(live, Endpoint) else type(live).__name__
    if isinstance(live, Endpoint) and name.partition(":")[0] in PROVIDERS:
        return
    raise _no_batches(name)


def _no_batches(name: str) -> ConfigError:
    message = f"{PREFIX}:{name}: clew knows the batch interfaces of {', '.join(PROVIDERS)}"
    return ConfigError(f"{message}: name a model of one of these, or leave {PREFIX}: out")


def discounted(price: Price, share: float) -> Price:
    """So much of a price, for all kinds of tokens: both providers take as much off of each."""
    return Price(
        price.input * share,
        price.output * share,
        None if price.cached is None else price.cached * share,
        price.long,
        None if price.written is None else price.written * share,
        None if price.beyond is None else discounted(price.beyond, share),
    )
