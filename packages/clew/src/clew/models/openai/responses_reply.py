"""OpenAI Responses, the way back: a response, or the events of a stream, as a `Reply`."""

from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from clew.core.contents import RawCall, Reply, Usage, Wire
from clew.core.values import Json
from clew.models.endings import RESPONSES, Ending
from clew.models.http.endpoint import BadReplyError, StatusError
from clew.models.http.failures import read_trouble
from clew.models.think_tags import ThinkTagFilter
from clew.models.tool_names import Toolbox
from clew.models.usage import completed, count, merged
from clew.support.live import tell_arguments

BETWEEN: Final = "\n\n"
"""What stands between two messages of one reply."""

_LAST: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_PASSING: Final = frozenset({"server_error", "rate_limit_exceeded", "vector_store_timeout"})
"""Codes of failed responses that may pass; the others are about the request."""

_PIECES: Final = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
}
_COMMENTARY: Final = "commentary"
"""The phase of a message that is said on the way, and is no answer."""

_SPOKEN: Final = frozenset({"message", "function_call"})
_READ: Final = _SPOKEN | {"reasoning"}
"""The kinds of items that are read. Others have keys of the same names in other senses."""

_CALL: Final = frozenset({"status", "call_id", "name", "arguments"})
_MESSAGE: Final = frozenset({"status", "role", "content"})


class OutputBlock(msgspec.Struct):
    """A block of a message, or of reasoning."""

    type: str = ""
    text: str = ""
    refusal: str = ""


class Item(msgspec.Struct):
    """An item of the output, of one of the kinds that are read."""

    type: str
    content: list[OutputBlock] | None = None
    summary: list[OutputBlock] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    phase: str | None = None


class Incomplete(msgspec.Struct):
    """Why a response is not complete."""

    reason: str | None = None


class Response(msgspec.Struct):
    """A whole response."""

    output: list[dict[str, Any]] | None = None
    status: str | None = None
    incomplete_details: Incomplete | None = None
    usage: Any = None
    model: str | None = None
    error: Any = None


class ResponseEvent(msgspec.Struct):
    """An event of a stream: what of it is there depends on its type."""

    type: str = ""
    delta: Any = None
    item: dict[str, Any] | None = None
    output_index: int = 0
    response: Response | None = None
    code: str | int | None = None
    message: str | None = None
    param: str | None = None
    error: Any = None


_response = msgspec.json.Decoder(Response)
_event = msgspec.json.Decoder(ResponseEvent)


@dataclass(slots=True)
class ResponsesReplyBuilder:
    """A reply as it comes together: items by their place, pieces of those that are not done yet,
    and the response that ends it.

    `source` is (provider, model asked for); `spoke` the place of the message shown last.
    """

    source: tuple[str, str]
    box: Toolbox
    items: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    pieces: dict[int, dict[str, list[str]]] = field(default_factory=dict[int, dict[str, list[str]]])
    aloud: ThinkTagFilter = field(default_factory=ThinkTagFilter)
    spoke: int | None = None
    last: Response | None = None
    words: list[str] = field(default_factory=list[str])
    stopped: bool = False
    done: bool = False

    @property
    def empty(self) -> bool:
        reply_items = _ReplyItems(self._items())
        return not (reply_items.texts or reply_items.calls or reply_items.refusal)

    @property
    def ended(self) -> bool:
        return self.stopped or self.last is not None

    def end_early(self) -> None:
        self.stopped = True

    def take(self, data: bytes, *, complete: bool) -> str:
        if complete:
            self._end(_response.decode(data), complete=True)
            return _visible_text(_ReplyItems(self._items()))[0]
        if data == b"[DONE]":
            self.done = True
            return ""
        event = _event.decode(data)
        if event.type == "error" or event.error:
            told = {"code": event.code, "message": event.message, "param": event.param}
            raise StatusError(read_trouble(200, {"error": event.error or told}))
        if event.type in _LAST and event.response is not None:
            self.done = True
            self._end(event.response, complete=False, status=event.type.removeprefix("response."))
        elif event.item is not None:
            self.items[event.output_index] = event.item
            if event.type == "response.output_item.done":
                return self._item_done(event.output_index, event.item)
        elif isinstance(event.delta, str):
            return self._piece(event.type, event.output_index, event.delta)
        return ""

    def _item_done(self, index: int, item: dict[str, Any]) -> str:
        """The pieces of an item give way to all of it; text that came in none is shown now."""
        if self.pieces.pop(index, None) is not None:
            return ""
        return self._show(index, "".join(_ReplyItems([item]).texts))

    def _piece(self, kind: str, index: int, delta: str) -> str:
        """Take a piece of an item; the text to show. What is in no reply comes whole later."""
        if (name := _PIECES.get(kind)) is not None:
            self.pieces.setdefault(index, {}).setdefault(name, []).append(delta)
            if name == "arguments":
                called = str(self.items.get(index, {}).get("name") or "")
                tell_arguments(index, self.box.name(called), delta)
        return self._show(index, delta) if name == "text" else ""

    def _show(self, index: int, text: str) -> str:
        if not text:
            return ""
        between = BETWEEN if self.spoke not in {None, index} else ""
        self.spoke = index
        return self.aloud.take(between + text)

    def _end(self, response: Response, *, complete: bool, status: str = "") -> None:
        """Take the response that ends the reply; `status` is what its event says of it."""
        if response.error:
            trouble = read_trouble(200, {"error": response.error})
            if response.status == "failed" and trouble.code not in _PASSING:
                trouble = replace(trouble, status=400)
            raise StatusError(trouble)
        if complete and response.output is None:
            raise BadReplyError("sent a reply without output in it")
        details = response.incomplete_details
        RESPONSES.note(self.words, (details and details.reason) or response.status or status)
        self.last = response
        if response.output:
            self.items, self.pieces = dict(enumerate(response.output)), {}

    def _items(self) -> list[dict[str, Any]]:
        """All items in order, those that are not done as far as they came."""
        items_by_index = dict(self.items)
        for index, pieces in self.pieces.items():
            items_by_index[index] = _grown(items_by_index.get(index, {}), pieces)
        return [_function(items_by_index[index]) for index in sorted(items_by_index)]

    def reply(self, sent: int) -> Reply:
        items = self._items()
        reply_items = _ReplyItems(items)
        text, thought = _visible_text(reply_items)
        calls = tuple(
            RawCall(
                name=self.box.name(call.name or ""), arguments=call.arguments, id=call.call_id or ""
            )
            for call in reply_items.calls
        )
        usage = merged({}, self.last and self.last.usage)
        provider, model = self.source
        kept = _items_to_send(items, reply_items)
        ending = self._ending(items, reply_items)
        return Reply(
            text=text or reply_items.refusal,
            calls=calls,
            finish=ending.finish,
            ending=ending.word,
            usage=_usage(usage, sent, text or reply_items.refusal, calls),
            model=(self.last and self.last.model) or model,
            reasoning=thought or "\n\n".join(reply_items.thoughts),
            wire=Wire(provider, model, kept) if kept else None,
        )

    def _ending(self, items: list[dict[str, Any]], reply_items: "_ReplyItems") -> Ending:
        """How it ended; an item that is not complete counts too, whatever the response says."""
        if reply_items.refusal:
            return Ending("refusal")
        words = ["completed"] if self.stopped else self.words
        if not self.stopped:
            half = (item for item in items if item.get("type") in _SPOKEN)
            words = [*words, *("incomplete" for item in half if item.get("status") == "incomplete")]
        ending = RESPONSES.read(words, calls=bool(reply_items.calls), empty=False)
        unfinished = reply_items.commentary and ending.finish == "stop" and not self.stopped
        return Ending("cut", _COMMENTARY) if unfinished else ending


def _function(item: dict[str, Any]) -> dict[str, Any]:
    """A call of a custom tool as one of a function: nothing else is declared, or answered."""
    if item.get("type") != "custom_tool_call":
        return item
    call = {"name": item.get("name"), "arguments": item.get("input")}
    return {"type": "function_call", "call_id": item.get("call_id")} | call


def _grown(item: dict[str, Any], pieces: dict[str, list[str]]) -> dict[str, Any]:
    """An item that is not done, as far as it came."""
    if "arguments" in pieces:
        return {"type": "function_call"} | item | {"arguments": "".join(pieces["arguments"])}
    text = {"type": "output_text", "text": "".join(pieces.get("text", ()))}
    refusal = {"type": "refusal", "refusal": "".join(pieces.get("refusal", ()))}
    return {"type": "message"} | item | {"content": [text, refusal]}


class _ReplyItems:
    """What the items say."""

    def __init__(self, items: list[dict[str, Any]]) -> None:
        kinds = [msgspec.convert(item.get("type"), str) for item in items]
        known = [item for item, kind in zip(items, kinds, strict=True) if kind in _READ]
        read = msgspec.convert(known, list[Item])
        spoken = [item for item in read if item.type == "message"]
        self.calls = [item for item in read if item.type == "function_call"]
        final = [item for item in spoken if item.phase != _COMMENTARY]
        self.commentary = bool(spoken) and not (final or self.calls)
        blocks = [block for item in spoken for block in item.content or ()]
        kept = spoken if self.calls or not final else final
        texts = ["".join(block.text for block in item.content or ()) for item in kept]
        aside = [block for item in spoken if item not in kept for block in item.content or ()]
        thought = [
            *aside,
            *(block for item in read for block in item.summary or ()),
            *(block for item in read if item.type == "reasoning" for block in item.content or ()),
        ]
        self.messages = len(spoken)
        self.texts = [text for text in texts if text]
        self.refusal = "".join(block.refusal for block in blocks)
        self.thoughts = [block.text for block in thought if block.text]


def _visible_text(reply_items: _ReplyItems) -> tuple[str, str]:
    """The text that counts, and the thinking that a server left in it."""
    aloud = ThinkTagFilter()
    text = aloud.take(BETWEEN.join(reply_items.texts))
    return text + aloud.rest(), aloud.thought


def _items_to_send(items: list[dict[str, Any]], reply_items: _ReplyItems) -> list[Json]:
    """The items to send back: reasoning and what is unknown here verbatim; of messages and calls
    only what the text and the calls of the reply do not say.

    They go back all or none: without reasoning nothing needs an id, and reasoning that cannot be
    sent back (not encrypted) would leave the items that came with it alone.
    """
    last = max((index for index, item in enumerate(items) if item["type"] in _SPOKEN), default=-1)
    items = items[: last + 1]  # reasoning with nothing after it is refused
    reasoning = [item for item in items if item["type"] == "reasoning"]
    if any(not item.get("encrypted_content") for item in reasoning):
        return []
    own = [item for item in items if item["type"] not in _SPOKEN or item.get("phase")]
    if not own:
        return []
    return [_rest(item, reply_items, named=bool(reasoning)) for item in items]


def _rest(item: dict[str, Any], reply_items: _ReplyItems, *, named: bool) -> dict[str, Json]:
    if item["type"] not in _SPOKEN:  # the status of reasoning is refused, that of others required
        left = {"status"} if item["type"] == "reasoning" else frozenset[str]()
        return {key: it for key, it in item.items() if key not in left and it is not None}
    skipped = _MESSAGE if item["type"] == "message" else _CALL
    rest = {key: it for key, it in item.items() if key not in skipped and it is not None}
    if not named:
        rest.pop("id", None)
    if item["type"] == "message":
        text = "".join(_ReplyItems([item]).texts)
        if reply_items.messages > 1 or text != text.strip():
            rest["text"] = text
    return rest


def _usage(usage: dict[str, Any], sent: int, text: str, calls: tuple[RawCall, ...]) -> Usage:
    read = Usage(
        input=count(usage, "input_tokens"),
        output=count(usage, "output_tokens"),
        cached=count(usage, "input_tokens_details", "cached_tokens"),
        written=count(usage, "input_tokens_details", "cache_write_tokens"),
        reasoning=count(usage, "output_tokens_details", "reasoning_tokens"),
    )
    return completed(read, count(usage, "total_tokens"), sent, text, calls)
