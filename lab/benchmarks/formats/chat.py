"""OpenAI Chat Completions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from benchmarks.formats.shapes import (
    Asked,
    Call,
    Message,
    NextReply,
    encode,
    event,
    pieces,
    tokens,
    words,
)
from benchmarks.script import DESCRIPTION, PARAMETERS, SYSTEM

HEADERS: Mapping[str, str] = {"authorization": "Bearer none"}
LOOKUP: Final = {
    "type": "function",
    "function": {"name": "lookup", "description": DESCRIPTION, "parameters": PARAMETERS},
}


class Item(msgspec.Struct):
    """A message of the request, as far as the script needs it."""

    role: str
    content: str | None = None


class Options(msgspec.Struct):
    """What a stream is asked to bring."""

    include_usage: bool = False


class Request(msgspec.Struct):
    """A request, as far as the script needs it; `tools` is only checked for being there."""

    messages: list[Item]
    model: str
    tools: list[msgspec.Raw]
    stream: bool = False
    stream_options: Options | None = None


_decoder = msgspec.json.Decoder(Request)


def asked(body: bytes, path: str) -> Asked:
    request = _decoder.decode(body)
    goal = next(item.content for item in reversed(request.messages) if item.role == "user")
    seen = [item.content or "" for item in request.messages if item.role == "tool"]
    told = request.stream_options is not None and request.stream_options.include_usage
    return Asked(goal or "", seen, request.model, request.stream, told, tokens(body))


def _usage(asked: Asked, reply: NextReply) -> Message:
    read, written = asked.tokens, reply.tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _call(call: Call, arguments: str) -> Message:
    function = {"name": "lookup", "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def full_body(asked: Asked, reply: NextReply) -> bytes:
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [_call(call, call.arguments) for call in reply.calls]
    reason = "tool_calls" if reply.calls else "stop"
    return encode(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": _usage(asked, reply),
        }
    )


def _deltas(reply: NextReply) -> Iterator[Message]:
    yield {"role": "assistant", "content": ""}
    for word in words(reply.text):
        yield {"content": word}
    for index, call in enumerate(reply.calls):
        yield {"tool_calls": [_call(call, "") | {"index": index}]}
        for piece in pieces(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def events(asked: Asked, reply: NextReply) -> Iterator[bytes]:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": asked.model,
    }
    for delta in _deltas(reply):
        yield event(chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reason = "tool_calls" if reply.calls else "stop"
    yield event(chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if asked.told:
        yield event(chunk | {"choices": [], "usage": _usage(asked, reply)})
    yield b"data: [DONE]\n\n"


def address(url: str, *, stream: bool) -> str:
    return f"{url}/chat/completions"


def opening(goal: str) -> list[Message]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": goal}]


def request(messages: list[Message], *, stream: bool = False) -> Message:
    body: Message = {"model": "bench", "messages": messages, "tools": [LOOKUP]}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def reply(body: Message) -> list[Message]:
    return [body["choices"][0]["message"]]


class Pieces:
    """A streamed reply as it comes together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[Message] = []

    def take(self, event: Message) -> None:
        for choice in event["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                self._text.append(delta["content"])
            for piece in delta.get("tool_calls", ()):
                if piece["index"] == len(self._calls):
                    started = {"name": piece["function"]["name"], "arguments": ""}
                    self._calls.append({"id": piece["id"], "type": "function", "function": started})
                function = self._calls[piece["index"]]["function"]
                function["arguments"] += piece["function"]["arguments"]

    def as_messages(self) -> list[Message]:
        text = "".join(self._text)
        return [{"role": "assistant", "content": text, "tool_calls": self._calls}]


gathering = Pieces


def calls(messages: list[Message]) -> list[Call]:
    asked_for = messages[0].get("tool_calls") or ()
    return [
        Call(call["id"], json.loads(call["function"]["arguments"])["key"]) for call in asked_for
    ]


def text(messages: list[Message]) -> str:
    return str(messages[0]["content"])


def results(pairs: Sequence[tuple[Call, str]]) -> list[Message]:
    return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in pairs]
