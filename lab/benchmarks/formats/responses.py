"""OpenAI Responses. Nothing is stored at the server: each request has all of the conversation."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
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

HEADERS: Mapping[str, str] = {"authorization": "Bearer none"}
LOOKUP: Final = {
    "type": "function",
    "name": "lookup",
    "description": DESCRIPTION,
    "parameters": PARAMETERS,
}


class Item(msgspec.Struct):
    """An input item, as far as the script needs it."""

    type: str = "message"
    role: str = ""
    content: Any = None
    output: str = ""


class Request(msgspec.Struct):
    """A request, as far as the script needs it; `tools` is only checked for being there."""

    input: list[Item]
    model: str
    tools: list[msgspec.Raw]
    stream: bool = False


_decoder = msgspec.json.Decoder(Request)


def asked(body: bytes, path: str) -> Asked:
    request = _decoder.decode(body)
    goal = next(item.content for item in reversed(request.input) if item.role == "user")
    seen = [item.output for item in request.input if item.type == "function_call_output"]
    return Asked(str(goal), seen, request.model, request.stream, tokens=tokens(body))


def _items(asked: Asked, reply: NextReply) -> list[Message]:
    step = len(asked.seen)
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": reply.text}
    message = {
        "id": f"msg_{step}",
        "type": "message",
        "status": "completed",
        "content": [part],
        "role": "assistant",
    }
    return [
        message,
        *(
            {
                "id": f"fc_{step}_{index}",
                "type": "function_call",
                "status": "completed",
                "arguments": call.arguments,
                "call_id": call.id,
                "name": "lookup",
            }
            for index, call in enumerate(reply.calls)
        ),
    ]


def _response(asked: Asked, status: str, output: list[Message], usage: Message | None) -> Message:
    return {
        "id": f"resp_{len(asked.seen)}",
        "object": "response",
        "created_at": 1700000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": asked.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [LOOKUP | {"strict": False}],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": None,
        "metadata": {},
    }


def _completed(asked: Asked, reply: NextReply) -> Message:
    usage = {
        "input_tokens": asked.tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": reply.tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked.tokens + reply.tokens,
    }
    return _response(asked, "completed", _items(asked, reply), usage)


def full_body(asked: Asked, reply: NextReply) -> bytes:
    return encode(_completed(asked, reply))


def events(asked: Asked, reply: NextReply) -> Iterator[bytes]:
    numbers = count()
    for told in _told(asked, reply):
        yield named_event(told | {"sequence_number": next(numbers)})


def _told(asked: Asked, reply: NextReply) -> Iterator[Message]:
    begun = _response(asked, "in_progress", [], None)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    items = _items(asked, reply)
    yield from _message_told(items[0], reply.text)
    for index, (item, call) in enumerate(zip(items[1:], reply.calls, strict=True), start=1):
        where = {"item_id": item["id"], "output_index": index}
        started = item | {"status": "in_progress", "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": started}
        for piece in pieces(call.arguments):
            yield {"type": "response.function_call_arguments.delta", **where, "delta": piece}
        done = {"arguments": call.arguments}
        yield {"type": "response.function_call_arguments.done", **where, **done}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": _completed(asked, reply)}


def _message_told(item: Message, text: str) -> Iterator[Message]:
    where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = item["content"][0]
    started = item | {"status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": started}
    yield {"type": "response.content_part.added", **where, "part": part | {"text": ""}}
    for word in words(text):
        yield {"type": "response.output_text.delta", **where, "delta": word, "logprobs": []}
    yield {"type": "response.output_text.done", **where, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}


def address(url: str, *, stream: bool) -> str:
    return f"{url}/responses"


def opening(goal: str) -> list[Message]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": goal}]


def request(messages: list[Message], *, stream: bool = False) -> Message:
    body: Message = {"model": "bench", "store": False, "input": messages, "tools": [LOOKUP]}
    return body | {"stream": True} if stream else body


def reply(body: Message) -> list[Message]:
    output: list[Message] = body["output"]
    return output


class Pieces:
    """A streamed reply: its text as it comes, and the output as the last event has it."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._output: list[Message] = []

    def take(self, event: Message) -> None:
        if event["type"] == "response.output_text.delta":
            self._text.append(event["delta"])
        elif event["type"] == "response.completed":
            self._output = event["response"]["output"]

    def as_messages(self) -> list[Message]:
        return self._output


gathering = Pieces


def calls(messages: list[Message]) -> list[Call]:
    return [
        Call(item["call_id"], json.loads(item["arguments"])["key"])
        for item in messages
        if item["type"] == "function_call"
    ]


def text(messages: list[Message]) -> str:
    return str(messages[0]["content"][0]["text"])


def results(pairs: Sequence[tuple[Call, str]]) -> list[Message]:
    return [
        {"type": "function_call_output", "call_id": call.id, "output": text} for call, text in pairs
    ]
