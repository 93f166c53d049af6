"""How replies end: only the good endings count, at every provider, plain and streamed."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from clew import Agent, Limits, MemoryStore, Result, read, run
from clew import tool as make_tool
from clew.core.entries import Entry
from clew.core.events import Thought
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import HttpServer, Send, Turn
from clew_testing.servers.openai_server import OpenAIServer
from tests.models.support import KEY, delta, event, few

SSE = "text/event-stream"
DONE = b"data: [DONE]\n\n"
HALF = "The meeting was moved to"

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def chat(word: str | None, *, call: bool, streamed: bool) -> Send:
    function = {"name": "pay", "arguments": '{"amount": 5}'}
    called = {"id": "call_9f3b", "type": "function", "function": function, "index": 0}
    said: dict[str, Any] = {"content": HALF} | ({"tool_calls": [called]} if call else {})
    if streamed:
        return Send(delta(**said) + delta(word) + DONE, SSE)
    choice = {"index": 0, "message": {"role": "assistant"} | said, "finish_reason": word}
    return Send(msgspec.json.encode({"choices": [choice]}))


def completions(word: str | None, *, call: bool, streamed: bool) -> Send:
    text = "Thought 1: I pay.\nAction 1: pay[5]\n" if call else f"Action 1: finish[{HALF}]\n"
    if streamed:
        choices = [{"index": 0, "text": text, "finish_reason": None}]
        end = [{"index": 0, "text": "", "finish_reason": word}]
        return Send(event(choices=choices) + event(choices=end) + DONE, SSE)
    return Send(msgspec.json.encode({"choices": [{"text": text, "finish_reason": word}]}))


def responses(word: str | None, *, call: bool, streamed: bool) -> Send:
    """`word` is a status, or `incomplete/REASON`."""
    text = {"type": "output_text", "text": HALF}
    output: list[Any] = [{"type": "message", "role": "assistant", "content": [text]}]
    if call:
        arguments = {"name": "pay", "arguments": '{"amount": 5}'}
        output.append({"type": "function_call", "call_id": "call_9f3b"} | arguments)
    body: dict[str, Any] = {"output": output}
    status, _, reason = (word or "").partition("/")
    body |= {"status": status} if status else {}
    body |= {"incomplete_details": {"reason": reason}} if reason else {}
    if not streamed:
        return Send(msgspec.json.encode(body))
    kind = status if status in {"completed", "failed", "incomplete"} else "incomplete"
    return Send(event(type=f"response.{kind}", response=body), SSE)


def anthropic(word: str | None, *, call: bool, streamed: bool) -> Send:
    content: list[dict[str, Any]] = [{"type": "text", "text": HALF}]
    if call:
        content.append(
            {"type": "tool_use", "id": "toolu_9f", "name": "pay", "input": {"amount": 5}}
        )
    if not streamed:
        return Send(msgspec.json.encode({"content": content, "stop_reason": word}))
    begun = (
        event(type="content_block_start", index=place, content_block=block)
        for place, block in enumerate(content)
    )
    end = event(type="message_delta", delta={"stop_reason": word})
    return Send(b"".join(begun) + end + event(type="message_stop"), SSE)


def gemini(word: str | None, *, call: bool, streamed: bool) -> Send:
    parts: list[dict[str, Any]] = [{"text": HALF}]
    if call:
        parts.append({"functionCall": {"name": "pay", "args": {"amount": 5}, "id": "9f3b"}})
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}}
    candidate |= {"finishReason": word} if word else {}
    body = {"candidates": [candidate]}
    return Send(event(**body), SSE) if streamed else Send(msgspec.json.encode(body))


Ends = Callable[..., Send]
OPEN_ENDED = [
    "abort", "repetition", "insufficient_system_resource", "error", "network_error", "max_time",
    "STOP_UNKNOWN", "cancelled", "timeout", "preempted", "überlast", "stop ", "load",
]  # fmt: skip
FAMILIES: list[tuple[Ends, list[str | None]]] = [
    (chat, [*OPEN_ENDED]),
    (completions, ["abort", "error", "timeout"]),
    (responses, ["failed", "cancelled", "queued", "in_progress", "incomplete", "paused",
                 "incomplete/steered", "incomplete/max_tool_calls", "incomplete/timeout"]),
    (anthropic, ["pause_turn", "compaction", "guardrail_intervened", "content_filtered", "abort",
                 "model_error", "overloaded", "malformed_tool_use", "END_TURN", None]),
    (gemini, ["OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS",
              "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE", "IMAGE_OTHER",
              "stop", "SOMETHING_NEW", None]),
]  # fmt: skip
UNKNOWN = [
    pytest.param(ends, word, id=f"{ends.__name__}-{word}")
    for ends, words in FAMILIES
    for word in words
]
WORSE: dict[Ends, list[str]] = {
    chat: ["length", "max_tokens", "model_length", "model_context_window_exceeded",
           "content_filter", "sensitive", "guardrail_intervened", "refusal"],
    completions: ["content_filter", "sensitive"],
    responses: ["incomplete/max_output_tokens", "incomplete/content_filter"],
    anthropic: ["max_tokens", "model_context_window_exceeded", "refusal"],
    gemini: ["MAX_TOKENS", "SAFETY", "RECITATION", "SPII", "MODEL_ARMOR", "PUP_LIMITED_DISABLED"],
}  # fmt: skip
GOOD: list[tuple[Ends, list[str | None]]] = [
    (chat, ["stop", "tool_calls", "function_call", "eos", "eos_token", "stop_sequence",
            "end_turn", "tool_use", None]),
    (completions, ["stop", "eos", "stop_sequence", None]),
    (responses, ["completed"]),
    (anthropic, ["end_turn", "stop_sequence", "tool_use"]),
    (gemini, ["STOP"]),
]  # fmt: skip
SERVERS: dict[Ends, tuple[Callable[..., HttpServer], Callable[..., Any]]] = {
    chat: (OpenAIServer, openai_chat),
    completions: (OpenAIServer, openai_completions),
    responses: (OpenAIServer, openai_responses),
    anthropic: (AnthropicServer, anthropic_messages),
    gemini: (GeminiServer, google_gemini),
}


class Quiet:
    """A listener, which makes an agent stream."""

    def token(self, text: str) -> None:
        pass

    def entry(self, entry: Entry) -> None:
        pass


class Outcome(msgspec.Struct):
    """What came of a run: its result, how often was paid, and its thoughts."""

    result: Result[Any]
    paid: int
    thoughts: list[Thought]


async def outcome(ends: Ends, turns: Iterable[Turn], *, streamed: bool, faults: int = 1) -> Outcome:
    """Run an agent with a payment over a server that sends these replies."""
    paid: list[int] = []

    @make_tool(effect="unsafe")
    def pay(amount: int) -> str:
        """Pay somebody."""
        paid.append(amount)
        return "paid"

    make_server, make = SERVERS[ends]
    store, listed = MemoryStore(), list(turns)
    with make_server(lambda _: listed.pop(0) if len(listed) > 1 else listed[0], key=KEY) as server:
        model = make("scripted", base_url=server.base_url, api_key=KEY, retries=few(0))
        agent = Agent(
            model=model,
            tools=[pay],
            codec="paper" if ends is completions else "native",
            limits=Limits(faults=faults, steps=2, landing=False),
        )
        result = await run(agent, "Pay 5.", store=store, listener=Quiet() if streamed else None)
        await model.close()
    steps = (await read(result.run_id, store=store)).steps
    return Outcome(result, len(paid), [step.thought for step in steps if step.thought])


BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
CALL = pytest.mark.parametrize("call", [False, True], ids=["text", "call"])


@on_asyncio
@BOTH
@CALL
@pytest.mark.parametrize(("ends", "word"), UNKNOWN)
async def test_an_ending_that_is_not_listed_is_a_fault_that_quotes_it(
    ends: Ends, word: str | None, call: bool, streamed: bool
) -> None:
    found = await outcome(ends, [ends(word, call=call, streamed=streamed)], streamed=streamed)
    assert found.paid == 0
    assert found.result.status != "answered"
    first = found.thoughts[0]
    if first.reply.ending:  # else the stream counts as broken off: it had to be asked for again
        quoted = (word or "null").rpartition("/")[2]
        assert repr(quoted) in first.fault
    else:
        assert (ends, word, streamed) == (gemini, None, True)
        assert "connection was lost" in first.fault


@on_asyncio
@BOTH
@CALL
@pytest.mark.parametrize(
    ("ends", "word"), [(ends, word) for ends, words in WORSE.items() for word in words]
)
async def test_a_limit_a_filter_and_a_refusal_are_told_apart(
    ends: Ends, word: str, call: bool, streamed: bool
) -> None:
    found = await outcome(ends, [ends(word, call=call, streamed=streamed)], streamed=streamed)
    assert (found.paid, found.result.status) == (0, "bound")
    reply = found.thoughts[0].reply
    assert reply.finish in {"length", "filter", "refusal"}
    assert not reply.ending
    assert found.thoughts[0].fault


@on_asyncio
@BOTH
@CALL
@pytest.mark.parametrize(("ends", "word"), [(ends, word) for ends, words in GOOD for word in words])
async def test_a_good_ending_counts(
    ends: Ends, word: str | None, call: bool, streamed: bool
) -> None:
    turn = ends(word, call=call, streamed=streamed)
    found = await outcome(ends, [turn], streamed=streamed)
    assert found.thoughts[0].fault == ""
    assert found.paid == 0 if not call else found.paid >= 1
    if not call:
        assert (found.result.status, found.result.answer) == ("answered", HALF)


TWICE: list[tuple[Ends, list[str], str]] = [
    (chat, ["length", "stop"], "length"),
    (chat, ["length", "tool_calls"], "length"),
    (chat, ["stop", "length"], "length"),
    (chat, ["abort", "stop"], "cut"),
    (chat, ["content_filter", "stop"], "filter"),
    (chat, ["length", "content_filter", "stop"], "filter"),
    (chat, ["stop", "stop"], "stop"),
    (completions, ["length", "stop"], "length"),
    (completions, ["error", "stop"], "cut"),
    (anthropic, ["max_tokens", "end_turn"], "length"),
    (anthropic, ["pause_turn", "tool_use"], "cut"),
    (anthropic, ["refusal", "end_turn"], "filter"),
    (gemini, ["MAX_TOKENS", "STOP"], "length"),
    (gemini, ["SAFETY", "STOP"], "filter"),
    (gemini, ["STOP", "OTHER"], "cut"),
    (gemini, ["FINISH_REASON_UNSPECIFIED", "STOP"], "stop"),
]


@on_asyncio
@pytest.mark.parametrize(
    ("ends", "words", "finish"),
    TWICE,
    ids=[f"{ends.__name__}-{'-'.join(words)}" for ends, words, _ in TWICE],
)
async def test_of_two_endings_of_a_stream_the_worse_counts(
    ends: Ends, words: list[str], finish: str
) -> None:
    if ends is chat:
        said = delta(content=HALF) + b"".join(map(delta, words))
    elif ends is completions:
        pieces = [{"index": 0, "text": HALF if n == 0 else "", "finish_reason": word}
                  for n, word in enumerate(words)]  # fmt: skip
        said = b"".join(event(choices=[piece]) for piece in pieces)
    elif ends is anthropic:
        block = {"type": "text", "text": HALF}
        said = event(type="content_block_start", index=0, content_block=block)
        for word in words:
            said += event(type="message_delta", delta={"stop_reason": word})
    else:
        said = b"".join(
            event(candidates=[{"content": {"parts": [{"text": HALF}]}, "finishReason": word}])
            for word in words
        )
    found = await outcome(ends, [Send(said, SSE)], streamed=True)
    assert found.thoughts[0].reply.finish == finish


async def test_an_item_that_is_not_complete_counts_whatever_the_response_says() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "pay", "arguments": '{"amount": 5}'}
    body = {"status": "completed", "output": [call | {"status": "incomplete"}]}
    found = await outcome(responses, [Send(msgspec.json.encode(body))], streamed=False)
    assert (found.paid, found.thoughts[0].reply.ending) == (0, "incomplete")


async def test_the_next_reply_may_be_complete() -> None:
    turns = [chat(word, call=False, streamed=False) for word in ("abort", "stop")]
    found = await outcome(chat, turns, streamed=False, faults=2)
    assert (found.result.status, found.result.answer) == ("answered", HALF)
    assert "ended it with 'abort'" in found.thoughts[0].fault
