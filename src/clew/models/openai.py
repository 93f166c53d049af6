"""Models behind OpenAI's Chat Completions, or behind any server that speaks the same.

The official client carries the requests (address, key, connections, statuses) through its own
`post`, with the body encoded and the reply read here: walking the whole conversation through typed
parameters at every step is what makes long runs slow. Its retries are off; `retry.persist` does all
of them, those after a malformed reply or a cut stream included.
"""

import contextlib
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import anyio
import httpx2
import msgspec
import openai

from clew.errors import ModelError
from clew.events import Json, Reply, Wire
from clew.models.chat_prompt import (
    Toolbox,
    body,
    head,
    kept_keys,
    message,
    stops,
    toolbox,
)
from clew.models.chat_reply import Body, Draft, priced, read_body
from clew.models.failures import Source, Trouble, failure, read_trouble
from clew.models.openai_client import address, connect, current_loop, find_key
from clew.models.prices import Price, price
from clew.models.retry import Again, Sleep, persist
from clew.protocols import OnText, Part, Prompt, Retry, Tool

RETRIES: Final = Retry(times=5)
PATH: Final = "/chat/completions"

DRAIN: Final = 0.5
"""Seconds to wait for the end of a stream after its last event, so that the connection is kept."""

BOXES: Final = 64
"""How many sets of tools are kept encoded."""

_ONCE: Final[openai.RequestOptions] = {"max_retries": 0}
_REFUSED: Final = re.compile(
    r"n[o']t (?:support(?:ed)?|permitted|allowed)|un(?:supported|expected|known|recognized)|extra"
    r"|at most 0|missing data required",
    re.IGNORECASE,
)
_OPTIONAL: Final = {
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stop": re.compile(r"['\"`]stop['\"`]|\bstop (?:words?|sequences?)"),
    "images": re.compile(r"\bimages?\b|image_url|\bvision\b"),
}
_PER_PART: Final = frozenset({"wire", "images"})
"""What is left out of the parts themselves, so that they have to be encoded anew."""


class Lines(openai.AsyncStream[bytes]):
    """A streamed reply as the official client hands it over: the response, with nothing read."""

    def __init__(self, *, response: httpx2.Response, **_: object) -> None:
        self.response = response


@dataclass
class Ask:
    """One completion under way, over all its attempts.

    `shown` says that a piece of a reply went to `on_text`; `cut` is what the last attempt brought
    before it broke off.
    """

    prompt: Prompt
    box: Toolbox
    on_text: OnText | None
    shown: bool = False
    cut: Reply | None = None


class OpenAIChat:
    """A model of a Chat Completions server, as `provider:model`.

    Args:
        model: The model's name at the provider.
        base_url: The server's address up to `/v1`. For the provider `openai` it may be left to
            `OPENAI_BASE_URL`, else it is OpenAI's own.
        api_key: The key; if None, that in the environment variable `key_variable`. Empty for a
            server that asks for none.
        params: Sampling parameters, sent as they are (`temperature`, `max_tokens`, `seed` …).
        prices: US dollars by model name, before those of the dated table.
        timeout: Seconds to wait for a reply, or for the next piece of a streamed one.
        retries: How often, and after which waits, a failed request is made again.
        patience: Seconds that all waits of one completion may take together.
        provider: The name before the colon. It chooses the prices, and marks what is kept verbatim
            for this model.
        key_variable: The environment variable that holds the key; errors name it.
        client: An official client to use as it is, instead of making one.
        sleep: Waits the given number of seconds before another try.

    A server may refuse what a run can do without: usage in streams (`stream_options`), stop
    sequences (codecs cut by themselves), pictures (then they are named instead), and what it sent
    earlier beside text and calls (`wire`).
    When its error names one, it is left out from then on.

    A stream that breaks off is asked for again from the start. What was shown of it stays shown, so
    further attempts show nothing: to `on_text` they would be the rest of the first. Where the last
    attempt broke off too, what it brought is the reply, with `finish` "cut".

    Raises `ConfigError` where address, key or parameters cannot be right.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        params: Mapping[str, Json] | None = None,
        prices: Mapping[str, Price] | None = None,
        timeout: float = 600.0,
        retries: Retry = RETRIES,
        patience: float = 120.0,
        provider: str = "openai",
        key_variable: str = "OPENAI_API_KEY",
        client: openai.AsyncOpenAI | None = None,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.model = model
        self.provider = provider
        self.name = f"{provider}:{model}"
        self.params: Mapping[str, Json] = dict(params or {})
        self._head = head(model, self.params)
        self._price = price(provider, model, prices)
        self._timeout = timeout
        self._retries = retries
        self._patience = patience
        self._sleep = sleep
        if client is not None:
            self._source = Source(self.name, str(client.base_url), client.api_key, "")
        else:
            where = address(self.name, base_url)
            self._source = Source(self.name, where, find_key(api_key, key_variable), key_variable)
        self._given = client
        self._made: tuple[object, openai.AsyncOpenAI] | None = None
        self._without: frozenset[str] = frozenset()
        self._wired: set[str] = set()
        self._boxes: dict[tuple[int, ...], Toolbox] = {}

    @property
    def priced(self) -> bool:
        """Whether replies say what they cost."""
        return self._price is not None

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt; with `on_text`, stream.

        Raises:
            ModelError: The provider failed after all tries, or refused the request (`TooLongError`
                where the prompt does not fit).
            ConfigError: Parameters and codec together have too many stop sequences.
        """
        ask = Ask(prompt, self._box(prompt.tools), on_text)
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
        made, self._made = self._made, None
        if made is not None and made[0] is current_loop():
            await made[1].close()

    async def _attempt(self, ask: Ask) -> Reply:
        """One request and its reply. Raises `Again` where another try may help."""
        ask.cut = None
        while True:
            without = self._without
            content = self._body(ask, without)
            try:
                post = self._streamed if ask.on_text else self._plain
                return priced(await post(ask, content), self._price)
            except openai.APIStatusError as error:
                trouble = read_trouble(error.status_code, error.body)
                if left := self._refused(trouble, without):
                    self._without |= {left}
                    continue
                raise failure(self._source, trouble, error.response.headers) from error
            except (openai.APITimeoutError, httpx2.TimeoutException) as error:
                raise Again(f"{self.name} did not answer within {self._timeout:g} s") from error
            except (openai.APIConnectionError, httpx2.HTTPError) as error:
                why = self._source.tell(repr(error.__cause__ or error))
                raise Again(
                    f"{self.name}: no connection to {self._source.base_url}, or it was lost "
                    f"({why}); see that the address is right and the server runs"
                ) from error
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                why = self._source.tell(error)
                raise Again(
                    f"{self.name}: {self._source.base_url} sent no proper reply ({why}); see that "
                    "the address is that of a Chat Completions server (most end in /v1)"
                ) from error
            except openai.OpenAIError as error:
                raise ModelError(f"{self.name}: {self._source.tell(error)}") from error

    async def _plain(self, ask: Ask, content: bytes) -> Reply:
        response = await self._client().post(
            PATH, content=content, cast_to=httpx2.Response, options=_ONCE
        )
        draft = Draft()
        self._take_whole(response.content, draft)
        return self._reply(draft, ask, content)

    async def _streamed(self, ask: Ask, content: bytes) -> Reply:
        stream = await self._client().post(
            PATH,
            content=content,
            cast_to=object,
            stream=True,
            stream_cls=Lines,
            options=_ONCE,
        )
        draft = Draft()
        why = "it ended before its last event"
        try:
            ended = await self._read(stream.response, draft, ask)
        except httpx2.HTTPError as error:
            if draft.empty:
                raise
            ended, why = False, repr(error)
        finally:
            with anyio.CancelScope(shield=True):
                await stream.response.aclose()
        if ended:
            return self._reply(draft, ask, content)
        if not draft.empty:
            cut = msgspec.structs.replace(self._reply(draft, ask, content), finish="cut")
            ask.cut = priced(cut, self._price)
        raise Again(f"{self.name} broke off its reply ({self._source.tell(why)})")

    async def _read(self, response: httpx2.Response, draft: Draft, ask: Ask) -> bool:
        """Take what the stream brings; whether it came to its end, or nothing more is wanted."""
        show = _mute if ask.shown or ask.on_text is None else ask.on_text
        if response.headers.get("content-type", "").startswith(("application/json", "text/html")):
            text = self._take_whole(await response.aread(), draft)
            ask.shown = True
            show(text)
            return True
        rest, state, failed = b"", "more", None
        with anyio.CancelScope() as scope:
            async with contextlib.aclosing(_pieces(response)) as pieces:
                async for piece in pieces:
                    if state != "more":
                        continue
                    *lines, rest = (rest + piece).split(b"\n")
                    try:
                        state = self._take_lines(lines, draft, ask, show)
                    except Exception as error:  # noqa: BLE001 - raised below
                        state, failed = "enough", error
                    if state == "done":
                        scope.deadline = anyio.current_time() + DRAIN
                    elif state == "enough":
                        # Reading ends where it waits: trio wants its generators run out, not left.
                        scope.cancel()
        if failed is not None:
            raise failed
        return draft.reason is not None or (state == "done" and not draft.empty)

    def _take_lines(
        self, lines: list[bytes], draft: Draft, ask: Ask, show: OnText
    ) -> Literal["more", "done", "enough"]:
        """Take lines of an event stream; fields other than `data`, and comments, say nothing."""
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            if (data := line[5:].strip()) == b"[DONE]":
                return "done"
            chunk = read_body(data)
            self._check(chunk)
            if text := draft.take(chunk):
                ask.shown = True
                if show(text):
                    draft.reason = "stop"
                    return "enough"
        return "more"

    def _take_whole(self, data: bytes, draft: Draft) -> str:
        whole = read_body(data)
        self._check(whole)
        if not whole.choices or whole.choices[0].message is None:
            raise Again(f"{self.name} sent a reply without a choice or without a message in it")
        return draft.take(whole)

    def _check(self, data: Body) -> None:
        """Raise what an error inside a reply of status 200 means."""
        if data.error:
            raise failure(self._source, read_trouble(200, {"error": data.error}), {})

    def _reply(self, draft: Draft, ask: Ask, content: bytes) -> Reply:
        return draft.reply(ask.box.names, (self.provider, self.model), len(content))

    def _refused(self, trouble: Trouble, without: frozenset[str]) -> str:
        """Which of the things a run can do without the server would not take, if one was sent."""
        said = f"{trouble.message} '{trouble.param}'"
        if trouble.status not in {400, 422} or not _REFUSED.search(said):
            return ""
        if self._wired - without and any(key in said for key in self._wired):
            return "" if "wire" in without else "wire"
        named = (key for key, pattern in _OPTIONAL.items() if pattern.search(said))
        return next((key for key in named if key not in without), "")

    def _body(self, ask: Ask, without: frozenset[str]) -> bytes:
        prompt, box = ask.prompt, ask.box
        key = f"{self.name}/chat{','.join(sorted(without & _PER_PART))}{box.clash}"
        sees = "images" not in without
        messages: list[bytes] = []
        for part in prompt:
            encoded = part.encoded.get(key)
            if encoded is None:
                encoded = part.encoded[key] = message(
                    part, box, self._wire(part, without), sees=sees
                )
            messages.append(encoded)
        more: dict[str, Json] = {}
        if (found := stops(prompt, self.params)) and "stop" not in without:
            more["stop"] = found
        if ask.on_text is not None:
            more["stream"] = True
            if "stream_options" not in without:
                more["stream_options"] = {"include_usage": True}
        return body(self._head, messages, prompt, box, more)

    def _wire(self, part: Part, without: frozenset[str]) -> Wire | None:
        """What this very model sent beside the part's text and calls, unless it is not taken."""
        wire = part.wire
        if wire is None or (wire.provider, wire.model) != (self.provider, self.model):
            return None
        if "wire" in without:
            return None
        self._wired.update(kept_keys(wire))
        return wire

    def _box(self, tools: tuple[Tool, ...]) -> Toolbox:
        key = tuple(map(id, tools))
        if (box := self._boxes.get(key)) is None:
            if len(self._boxes) >= BOXES:
                self._boxes.clear()
            box = self._boxes[key] = toolbox(tools)
        return box

    def _client(self) -> openai.AsyncOpenAI:
        """The given client, or one of this event loop: connections do not outlive their loop."""
        if self._given is not None:
            return self._given
        loop = current_loop()
        if self._made is None or self._made[0] is not loop:
            self._made = (loop, connect(self._source, self.provider, self._timeout))
        return self._made[1]


async def _pieces(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """The body as it arrives, and a line's end after the last."""
    async with contextlib.aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            yield piece
    yield b"\n"


def _mute(_: str) -> bool:
    return False
