"""What servers in JavaScript and proxies do to streams: half characters, and a mark in front."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from clew.core.contents import Reply
from clew.models.openai.responses import openai_responses
from clew.support.surrogates import HALF
from clew_testing.servers.http_server import Send
from tests.models import gemini_support, messages
from tests.models.support import ask, listener, over, tool

SSE = "text/event-stream"
BOM = b"\xef\xbb\xbf"

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def events(*chunks: Any) -> bytes:
    """Events as JSON.stringify writes them: halves are escapes."""
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


def chat(*pieces: str, key: str = "content") -> bytes:
    said = [{"choices": [{"index": 0, "delta": {key: piece}}]} for piece in pieces]
    rest = [{"choices": [{"index": 0, "delta": {"content": "Ok."}}]}] if key != "content" else []
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return events(*said, *rest, end) + b"data: [DONE]\n\n"


def called(*pieces: str) -> bytes:
    whole = [
        {"index": 0, **({} if n else {"id": "c1"}),
         "function": {**({} if n else {"name": "search"}), "arguments": piece}}
        for n, piece in enumerate(pieces)
    ]  # fmt: skip
    said = [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]} for one in whole]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return events(*said, end) + b"data: [DONE]\n\n"


async def read(body: bytes, kind: str = SSE, shown: list[str] | None = None) -> Reply:
    async with over([Send(body, kind)]) as (model, _, _):
        return await model.complete(ask(tools=(tool("search"),)), listener(shown or []))


SPLIT = {
    "one": ["hi \ud83d", "\ude00 there"],
    "alone in its delta": ["hi ", "\ud83d", "\ude00", " there"],
    "at the end": ["hi \ud83d", "\ude00"],
    "at the beginning": ["\ud83d", "\ude00 there"],
    "two": ["a\ud83d", "\ude00b\ud83d", "\ude80c"],
    "side by side": ["\ud83d", "\ude00\ud83d", "\ude80"],
    "joiners": ["\ud83d\udc68\u200d\ud83d", "\udc69\u200d\ud83d", "\udc67"],
    "a flag": ["\ud83c\uddeb\ud83c", "\uddf7"],
    "a rare ideograph": ["\ud842", "\udfb7野家"],
    "the last character of all": ["x\udbff", "\udffd"],
    "an empty delta between": ["hi \ud83d", "", "\ude00"],
    "beside a whole one": ["\ud83d\ude80 \ud83d", "\ude00"],
}


def whole(pieces: list[str]) -> str:
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16")


@pytest.mark.parametrize("name", SPLIT)
async def test_two_halves_of_a_text_are_one_character(name: str) -> None:
    shown: list[str] = [""]
    reply = await read(chat(*SPLIT[name]), shown=shown)
    assert (reply.text, reply.mended) == (whole(SPLIT[name]), ())
    assert "".join(shown) == whole(SPLIT[name])


@pytest.mark.parametrize("name", SPLIT)
async def test_two_halves_of_arguments_are_one_character(name: str) -> None:
    reply = await read(called('{"query": "', *SPLIT[name], '"}'))
    assert json.loads(reply.calls[0].arguments or "") == {"query": whole(SPLIT[name])}
    assert reply.mended == ()


@pytest.mark.parametrize("name", SPLIT)
async def test_two_halves_of_thinking_are_one_character(name: str) -> None:
    reply = await read(chat(*SPLIT[name], key="reasoning_content"))
    assert (reply.text, reply.reasoning, reply.mended) == ("Ok.", whole(SPLIT[name]), ())


def anthropic(pieces: list[str]) -> bytes:
    return events(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"},
    )  # fmt: skip


def responses(pieces: list[str]) -> bytes:
    said = ({"type": "response.output_text.delta", "delta": piece} for piece in pieces)
    return events(*said, {"type": "response.completed", "response": {"status": "completed"}})


def gemini(pieces: list[str]) -> bytes:
    said = [{"content": {"parts": [{"text": piece}]}} for piece in pieces]
    said[-1]["finishReason"] = "STOP"  # type: ignore[assignment]  # one of other keys
    return events(*({"candidates": [one]} for one in said))


OTHERS: dict[str, tuple[Any, Callable[[list[str]], bytes]]] = {
    "anthropic": (messages.over, anthropic),
    "responses": (lambda script: over(script, make=openai_responses), responses),
    "gemini": (gemini_support.over, gemini),
}


@pytest.mark.parametrize("name", SPLIT)
@pytest.mark.parametrize("family", OTHERS)
async def test_they_are_in_every_family(family: str, name: str) -> None:
    door, write = OTHERS[family]
    async with door([Send(write(SPLIT[name]), SSE)]) as (model, _, _):
        reply = await model.complete(messages.talk(), listener([]))
    assert (reply.text, reply.mended) == (whole(SPLIT[name]), ())


@pytest.mark.parametrize("pieces", [
    ["hi \ud83d"], ["\ude00 hi"], ["\ud83d", "x\ude00"], ["\ude00", "\ud83d"],
    ["\ud83d", "\ud83d\ude00"], ["a\ud83d", "\ude00\ude00"],
])  # fmt: skip
async def test_half_a_character_without_its_other_half_is_mended_and_named(
    pieces: list[str],
) -> None:
    reply = await read(chat(*pieces))
    read_right = "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert (reply.text, reply.mended) == (read_right, (HALF,))


@pytest.mark.parametrize("body", [
    chat("x"), chat("x", "y"), called("{}"), events({"choices": [
        {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}
    ]}), chat("\ufeffx"),
])  # fmt: skip
async def test_a_mark_before_a_stream_costs_no_event(body: bytes) -> None:
    assert await read(BOM + body) == await read(body)


async def test_a_mark_before_a_whole_body_is_none_of_it() -> None:
    message = {"role": "assistant", "content": "x"}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert (await read(BOM + body.encode(), "application/json")).text == "x"
