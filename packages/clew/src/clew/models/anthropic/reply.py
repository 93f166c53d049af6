"""Anthropic's Messages, the way back: a message or a stream of events as a `Reply`.

Formats: https://platform.claude.com/docs/en/api/messages and
https://platform.claude.com/docs/en/build-with-claude/streaming
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from clew.core.contents import RawCall, Reply, Usage, Wire
from clew.core.values import Json
from clew.models.endings import ANTHROPIC, Ending
from clew.models.http.endpoint import BadReplyError, StatusError
from clew.models.http.failures import read_trouble
from clew.models.tool_names import Toolbox
from clew.models.usage import completed, count, merged, sum_of
from clew.support.live import tell_arguments

_GROWS: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The key that each kind of piece goes on with."""

_BLOCKS: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
}
"""The kind of block that a piece belongs to; some gateways send it at the index of another."""

_SIGNED: Final = frozenset({"thinking", "redacted_thinking"})
_MADE: Final = frozenset({"id", "name", "input", "partial_json"})
"""Keys of a call that the part's own call says again."""

Raw: TypeAlias = dict[str, msgspec.Raw]


class AnthropicMessage(msgspec.Struct):
    """A whole message, or what of it is known at the beginning of a stream."""

    model: str | None = None
    content: list[Raw] | None = None
    stop_reason: str | None = None
    stop_details: dict[str, Any] | None = None
    usage: Any = None
    error: Any = None


class StreamEvent(msgspec.Struct):
    """An event of a stream."""

    type: str = ""
    index: int = 0
    message: AnthropicMessage | None = None
    content_block: Raw | None = None
    delta: dict[str, Any] | None = None
    usage: Any = None
    error: Any = None


_message = msgspec.json.Decoder(AnthropicMessage)
_event = msgspec.json.Decoder(StreamEvent)
_any = msgspec.json.Decoder()


@dataclass(slots=True)
class _ContentBlock:
    """A block of content: what it began with, `input` as it was sent, and pieces by their key."""

    known: dict[str, Any]
    input: str = ""
    grown: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def kind(self) -> str:
        return str(self.known.get("type", ""))

    @property
    def arguments(self) -> str:
        """A call's arguments, verbatim."""
        return self.text_at("partial_json") or self.input or "{}"

    def text_at(self, key: str) -> str:
        """The text under a key, with all its pieces."""
        return str(self.known.get(key) or "") + "".join(self.grown.get(key, ()))

    def complete_block(self) -> dict[str, Json]:
        """The block as it would have come in one piece, without what was left empty."""
        grown: dict[str, Json] = {key: self.text_at(key) for key in self.grown}
        if pieces := grown.pop("partial_json", ""):  # of a tool that the provider runs itself
            with contextlib.suppress(msgspec.DecodeError):  # cut off: then nothing goes back
                grown["input"] = _any.decode(pieces)
        return {key: value for key, value in (self.known | grown).items() if value is not None}


@dataclass(slots=True)
class AnthropicReplyBuilder:
    """A reply as it comes together.

    `source` is (provider, model asked for), `tail` what was said anew at the end of the prompt and
    `before` gives the print of what stood before that: both are kept with signed thinking.
    """

    source: tuple[str, str]
    box: Toolbox
    tail: list[str]
    before: Callable[[], str]
    blocks: list[_ContentBlock] = field(default_factory=list[_ContentBlock])
    open: dict[int, _ContentBlock] = field(default_factory=dict[int, _ContentBlock])
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    words: list[str] = field(default_factory=list[str])
    details: dict[str, Any] | None = None
    model: str = ""
    done: bool = False

    @property
    def empty(self) -> bool:
        return not self.blocks

    @property
    def ended(self) -> bool:
        return bool(self.words)

    def end_early(self) -> None:
        self.words = ["end_turn"]

    def take(self, data: bytes, *, complete: bool) -> str:
        if complete:
            return self._take_complete(data)
        event = _event.decode(data)
        match event.type:
            case "content_block_delta":
                return self._grow(event.index, event.delta or {})
            case "content_block_start":
                block = self._begin(event.index, _block(event.content_block or {}))
                return self._initial_text(block)
            case "message_start":
                self._take_message(event.message or AnthropicMessage())
            case "message_delta":
                ended = msgspec.convert(event.delta or {}, AnthropicMessage)
                ended.usage = event.usage
                self._take_message(ended)
            case "message_stop":
                self.done = True
            case "error":
                raise StatusError(read_trouble(200, {"error": event.error}))
            case _:
                pass  # pings, and kinds to come
        return ""

    def _take_complete(self, data: bytes) -> str:
        message = _message.decode(data)
        if message.error:
            raise StatusError(read_trouble(200, {"error": message.error}))
        if message.content is None:
            raise BadReplyError("sent a reply without content")
        self.blocks = [_block(raw) for raw in message.content]
        self._take_message(message)
        return self._text()

    def _take_message(self, message: AnthropicMessage) -> None:
        self.model = message.model or self.model
        ANTHROPIC.note(self.words, message.stop_reason)
        self.details = message.stop_details or self.details
        self.usage = merged(self.usage, message.usage)

    def _begin(self, index: int, block: _ContentBlock) -> _ContentBlock:
        """Add a block; an index that comes again begins another, and overwrites none."""
        self.blocks.append(block)
        self.open[index] = block
        return block

    def _grow(self, index: int, delta: dict[str, Any]) -> str:
        """Take a piece of a block; the text that was in it.

        Of kinds that are not known, such as the provider's own compaction, all texts are kept.
        """
        kind = str(delta.get("type"))
        wanted = _BLOCKS.get(kind, "text")
        block = self.open.get(index) or self._begin(index, _ContentBlock({"type": wanted}))
        if kind in _BLOCKS and block.kind != wanted and block.kind in _BLOCKS.values():
            block = self._begin(index, _ContentBlock({"type": wanted}))
        if (key := _GROWS.get(kind)) is None:
            for name, value in delta.items():
                if name != "type" and isinstance(value, str):
                    block.grown.setdefault(name, []).append(value)
            return ""
        piece = str(delta.get(key) or "")
        block.grown.setdefault(key, []).append(piece)
        if kind == "input_json_delta" and block.kind == "tool_use":
            tell_arguments(index, self.box.name(block.text_at("name")), piece)
        return piece if kind == "text_delta" else ""

    def reply(self, sent: int) -> Reply:
        calls = tuple(
            RawCall(
                name=self.box.name(block.text_at("name")),
                arguments=block.arguments,
                id=block.text_at("id"),
            )
            for block in self._of("tool_use")
        )
        text = self._text()
        thoughts = (block.text_at("thinking") for block in self._of("thinking"))
        ending = self._ending(calls=bool(calls))
        return Reply(
            text=text or self._refusal(),
            calls=calls,
            finish=ending.finish,
            ending=ending.word,
            usage=_usage(self.usage, sent, text, calls),
            model=self.model or self.source[1],
            reasoning="\n\n".join(filter(None, thoughts)),
            wire=self._wire(text),
        )

    def _of(self, kind: str) -> list[_ContentBlock]:
        return [block for block in self.blocks if block.kind == kind]

    def _text(self) -> str:
        return "".join(block.text_at("text") for block in self._of("text"))

    def _initial_text(self, block: _ContentBlock) -> str:
        """The text that a block began with."""
        return block.text_at("text") if block.kind == "text" else ""

    def _refusal(self) -> str:
        """Why nothing was said, if the provider tells."""
        told = (self.details or {}).get("explanation")
        return str(told) if told and "refusal" in self.words else ""

    def _ending(self, *, calls: bool) -> Ending:
        """How it ended; a refusal is of the provider's classifiers, before or in the reply."""
        ending = ANTHROPIC.read(self.words, calls=calls, empty=self.empty)
        within = ending.finish == "refusal" and not self.empty
        return Ending("filter") if within else ending

    def _wire(self, text: str) -> Wire | None:
        """The blocks as they came, where text and calls alone would not say them again."""
        ending = self._ending(calls=bool(self._of("tool_use"))).finish
        complete = ending in {"stop", "calls"}  # else a signature may have been still to come
        sent = ((block, _block_to_send(block)) for block in self.blocks)
        content = [told for block, told in sent if told and (complete or not _unsigned(block))]
        thought = any(block["type"] in _SIGNED for block in content)
        signed = any(block.get("signature") or block.get("data") for block in content)
        spoken: list[Json] = [{"type": "text", "text": text.strip()}] if text.strip() else []
        calls = [{"type": "tool_use"} for _ in self._of("tool_use")]
        if not thought and (content == spoken + calls or not self.box.declared):
            return None
        for block in content:
            if spoken and block == spoken[0]:
                del block["text"]
        items: dict[str, Json] = {"content": content}
        if signed:
            items["after"] = self.before()
            if self.tail:
                items["tail"] = self.tail
        provider, model = self.source
        return Wire(provider=provider, model=model, items=items)


def _block(raw: Raw) -> _ContentBlock:
    """A block as it came. A call's arguments stay as they were written."""
    arguments = bytes(raw["input"]).decode() if "input" in raw else ""
    return _ContentBlock({key: _any.decode(value) for key, value in raw.items()}, arguments)


def _block_to_send(block: _ContentBlock) -> dict[str, Any]:
    """A block as it has to come back, a call without what the part's own call says; {} for none."""
    complete = block.complete_block()
    match block.kind:
        case "tool_use":
            return {key: value for key, value in complete.items() if key not in _MADE}
        case "text":
            return complete if block.text_at("text").strip() else {}
        case "thinking":
            return complete if block.text_at("thinking") or block.text_at("signature") else {}
        case _:
            return complete


def _unsigned(block: _ContentBlock) -> bool:
    return block.kind == "thinking" and not block.text_at("signature")


def _usage(usage: dict[str, Any], sent: int, text: str, calls: tuple[RawCall, ...]) -> Usage:
    """Read usage: what was read from the cache or written to it is not in `input_tokens`."""
    cached, written = "cache_read_input_tokens", "cache_creation_input_tokens"
    read = Usage(
        input=sum_of(usage, "input_tokens", cached, written),
        output=count(usage, "output_tokens"),
        cached=count(usage, cached),
        written=count(usage, written),
        reasoning=count(usage, "output_tokens_details", "thinking_tokens"),
    )
    return completed(read, 0, sent, text, calls)
