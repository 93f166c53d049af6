"""Replies as servers were seen to send them that no page of an API describes."""

from typing import Any

import msgspec
import pytest

from clew import Agent, Limits, MemoryStore, read, run
from clew import tool as make_tool
from clew.core.contents import RawCall
from clew.core.entries import Entry
from clew.guards import Provenance
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew_testing.servers.openai_server import Send
from tests.models.support import ask, delta, event, few, listener, over, tool

SSE = "text/event-stream"
DONE = b"data: [DONE]\n\n"


class Quiet:
    """Listens, and says nothing."""

    def token(self, text: str) -> None:
        pass

    def entry(self, entry: Entry) -> None:
        pass


BOTH = pytest.mark.parametrize("streamed", [False, True])
EMOJI = "\U0001f600"


def stream(*events: bytes) -> Send:
    return Send(b"".join((*events, DONE)), SSE)


def body(**message: Any) -> Send:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return Send(msgspec.json.encode({"choices": [choice]}))


@pytest.mark.parametrize("make", [openai_chat, openai_completions])
async def test_a_filter_that_sends_no_message_is_asked_once_and_named(make: Any) -> None:
    filtered = Send(b'{"choices": [{"index": 0, "finish_reason": "content_filter"}]}')
    store = MemoryStore()
    async with over(lambda _: filtered, make=make, retries=few(3)) as (model, server, waits):
        codec = "native" if make is openai_chat else "paper"
        agent = Agent(model=model, codec=codec, limits=Limits(faults=1, landing=False))
        result = await run(agent, "Why?", store=store)
    assert (len(server.requests), waits, result.status) == (1, [], "bound")
    [step] = (await read(result.run_id, store=store)).steps
    assert step.thought is not None
    assert step.thought.reply.finish == "filter"
    assert "content filter" in step.thought.fault


@BOTH
async def test_thinking_in_blocks_of_content_is_kept_as_reasoning(streamed: bool) -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "Let me see: "}]}]
    further = [{"type": "thinking", "thinking": "2 + 2."}]
    text = [{"type": "text", "text": "It is "}]
    said = (
        stream(delta(content=thinking), delta(content=further), delta(content=text),
               delta(content="4."), delta("stop"))
        if streamed
        else body(content=[*thinking, *further, *text, {"type": "text", "text": "4."}])
    )  # fmt: skip
    pieces: list[str] = []
    async with over([said]) as (model, _, _):
        reply = await model.complete(ask(), listener(pieces) if streamed else None)
    assert (reply.text, reply.reasoning) == ("It is 4.", "Let me see: 2 + 2.")
    assert "".join(pieces) == ("It is 4." if streamed else "")


@pytest.mark.parametrize("make", [openai_chat, openai_completions])
async def test_what_belongs_to_a_second_choice_is_not_heard(make: Any) -> None:
    key = "delta" if make is openai_chat else "text"

    def piece(index: int, text: str, finish: str | None = None) -> bytes:
        said = {"content": text} if key == "delta" else text
        return event(choices=[{"index": index, key: said, "finish_reason": finish}])

    both = event(
        choices=[
            {"index": 1, key: {"content": "no"} if key == "delta" else "no"},
            {"index": 0, key: {"content": "Vienna"} if key == "delta" else "Vienna"},
        ]
    )
    said = stream(piece(1, "I am "), both, piece(1, " Salzburg", "length"), piece(0, ".", "stop"))
    async with over([said], make=make) as (model, _, _):
        reply = await model.complete(ask(), listener([]))
    assert (reply.text, reply.finish) == ("Vienna.", "stop")


@BOTH
async def test_a_call_of_a_custom_tool_has_its_name_and_its_input(streamed: bool) -> None:
    whole = {"id": "c1", "type": "custom", "custom": {"name": "search", "input": "Ada"}}
    begun = {**whole, "index": 0, "custom": {"name": "search", "input": "A"}}
    rest = {"index": 0, "custom": {"input": "da"}}
    said = (
        stream(delta(tool_calls=[begun]), delta(tool_calls=[rest]), delta("tool_calls"))
        if streamed
        else body(content=None, tool_calls=[whole])
    )
    async with over([said]) as (model, _, _):
        asked = ask(tools=(tool("search"),))
        reply = await model.complete(asked, listener([]) if streamed else None)
    assert reply.calls == (RawCall(name="search", arguments="Ada", id="c1"),)
    assert reply.wire is None


async def test_a_custom_tool_of_the_responses_api_has_its_name_and_its_input() -> None:
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "search", "input": "Ada"}
    said = Send(msgspec.json.encode({"status": "completed", "output": [item]}))
    async with over([said], make=openai_responses) as (model, _, _):
        reply = await model.complete(ask(tools=(tool("search"),)))
    assert reply.calls == (RawCall(name="search", arguments="Ada", id="c1"),)


CUT = [
    (rb"cut \ud83d", "cut \ufffd"),
    (rb"\ude00 cut", "\ufffd cut"),
    (rb"\ud83d\u0041", "\ufffdA"),
    (rb"\ud83d\ud83d\ude00", f"\ufffd{EMOJI}"),
    (rb"a \\ud83d and \ud83d", "a \\ud83d and \ufffd"),
]


@BOTH
@pytest.mark.parametrize(("raw", "text"), CUT)
async def test_half_a_character_is_mended_and_named(raw: bytes, text: str, streamed: bool) -> None:
    plain = b'{"choices":[{"index":0,"message":{"content":"' + raw + b'"},"finish_reason":"stop"}]}'
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"' + raw + b'"}}]}\n\n'
    said = stream(chunk, delta("stop")) if streamed else Send(plain)
    store = MemoryStore()
    async with over([said], retries=few(0)) as (model, server, _):
        watches = Quiet() if streamed else None
        result = await run(Agent(model=model), "What?", store=store, listener=watches)
    assert (result.answer, len(server.requests)) == (text, 1)
    [step] = (await read(result.run_id, store=store)).steps
    assert step.thought is not None
    assert step.thought.repairs == ("half a character replaced by U+FFFD",)


@pytest.mark.parametrize("effect", ["read", "idempotent", "unsafe"])
@pytest.mark.parametrize("raw", [rb"{\"text\": \"cut \\ud83d\"}", rb"{\"text\": \"cut \ud83d\"}"])
async def test_half_a_character_in_arguments_is_mended_and_named_unless_they_act(
    raw: bytes, effect: Any
) -> None:
    seen: list[str] = []

    @make_tool(effect=effect)
    def note(text: str) -> str:
        """Note a text."""
        seen.append(text)
        return "noted"

    plain = (
        b'{"choices":[{"index":0,"message":{"content":"","tool_calls":[{"id":"c1","type":"function",'
        b'"function":{"name":"note","arguments":"' + raw + b'"}}]},"finish_reason":"tool_calls"}]}'
    )
    store = MemoryStore()
    async with over([Send(plain), body(content="Noted.")]) as (model, _, _):
        agent = Agent(model=model, tools=[note], guards=[Provenance("off")])
        result = await run(agent, "Note it.", store=store)
    assert (result.answer, seen) == ("Noted.", ["cut \ufffd"] if effect == "read" else [])
    record = await read(result.run_id, store=store)
    first, told = record.steps[0].thought, record.call("1.1").observation
    assert first is not None
    assert first.repairs == ("half a character replaced by U+FFFD",)
    assert told is not None
    if effect != "read":
        assert told.text.startswith(
            "ERROR: invalid_arguments: half a character stands in the arguments, and note changes "
            "things: nothing was done"
        )
