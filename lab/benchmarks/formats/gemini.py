"""Google Gemini (`generateContent`), without thinking and so without signatures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from benchmarks.formats.shapes import Asked, Call, Message, NextReply, encode, event, tokens, words
from benchmarks.script import DESCRIPTION, PARAMETERS, SYSTEM

HEADERS: Mapping[str, str] = {"x-goog-api-key": "none"}
LOOKUP: Final = {"name": "lookup", "description": DESCRIPTION, "parametersJsonSchema": PARAMETERS}

_MODEL: Final = re.compile(r"/models/([^/]+):(stream)?[gG]enerateContent$")


class Answer(msgspec.Struct):
    """The result of a call."""

    response: dict[str, str]


class Part(msgspec.Struct):
    """A part of a content, as far as the script needs it."""

    text: str = ""
    answer: Answer | None = msgspec.field(default=None, name="functionResponse")


class Item(msgspec.Struct):
    """A content of the request, as far as the script needs it."""

    role: str
    parts: list[Part]


class Request(msgspec.Struct):
    """A request, as far as the script needs it; `tools` is only checked for being there."""

    contents: list[Item]
    tools: list[msgspec.Raw]


_decoder = msgspec.json.Decoder(Request)


def asked(body: bytes, path: str) -> Asked:
    request = _decoder.decode(body)
    if (named := _MODEL.search(path)) is None:
        raise ValueError(f"no model in {path}")
    parts = [part for item in request.contents if item.role == "user" for part in item.parts]
    goal = next(part.text for part in reversed(parts) if part.text)
    seen = [part.answer.response["output"] for part in parts if part.answer is not None]
    return Asked(goal, seen, named[1], named[2] is not None, tokens=tokens(body))


def _body(asked: Asked, reply: NextReply, parts: list[Message], *, last: bool) -> Message:
    candidate: Message = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": asked.tokens,
            "candidatesTokenCount": reply.tokens,
            "totalTokenCount": asked.tokens + reply.tokens,
        },
        "modelVersion": asked.model,
        "responseId": "resp-1",
    }


def _call(call: Call) -> Message:
    return {"functionCall": {"name": "lookup", "args": {"key": call.key}, "id": call.id}}


def full_body(asked: Asked, reply: NextReply) -> bytes:
    parts = [{"text": reply.text}, *map(_call, reply.calls)]
    return encode(_body(asked, reply, parts, last=True))


def events(asked: Asked, reply: NextReply) -> Iterator[bytes]:
    """A call comes whole, as this format has it."""
    parts = [*({"text": word} for word in words(reply.text)), *map(_call, reply.calls)]
    for index, part in enumerate(parts, start=1):
        yield event(_body(asked, reply, [part], last=index == len(parts)))


def address(url: str, *, stream: bool) -> str:
    how = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"{url.removesuffix('/v1')}/v1beta/models/bench:{how}"


def opening(goal: str) -> list[Message]:
    return [{"role": "user", "parts": [{"text": goal}]}]


def request(messages: list[Message], *, stream: bool = False) -> Message:
    return {
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": messages,
        "tools": [{"functionDeclarations": [LOOKUP]}],
    }


def reply(body: Message) -> list[Message]:
    return [body["candidates"][0]["content"]]


class Pieces:
    """A streamed reply as it comes together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[Message] = []

    def take(self, event: Message) -> None:
        for part in event["candidates"][0]["content"]["parts"]:
            if "text" in part:
                self._text.append(part["text"])
            else:
                self._calls.append(part)

    def as_messages(self) -> list[Message]:
        parts: list[Any] = [{"text": "".join(self._text)}, *self._calls]
        return [{"role": "model", "parts": parts}]


gathering = Pieces


def calls(messages: list[Message]) -> list[Call]:
    return [
        Call(part["functionCall"]["id"], part["functionCall"]["args"]["key"])
        for part in messages[0]["parts"]
        if "functionCall" in part
    ]


def text(messages: list[Message]) -> str:
    return str(messages[0]["parts"][0]["text"])


def results(pairs: Sequence[tuple[Call, str]]) -> list[Message]:
    answers = [
        {"functionResponse": {"id": call.id, "name": "lookup", "response": {"output": text}}}
        for call, text in pairs
    ]
    return [{"role": "user", "parts": answers}]
