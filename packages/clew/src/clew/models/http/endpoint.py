"""A model behind HTTP: encode the prompt, send it, read the reply, try again; for all providers.

What differs is an `Api` (how a provider's requests are written and its replies read) and a
`Transport` (its official client, which knows addresses, keys and statuses). A provider is those two
and a function that puts them together.

The carriers send pre-encoded bytes and hand back unread ones: walking the whole conversation
through a client's typed parameters at every step is what makes long runs slow. Their own retries
are off; `retry.persist` does all of them, those after a malformed reply or a cut stream included.
"""

import contextlib
import copy
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, Self, TypedDict, TypeVar

import anyio
import anyio.lowlevel
import httpx2
import msgspec

from clew.core.contents import Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Retry
from clew.core.values import Json
from clew.models.complaints import (
    about_the_prompt,
    answer,
    demanded,
    last_resort,
    takes_no_tools,
    unreadable,
)
from clew.models.history import WORDS, History, family
from clew.models.http.failures import (
    BadReplyError,
    FailureSource,
    LostError,
    ProviderError,
    SilentError,
    StatusError,
    failure,
)
from clew.models.http.rate_limit import RequestQueue, pace_of
from clew.models.http.reply_builder import Ask, ReplyBuilder, name_repairs, take, take_lines
from clew.models.http.retry import Busy, Sleep, TryAgain, persist
from clew.models.http.stream import Incoming, OversizeError, complete_body, pieces_of
from clew.models.http.unsupported import LeftOut
from clew.models.prices import Price, check_own, price, priced
from clew.models.rate import GivenRate, read_rate
from clew.models.reply_size import REPLY_BYTES, beginning
from clew.models.undercount import with_size
from clew.models.usage import estimate
from clew.models.validate import check_options, check_settings
from clew.models.windows import window
from clew.support.errors import ModelError, TooLongError
from clew.support.live import tell_again
from clew.support.model_settings import ModelSettings

__all__ = [
    "PATIENCE",
    "RETRIES",
    "TIMEOUT",
    "TOTAL",
    "Api",
    "Ask",
    "BadReplyError",
    "Endpoint",
    "HttpSettings",
    "Incoming",
    "LostError",
    "ReplyBuilder",
    "SilentError",
    "StatusError",
    "Transport",
    "current_loop",
]  # fmt: skip

T = TypeVar("T")

RETRIES: Final = Retry(times=5)
TIMEOUT: Final = 600.0
PATIENCE: Final = 120.0
TOTAL: Final = 900.0

_COMPLETE_TYPES: Final = ("application/json", "text/html")
"""What comes in one piece where a stream of events was asked for."""

DRAIN: Final = 0.5
"""Seconds to wait for the end of a stream after its last event, so that the connection is kept."""


class HttpSettings(TypedDict, total=False):
    """What all models behind HTTP may be told.

    `settings` are the model's; `prices` US dollars by model name, before those of the dated table;
    `retries` how often, and after which waits, a failed request is made
    again; `patience` seconds that all waits of one completion may take together, and for how long
    the provider may refuse everybody for being asked too much; `total` seconds that its requests
    may take together, but for a stream that has begun; `rate` what all runs of the process together
    may ask of the model; `headers` are sent with every request; `proxy` is the address of one, in
    the place of the environment's; `sleep` waits the given number of seconds.
    """

    settings: ModelSettings
    prices: Mapping[str, Price]
    retries: Retry
    patience: float
    total: float
    rate: GivenRate | None
    headers: Mapping[str, str]
    proxy: str
    sleep: Sleep


class Api(Protocol):
    """How one provider's requests are written and its replies read. No I/O."""

    @property
    def provider(self) -> str:
        """The name before the colon: it chooses prices and marks what is kept for this model."""
        ...

    @property
    def model(self) -> str:
        """The model's name at the provider."""
        ...

    @property
    def settings(self) -> ModelSettings:
        """What the model is told beside its prompts."""
        ...

    @property
    def params(self) -> Mapping[str, Json]:
        """The settings in the provider's words, and the extra ones."""
        ...

    def with_settings(self, settings: ModelSettings) -> Self:
        """The same with other settings. Raises `ConfigError` for one that the provider lacks."""
        ...

    @property
    def hint(self) -> str:
        """What to check where something else answers, such as "that of a … server"."""
        ...

    @property
    def takes(self) -> frozenset[str]:
        """Media types, or their beginnings, of attachments that its messages may show."""
        ...

    @property
    def in_results(self) -> frozenset[str]:
        """Of these, what the results of calls may show; the rest follows in a message."""
        ...

    @property
    def understood(self) -> frozenset[str]:
        """Of what `degrade` names, that which is about things that were said, not the server."""
        ...

    def path(self, *, stream: bool) -> str:
        """Where completions are asked for, after the address."""
        ...

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        """The request, leaving out what `degrade` named before; each part is encoded once."""
        ...

    def draft(self, prompt: Prompt, without: frozenset[str]) -> ReplyBuilder:
        """An empty draft of the reply to such a request."""
        ...

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        """What of the last request this refusal is about that a run can do without, or ""."""
        ...

    @property
    def repairs(self) -> frozenset[str]:
        """Which repairs of a conversation (`clew.models.history`) make a difference here."""
        ...


class Transport(Protocol):
    """An official client, for one event loop.

    Raises `StatusError`, `SilentError`, `LostError`, and `ModelError` for all else.
    """

    async def send(self, path: str, content: bytes) -> bytes:
        """Send a request and read the whole reply."""
        ...

    async def stream(self, path: str, content: bytes) -> Incoming:
        """Send a request and hand the reply over unread."""
        ...

    async def close(self) -> None:
        """Close the connections that were opened here."""
        ...


class Endpoint:
    """A model of a provider, as `provider:model`. `connect` makes a carrier for this event loop, of
    the seconds that it may wait.

    A server may refuse what a run can do without (the `Api` knows what); when its error names such
    a thing, it is left out from then on; in that run, where it is about what was said in it.

    A stream that breaks off is asked for again from the start. To `on_text` further attempts would
    be the rest of what it was told, so only those who follow the run are told of them. Where the
    last attempt broke off too, what it brought is the reply, with `finish` "cut".
    """

    def __init__(
        self,
        api: Api,
        source: FailureSource,
        connect: Callable[[float], Transport],
        settings: HttpSettings,
    ) -> None:
        check_options(f"{api.provider}:{api.model}", settings)
        check_settings(settings)
        self._api = api
        self._source = source
        self._connect = connect
        self._headers = dict(settings.get("headers") or {})
        self._way = f" through {source.proxy}" if source.proxy else ""
        check_own([api.model], settings.get("prices") or {})
        self._price = price(api.provider, api.model, settings.get("prices"))
        self.info = ModelInfo(
            f"{api.provider}:{api.model}",
            api.settings.recorded,
            priced=self._price is not None,
            rates=None if self._price is None else self._price.rates,
            window=window(api.provider, api.model),
            takes=api.takes,
            validate=self._validate,
        )
        self._timeout = api.settings.timeout or TIMEOUT
        self._retries = settings.get("retries", RETRIES)
        self._patience = settings.get("patience", PATIENCE)
        self._total = settings.get("total", TOTAL)
        self._pace = pace_of(
            self.info.name, source.base_url, source.key, read_rate(settings.get("rate"))
        )
        self._sleep = settings.get("sleep", anyio.sleep)
        self._carriers = _Carriers()
        self._left_out = LeftOut(
            self.info.name, api.understood, family(self.info.name) & api.repairs
        )
        self._history = History(api.takes, api.in_results)

    def with_settings(self, settings: ModelSettings) -> "Endpoint":
        """The model with these settings over its own; both keep one pace.

        They share their connections too, unless one waits longer than the other. Raises
        `ConfigError` for a setting that the provider has none of, by name.
        """
        merged = settings.over(self._api.settings)
        if merged == self._api.settings:
            return self
        made = copy.copy(self)
        made._tell(self._api.with_settings(merged))  # noqa: SLF001 - another one of this class
        return made

    def through(
        self,
        carry: Callable[[Transport], Transport],
        *,
        name: str,
        price: Callable[[Price], Price],
        wait: float,
    ) -> "Endpoint":
        """The same model, asked through what `carry` makes of its transport, under another name.

        It may be silent for as long as it likes, `wait` seconds as a rule, and has a pace and a
        price of its own.
        """
        made = copy.copy(self)
        made._carry(carry, name)  # noqa: SLF001 - another one of this class
        made._charge(price, wait)  # noqa: SLF001 - another one of this class
        return made

    def _carry(self, carry: Callable[[Transport], Transport], name: str) -> None:
        """Ask in this way from now on; nothing was asked yet."""
        connect, self._total = self._connect, math.inf

        def carried(seconds: float) -> Transport:
            return carry(connect(seconds))

        self._connect = carried
        self._carriers, self._pace = _Carriers(), RequestQueue(name)
        self.info = replace(self.info, name=name, validate=self._validate)

    def _charge(self, price: Callable[[Price], Price], wait: float) -> None:
        """Take this price, and this wait, from now on."""
        self._price = None if self._price is None else price(self._price)
        rates = None if self._price is None else self._price.rates
        self.info = replace(self.info, rates=rates, wait=wait)

    @property
    def asked_at(self) -> tuple[FailureSource, str, str]:
        """Whom it asks, the path of plain completions there, and the model's name."""
        return self._source, self._api.path(stream=False), self._api.model

    @property
    def account(self) -> tuple[tuple[str, str], ...]:
        """Who asks, and pays: the key, and the headers that go with every request."""
        return ("", self._source.key), *sorted(self._headers.items())

    def _tell(self, api: Api) -> None:
        """Ask as this API does from now on; nothing was asked yet."""
        self._api, before = api, self._timeout
        self._timeout = api.settings.timeout or TIMEOUT
        if self._timeout != before:
            self._carriers = _Carriers()
        self.info = replace(self.info, params=api.settings.recorded, validate=self._validate)

    def _validate(self, prompt: Prompt) -> None:
        """Raise `ConfigError` where the prompt has what the provider cannot take."""
        self._api.body(prompt, stream=False, without=frozenset())

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt; with `on_text`, stream.

        Raises:
            ModelError: The provider failed after all tries, or refused the request (`TooLongError`
                where the prompt does not fit).
            ConfigError: The prompt has what the provider cannot take.
        """
        ask = Ask(prompt, on_text, self._pace.ticket(), max(self._total, self._timeout))
        try:
            return await persist(
                lambda: self._attempt(ask), self._retries, self._patience, self._sleep
            )
        except ModelError:
            if ask.cut is None:
                raise
            return ask.cut

    async def close(self) -> None:
        """Close the connections; a later completion opens new ones. A given client stays open."""
        made, self._carriers.made = self._carriers.made, None
        if made is not None and made[0] is current_loop():
            await made[1].close()

    async def _attempt(self, ask: Ask) -> Reply:
        """One request and its reply. Raises `TryAgain` where another try may help."""
        if ask.left <= 0:
            raise self._overdue()
        ask.cut, ask.refused, ask.size = None, None, 0
        ask.halves, ask.half = False, ""
        made: frozenset[str] = frozenset()
        while True:
            ask.without = without = self._left_out.of(ask.prompt)
            ask.sent = self._history.repaired(ask.prompt, without)
            content = self._api.body(ask.sent, stream=ask.on_text is not None, without=without)
            await self._pace.pass_through(ask.ticket, len(content), self._sleep)
            try:
                return await self._within(ask, content)
            except StatusError as error:
                if repair := self._answer(error, ask):
                    self._left_out.add(ask.prompt, repair)
                    made |= {repair}
                    continue
                self._left_out.withdraw(ask.prompt, made)
                problem = self._refusal(error, ask, made)
                if not isinstance(problem, Busy):
                    raise problem from error
                self._pace.refuse(ask.ticket, problem, self._retries, self._patience)
            except (SilentError, httpx2.TimeoutException) as error:
                raise TryAgain(
                    f"{self.info.name} did not answer within {self._timeout:g} s{self._way}"
                ) from error
            except (LostError, httpx2.HTTPError) as error:
                why = self._source.tell(repr(error.__cause__ or error))
                what = "proxy and address are" if self._way else "the address is"
                raise TryAgain(
                    f"{self.info.name}: no connection to {self._source.base_url}{self._way}, or it "
                    f"was lost ({why}); see that {what} right and the server runs"
                ) from error
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                why = self._source.tell(error)
                raise TryAgain(
                    f"{self.info.name}: {self._source.base_url} sent no proper reply ({why}); see "
                    f"that the address is {self._api.hint}"
                ) from error
            except BadReplyError as error:
                raise TryAgain(f"{self.info.name} {self._source.tell(error)}") from error

    def _answer(self, error: StatusError, ask: Ask) -> str:
        """What to leave out or to repair after this refusal, which was not yet; or ""."""
        trouble, prompt, without = error.trouble, ask.prompt, ask.without
        message = trouble.text
        if not about_the_prompt(trouble.status, message) or trouble.too_long:
            return ""
        left = self._api.repairs - without
        if repair := demanded(message, left) or self._api.degrade(trouble, without):
            return repair
        if unreadable(message) or (prompt.tools and takes_no_tools(message)):
            return ""
        if repair := answer(message, prompt, left):
            return repair
        if repair := last_resort(trouble.status, message, prompt, left, self._api.params):
            ask.refused = error
        return repair

    def _refusal(self, error: StatusError, ask: Ask, made: frozenset[str]) -> Exception:
        """The error of a request that no repair helped: what was tried, and what else may help."""
        trouble = error.trouble
        refused = about_the_prompt(trouble.status, trouble.text)
        other = trouble.too_long or unreadable(trouble.text)
        if ask.refused and refused and not other:  # the form that it had at last is no cause
            error, trouble = ask.refused, ask.refused.trouble
        if ask.prompt.tools and refused and takes_no_tools(trouble.text):
            return ModelError(
                f"{self.info.name} takes no tools at {self._source.base_url} "
                f"({self._source.tell(trouble.message)}): choose a codec that writes calls as "
                "text, such as codec='labelled' (--codec labelled)"
            )
        problem = failure(self._source, trouble, error.headers)
        tried = (made | ask.without) & WORDS.keys()
        if isinstance(problem, TryAgain | TooLongError) or not tried:
            return problem
        words = "; ".join(WORDS[name] for name in sorted(tried))
        return ModelError(
            f"{problem} (tried: {words}); another model can go on with the run (resume it with "
            "--set model=NAME --accept-change), or a fork of an earlier step (clew fork RUN --at K)"
        )

    async def _within(self, ask: Ask, content: bytes) -> Reply:
        """Make the request in the time that the completion has left."""
        begun = anyio.current_time()
        with anyio.CancelScope(deadline=begun + ask.left) as ask.within:
            post = self._streamed if ask.on_text else self._plain
            try:
                reply = priced(await post(ask, content), self._price)
                if adapted := self._left_out.adapted(ask.without):
                    reply = msgspec.structs.replace(reply, adapted=adapted)
                reply = with_size(ask.sent, reply, len(content))
            finally:
                ask.left -= anyio.current_time() - begun
            self._pace.answered(ask.ticket, _learned(reply))
            return reply
        raise self._overdue()

    def _overdue(self) -> ModelError:
        return ModelError(
            f"{self.info.name} did not answer within "
            f"{max(self._total, self._timeout):g} s, over all tries"
        )

    async def _plain(self, ask: Ask, content: bytes) -> Reply:
        send = self.carrier().send(self._api.path(stream=False), content)
        try:
            data = await self._unless_silent(send)  # however much of it drips in
        except OversizeError:
            return self._oversized(len(content))
        draft = self._api.draft(ask.sent, ask.without)
        take(draft, data, ask, complete=True)
        return name_repairs(draft.reply(len(content)), ask)

    def _oversized(self, sent: int) -> Reply:
        """What stands for a body that is too long to be read; `sent` is the request's length."""
        return beginning(Reply(model=self.info.name, usage=estimate(sent, "", ())))

    async def _streamed(self, ask: Ask, content: bytes) -> Reply:
        begin = self.carrier().stream(self._api.path(stream=True), content)
        incoming = await self._unless_silent(begin)
        draft = self._api.draft(ask.sent, ask.without)
        why = "it ended before its last event"
        try:
            ended = await self._read(incoming, draft, ask)
        except OversizeError:
            return self._oversized(len(content))
        except (httpx2.HTTPError, SilentError) as error:
            if draft.empty:
                raise
            ended, why = False, str(error) or repr(error)
        finally:
            with anyio.CancelScope(shield=True):
                await incoming.aclose()
        if ask.too_long and not draft.empty:
            return beginning(name_repairs(draft.reply(len(content)), ask))
        if ask.too_long:
            return self._oversized(len(content))
        if ended:
            return name_repairs(draft.reply(len(content)), ask)
        if not draft.empty:
            reply = name_repairs(draft.reply(len(content)), ask)
            cut = msgspec.structs.replace(reply, finish="cut", ending="")
            ask.cut = priced(cut, self._price)
        raise TryAgain(f"{self.info.name} broke off its reply ({self._source.tell(why)})")

    async def _read(self, incoming: Incoming, draft: ReplyBuilder, ask: Ask) -> bool:
        """Take what the stream brings; whether it came to its end, or nothing more is wanted."""
        show = tell_again if ask.text_was_output or ask.on_text is None else ask.on_text
        complete = incoming.headers.get("content-type", "").startswith(_COMPLETE_TYPES)
        rest, state, failed = b"", "more", None
        with anyio.CancelScope(deadline=self._silent_after()) as scope:
            if complete:
                text = take(draft, await complete_body(incoming), ask, complete=True)
                ask.text_was_output = True
                show(text)
                return True
            async with contextlib.aclosing(pieces_of(incoming.aiter_bytes())) as pieces:
                async for piece in pieces:
                    ask.within.deadline = math.inf
                    if state != "more":
                        continue
                    *lines, rest = (rest + piece).split(b"\n")
                    try:
                        state = take_lines(lines, draft, ask, show)
                    except Exception as error:  # noqa: BLE001 - raised below
                        state, failed = "enough", error
                    if len(rest) > REPLY_BYTES:
                        ask.size, state = len(rest), "enough"
                    if state == "more" and any(line.startswith(b"data:") for line in lines):
                        scope.deadline = self._silent_after()  # bytes and comments are no event
                    if state == "done":
                        scope.deadline = anyio.current_time() + DRAIN
                    elif state == "enough":
                        # Reading ends where it waits: trio wants its generators run out, not left.
                        scope.cancel()
        if failed is not None:
            raise failed
        if scope.cancelled_caught and state == "more":
            raise SilentError(f"no event came for {self._timeout:g} s")
        return draft.ended or (state == "done" and not draft.empty)

    async def _unless_silent(self, answer: Awaitable[T]) -> T:
        """The answer, if it comes in time. Raises `SilentError`."""
        with anyio.CancelScope(deadline=self._silent_after()):
            return await answer
        raise SilentError

    def _silent_after(self) -> float:
        """When the loop's clock says that the server was silent for too long."""
        return math.inf if self.info.wait else anyio.current_time() + self._timeout

    def carrier(self) -> Transport:
        """The carrier of this event loop: connections do not outlive their loop."""
        loop = current_loop()
        made = self._carriers.made
        if made is None or made[0] is not loop:
            made = self._carriers.made = (loop, self._connect(self._timeout))
        return made[1]


@dataclass
class _Carriers:
    """The carrier that models of one connection share, and the event loop that it is for."""

    made: tuple[object, Transport] | None = None


def _learned(reply: Reply) -> Usage:
    """The usage from which the rate learns what requests take; a cut prompt teaches nothing."""
    if reply.undercounted is None:
        return reply.usage
    return msgspec.structs.replace(reply.usage, estimated=True)


def current_loop() -> object:
    """What tells this event loop from others."""
    return anyio.lowlevel.current_token().native_token
