"""Anthropic Messages, without thinking."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from benchmarks.formats.shapes import (
    Asked,
    Call,
    Message,
    NextReply,
    encode,
    named_event,
    pieces,
    tokens,
    words,
)
from benchmarks.script import DESCRIPTION, PARAMETERS, SYSTEM

HEADERS: Mapping[str, str] = {"x-api-key": "none", "anthropic-version": "2023-06-01"}
LOOKUP: Final = {"name": "lookup", "description": DESCRIPTION, "input_schema": PARAMETERS}
LIMIT: Final = 16_000
"""Tokens of a reply; the API wants to be told."""


class Block(msgspec.Struct):
    """A block of content, as far as the script needs it."""

    type: str
    text: str = ""
    content: str = ""


class Item(msgspec.Struct):
    """A message of the request, as far as the script needs it."""

    role: str
    content: list[Block] | str


class Request(msgspec.Struct):
    """A request, as far as the script needs it; `tools` is only checked for being there."""

    messages: list[Item]
    model: str
    max_tokens: int
    tools: list[msgspec.Raw]
    stream: bool = False


_decoder = msgspec.json.Decoder(Request)


def asked(body: bytes, path: str) -> Asked:
    request = _decoder.decode(body)
    texts: list[str] = []
    seen: list[str] = []
    for item in request.messages:
        if item.role == "user":
            content = item.content
            blocks = [Block("text", content)] if isinstance(content, str) else content
            texts += [block.text for block in blocks if block.type == "text"]
            seen += [block.content for block in blocks if block.type == "tool_result"]
    return Asked(
        texts[-1] if texts else "", seen, request.model, request.stream, True, tokens(body)
    )


def _message(asked: Asked, **more: Any) -> Message:
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.model}
    return start | {"stop_reason": None, "stop_sequence": None} | more


def _usage(asked: Asked, written: int) -> Message:
    return {
        "input_tokens": asked.tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": written,
        "service_tier": "standard",
    }


def _reason(reply: NextReply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _call(call: Call, message: Message) -> Message:
    return {"type": "tool_use", "id": call.id, "name": "lookup", "input": message}


def full_body(asked: Asked, reply: NextReply) -> bytes:
    calls = [_call(call, {"key": call.key}) for call in reply.calls]
    content = [{"type": "text", "text": reply.text}, *calls]
    usage = _usage(asked, reply.tokens)
    return encode(_message(asked, content=content, stop_reason=_reason(reply), usage=usage))


def events(asked: Asked, reply: NextReply) -> Iterator[bytes]:
    return map(named_event, _told(asked, reply))


def _told(asked: Asked, reply: NextReply) -> Iterator[Message]:
    yield {
        "type": "message_start",
        "message": _message(asked, content=[], usage=_usage(asked, 1)),
    }
    blocks: list[tuple[Message, list[Message]]] = [
        (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": word} for word in words(reply.text)],
        ),
        *(
            (
                _call(call, {}),
                [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in ("", *pieces(call.arguments))
                ],
            )
            for call in reply.calls
        ),
    ]
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        if not index:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": _reason(reply), "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": reply.tokens}}
    yield {"type": "message_stop"}


def address(url: str, *, stream: bool) -> str:
    return f"{url}/messages"


def opening(goal: str) -> list[Message]:
    return [{"role": "user", "content": goal}]


def request(messages: list[Message], *, stream: bool = False) -> Message:
    body: Message = {
        "model": "bench",
        "max_tokens": LIMIT,
        "system": SYSTEM,
        "messages": messages,
        "tools": [LOOKUP],
    }
    return body | {"stream": True} if stream else body


def reply(body: Message) -> list[Message]:
    return [{"role": "assistant", "content": body["content"]}]


class Pieces:
    """A streamed reply as it comes together."""

    def __init__(self) -> None:
        self._blocks: list[Message] = []
        self._grown: list[list[str]] = []

    def take(self, event: Message) -> None:
        if event["type"] == "content_block_start":
            self._blocks.append(event["content_block"])
            self._grown.append([])
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            piece = delta["text"] if delta["type"] == "text_delta" else delta["partial_json"]
            self._grown[event["index"]].append(piece)

    def as_messages(self) -> list[Message]:
        for block, grown in zip(self._blocks, self._grown, strict=True):
            if block["type"] == "text":
                block["text"] = "".join(grown)
            else:
                block["input"] = json.loads("".join(grown))
        return [{"role": "assistant", "content": self._blocks}]


gathering = Pieces


def calls(messages: list[Message]) -> list[Call]:
    return [
        Call(block["id"], block["input"]["key"])
        for block in messages[0]["content"]
        if block["type"] == "tool_use"
    ]


def text(messages: list[Message]) -> str:
    return str(messages[0]["content"][0]["text"])


def results(pairs: Sequence[tuple[Call, str]]) -> list[Message]:
    blocks = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in pairs
    ]
    return [{"role": "user", "content": blocks}]
