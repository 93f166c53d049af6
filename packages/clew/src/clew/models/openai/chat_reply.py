"""Chat Completions, the way back: a body or a stream of chunks as a `Reply`.

Read is what the API documents, and what servers that speak it are known to do otherwise: calls
without ids, indices or arguments, whole calls in one chunk, the older `function_call`, text in
pieces, and keys of their own that they want back with the next request.
"""

from typing import Any, Final, Generic, TypeVar, cast

import msgspec

from clew.core.contents import RawCall, Reply, Usage, Wire
from clew.core.values import Json, encode
from clew.models.cumulative import CumulativeText
from clew.models.endings import CHAT, Ending, Endings
from clew.models.http.endpoint import BadReplyError, StatusError
from clew.models.http.failures import read_trouble
from clew.models.think_tags import ThinkTagFilter
from clew.models.tool_names import Toolbox
from clew.models.usage import completed, count, merged, paid
from clew.support.live import tell_arguments

_PLAIN: Final = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio"}
)
"""Keys of a message that nobody wants back; all others are the provider's own."""

_THOUGHT: Final = ("reasoning_content", "reasoning")
"""Keys of a message in which servers tell what the model thought; people may read it."""

_CACHED: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("num_cached_tokens",),  # Mistral
    ("cached_tokens",),  # Together, Moonshot
)
_JOINED: Final = frozenset({"text", "summary", "data"})
"""Keys of a numbered item that come in pieces."""

_CALL: Final = frozenset({"id", "type", "function", "custom", "index"})


C = TypeVar("C")


class ChatChoice(msgspec.Struct):
    """A choice of a body (`message`) or of a chunk (`delta`); only the first, 0, is wanted."""

    message: dict[str, Any] | None = None
    delta: dict[str, Any] | None = None
    finish_reason: str | None = None
    index: int | None = None
    error: Any = None

    @property
    def ended_early(self) -> bool:
        """Whether it says why there is no message: Azure's filter sends none."""
        return CHAT.explains(self.finish_reason)


class ChatBody(msgspec.Struct, Generic[C]):
    """A reply's body, or one chunk of a stream, with choices of the API's own kind."""

    choices: list[C] | None = None
    usage: Any = None
    model: str | None = None
    error: Any = None


class ContentBlock(msgspec.Struct):
    """A block of content: text, or thinking, which is text or blocks of it (at Mistral)."""

    text: str | None = None
    thinking: "str | list[ContentBlock] | None" = None


class Function(msgspec.Struct):
    """What a call calls; `arguments` is JSON text, or at some servers the object itself."""

    name: str | None = None
    arguments: Any = None


class Custom(msgspec.Struct):
    """What a call of a custom tool calls; its input is any text."""

    name: str | None = None
    input: str | None = None


class CallDelta(msgspec.Struct):
    """A call, or a piece of one. Some servers give numbers for ids."""

    index: int | None = None
    raw_id: str | int | float | None = msgspec.field(default=None, name="id")
    function: Function | None = None
    custom: Custom | None = None

    @property
    def id(self) -> str:
        """Its id, "" where it has none."""
        return "" if self.raw_id is None else str(self.raw_id)

    @property
    def called(self) -> Function:
        """What it calls, whichever kind of tool that is."""
        if self.function is None and self.custom is not None:
            return Function(self.custom.name, self.custom.input)
        return self.function or Function()


_decoder = msgspec.json.Decoder(ChatBody[ChatChoice])


class _CallBuilder(msgspec.Struct):
    """A call as it comes together."""

    id: str = ""
    name: str = ""
    arguments: list[str] | None = None
    more: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])

    def take(self, function: Function) -> str:
        """What a piece says of the function that is called; the arguments in it."""
        self.name = self.name or function.name or ""
        if (arguments := function.arguments) is None:
            return ""
        text = arguments if isinstance(arguments, str) else encode(arguments).decode()
        self.arguments = self.arguments or []
        self.arguments.append(text)
        return text

    def same(self, other: "_CallBuilder") -> bool:
        """Whether both call the same with the same arguments."""
        return self.name == other.name and self.told() == other.told()

    def told(self) -> Json:
        text = "".join(self.arguments or ()).strip()
        try:
            return msgspec.json.decode(text or "{}")
        except (msgspec.DecodeError, RecursionError):
            return text


class ChatReplyBuilder(msgspec.Struct):
    """A reply as it comes together, from one message or from many deltas.

    `source` is (provider, model asked for).
    """

    source: tuple[str, str]
    box: Toolbox
    text: list[str] = msgspec.field(default_factory=list[str])
    thinking: list[str] = msgspec.field(default_factory=list[str])
    refusal: list[str] = msgspec.field(default_factory=list[str])
    calls: list[_CallBuilder] = msgspec.field(default_factory=list[_CallBuilder])
    older: list[_CallBuilder] = msgspec.field(default_factory=list[_CallBuilder])
    slots: dict[int, _CallBuilder] = msgspec.field(default_factory=dict[int, _CallBuilder])
    more: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    aloud: ThinkTagFilter = msgspec.field(default_factory=ThinkTagFilter)
    trajectory: CumulativeText = msgspec.field(default_factory=CumulativeText)
    endings: Endings = CHAT
    words: list[str] = msgspec.field(default_factory=list[str])
    usage: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    model: str = ""
    done: bool = False
    came: bool = False

    @property
    def empty(self) -> bool:
        return not (self.text or self.calls or self.older or self.refusal)

    @property
    def ended(self) -> bool:
        return bool(self.words)

    def end_early(self) -> None:
        self.words = ["stop"]

    def take(self, data: bytes, *, complete: bool) -> str:
        if data == b"[DONE]":
            self.done = True
            return ""
        body = _decoder.decode(data)
        choice = next((each for each in body.choices or () if not each.index), None)
        if error := body.error or (choice is not None and choice.error):  # OpenRouter's place
            raise StatusError(read_trouble(200, {"error": error}))
        if complete and (choice is None or (choice.message is None and not choice.ended_early)):
            raise BadReplyError("sent a reply without a choice or without a message in it")
        self.usage = merged(self.usage, body.usage)
        if body.model:
            self.model = body.model
        if choice is None:
            return ""
        self.endings.note(self.words, choice.finish_reason)
        if choice.message is not None and (complete or not (choice.delta or self.came)):
            return self._take_message(choice.message, complete=True)
        self.came |= bool(choice.delta)  # a message beside deltas, or after them, says it again
        return self._take_message(choice.delta or {}, complete=False)

    def _take_message(self, message: dict[str, Any], *, complete: bool) -> str:
        piece = ""
        for key, value in message.items():
            if value is None or key == "role":
                continue
            if key == "content":
                text, thinking = _content(value)
                self.thinking += thinking
                piece = self.aloud.take(self.trajectory.rest_of(text))
                if piece:
                    self.text.append(piece)
            elif key == "tool_calls":
                pieces = msgspec.convert(value, list[CallDelta])
                for index, (call, raw) in enumerate(zip(pieces, value, strict=True)):
                    self._take_call(call, raw, None if complete else self._slot(call, index))
            elif key == "function_call":
                function = msgspec.convert(value, Function)
                if value.get("name") or value.get("arguments"):  # Snowflake sends one of nothing
                    self.older = self.older or [_CallBuilder()]
                    self.older[0].take(function)
            elif key == "refusal":
                self.refusal += [str(value)] if value else []
            elif key not in _PLAIN:
                self.more[key] = _grown(self.more.get(key), value)
        return piece

    def _slot(self, piece: CallDelta, index: int) -> _CallBuilder | None:
        """The call a piece of a stream goes on with; None where it begins another.

        Some servers number no calls, or all of them 0: then a name beside another id begins one.
        """
        function = piece.called
        if piece.index is not None:
            call = self.slots.get(piece.index)
            other = call is not None and piece.id and call.id and piece.id != call.id
            return None if other and function.name else call
        last = self.calls[-1] if self.calls and not index else None
        begins = function.name and (last is None or not piece.id or piece.id != last.id)
        return None if begins else last

    def _take_call(self, piece: CallDelta, raw: dict[str, Any], call: _CallBuilder | None) -> None:
        if call is None:
            call = _CallBuilder()
            self.calls.append(call)
        if piece.index is not None:
            self.slots[piece.index] = call
        call.id = call.id or piece.id
        if text := call.take(piece.called):
            position = next(at for at, each in enumerate(self.calls) if each is call)
            tell_arguments(position, self.box.name(call.name), text)
        for key, value in raw.items():
            if key not in _CALL and value is not None:
                call.more[key] = _grown(call.more.get(key), value)

    def reply(self, sent: int) -> Reply:
        text = "".join(self.text) + self.aloud.rest()
        if self.trajectory.cumulative:  # the first pieces were taken before that was certain
            self.aloud = ThinkTagFilter()
            text = self.aloud.take(self.trajectory.text) + self.aloud.rest()
        # Gateways send a call in the older place too: it is the same call.
        self.calls += [call for call in self.older if not any(map(call.same, self.calls))]
        self.older = []
        calls = tuple(
            RawCall(
                name=self.box.name(call.name),
                arguments=None if call.arguments is None else "".join(call.arguments),
                id=call.id,
            )
            for call in self.calls
        )
        ending = self._ending()
        return Reply(
            text=text or "".join(self.refusal),
            calls=calls,
            finish=ending.finish,
            ending=ending.word,
            usage=read_usage(self.usage, sent, text or "".join(self.refusal), calls),
            model=self.model or self.source[1],
            reasoning=self.aloud.thought or "".join(self.thinking) or self._thought(),
            wire=self._wire(),
        )

    def _ending(self) -> Ending:
        if self.refusal:
            return Ending("refusal")
        return self.endings.read(self.words, calls=bool(self.calls), empty=self.empty)

    def _thought(self) -> str:
        told = (self.more.get(key) for key in _THOUGHT)
        return next((text for text in told if isinstance(text, str)), "")

    def _wire(self) -> Wire | None:
        """What else came, except reasoning that is there item by item too (at OpenRouter)."""
        items: dict[str, Json] = {}
        twice = "reasoning" if "reasoning_details" in self.more else ""
        if more := {key: value for key, value in self.more.items() if key != twice}:
            items["message"] = more
        if any(call.more for call in self.calls):
            items["calls"] = [call.more for call in self.calls]
        provider, model = self.source
        return Wire(provider=provider, model=model, items=items) if items else None


def _content(content: Any) -> tuple[str, list[str]]:
    """Text and thinking: content is text, or (at some providers) a list of blocks of either."""
    if isinstance(content, str):
        return content, []
    blocks = msgspec.convert(content, list[ContentBlock])
    thinking = [_thinking(block.thinking) for block in blocks if block.thinking]
    return "".join(block.text or "" for block in blocks), thinking


def _thinking(told: str | list[ContentBlock]) -> str:
    return told if isinstance(told, str) else "".join(block.text or "" for block in told)


def _grown(before: Any, piece: Any) -> Any:
    """A value of a key of the provider's own after a further piece: text and lists go on."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    if isinstance(before, list) and isinstance(piece, list):
        grown: list[Any] = [*before]
        for item in msgspec.convert(piece, list[Any]):
            _add(grown, item)
        return grown
    return piece


def _add(items: list[Any], item: Any) -> None:
    """Add an item, or what it brings to the last one where both have the same number."""
    last: Any = items[-1] if items else None
    if not isinstance(item, dict) or not isinstance(last, dict):
        items.append(item)
        return
    piece, before = cast("dict[str, Any]", item), cast("dict[str, Any]", last)
    if piece.get("index") is None or piece["index"] != before.get("index"):
        items.append(piece)
        return
    told = {key: value for key, value in piece.items() if value is not None}
    joined = {key: before[key] + told[key] for key in _JOINED & told.keys() & before.keys()}
    items[-1] = before | told | joined


def read_usage(
    usage: dict[str, Any], sent: int, text: str, calls: tuple[RawCall, ...] = ()
) -> Usage:
    """Usage as it is told, else estimated; some count cached tokens under a key of their own
    (`_CACHED`), and OpenRouter says what the reply cost.
    """
    told = (count(usage, *path) for path in _CACHED if path[0] in usage)
    cached = next(filter(None, told), 0)
    read = Usage(
        input=count(usage, "prompt_tokens"),
        output=count(usage, "completion_tokens"),
        cached=cached,
        written=count(usage, "prompt_tokens_details", "cache_write_tokens"),
        reasoning=count(usage, "completion_tokens_details", "reasoning_tokens"),
        cost=paid(usage),
    )
    return completed(read, count(usage, "total_tokens"), sent, text, calls)
