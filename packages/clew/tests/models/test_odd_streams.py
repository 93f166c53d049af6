"""Streams as gateways were seen to send them: what comes twice counts once, and nothing is lost."""

from typing import Any

import msgspec
import pytest

from clew import Agent, Limits, MemoryStore, read, run
from clew.core.contents import RawCall
from clew.models.openai.responses import openai_responses
from clew_testing.servers.http_server import Send
from tests.models import messages
from tests.models.support import ask, delta, event, listener, over, tool

SSE = "text/event-stream"
DONE = b"data: [DONE]\n\n"
TEXT = "The lamp of the north light is out."

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


async def chat(*events: bytes) -> str:
    said = Send(b"".join((*events, delta("stop"), DONE)), SSE)
    async with over([said]) as (model, _, _):
        return (await model.complete(ask(), listener([]))).text


def words(text: str) -> list[str]:
    *first, last = text.split(" ")
    return [*(f"{word} " for word in first), last]


def grown(pieces: list[str]) -> list[str]:
    return ["".join(pieces[: n + 1]) for n in range(len(pieces))]


@pytest.mark.parametrize("pieces", [
    words(TEXT), list(TEXT), [TEXT[:12], TEXT[12:]], [TEXT[:1], TEXT[1:3], TEXT[3:]],
    ["The lamp of the north", " light ", "is out."], words(TEXT * 20),
])  # fmt: skip
@pytest.mark.parametrize("again", [False, True])
async def test_deltas_that_say_all_of_it_again_count_once(pieces: list[str], again: bool) -> None:
    whole = grown(pieces)
    events = [delta(content=piece) for piece in [*whole, *([whole[-1]] if again else [])]]
    assert await chat(*events) == "".join(pieces)


@pytest.mark.parametrize("pieces", [
    ["ha", "haha"], ["1", "12"], ["a", "a", "a"], ["=" * 20, "=" * 20], ["no ", "no ", "no way"],
    ["A", "B", "AB"], ["x", "xy", "z"], ["The ", "The ", "The lamp"], ["", "a", ""],
    ["1.", " 1.", " 1.1"],
])  # fmt: skip
async def test_texts_that_repeat_themselves_stay_as_they_are(pieces: list[str]) -> None:
    assert await chat(*(delta(content=piece) for piece in pieces)) == "".join(pieces)


async def test_the_whole_text_in_the_last_delta_counts_once() -> None:
    assert await chat(*(delta(content=piece) for piece in [*words(TEXT), TEXT])) == TEXT


@pytest.mark.parametrize("place", ["beside", "after", "alone"])
async def test_a_message_beside_deltas_counts_once(place: str) -> None:
    message = {"role": "assistant", "content": TEXT}
    pieces = [{"index": 0, "delta": {"content": piece}} for piece in words(TEXT)]
    if place == "beside":
        pieces = [{**piece, "message": message} for piece in pieces]
    elif place == "after":
        pieces.append({"index": 0, "delta": {}, "message": message})
    else:
        pieces = [{"index": 0, "message": message}]
    assert await chat(*(event(choices=[piece]) for piece in pieces)) == TEXT


async def test_a_call_in_a_message_after_deltas_counts_once() -> None:
    called = {"index": 0, "id": "a9", "function": {"name": "search", "arguments": "{}"}}
    last = {"index": 0, "delta": {}, "message": {"tool_calls": [called]}}
    events = [delta(tool_calls=[called]), event(choices=[last]), delta("tool_calls"), DONE]
    async with over([Send(b"".join(events), SSE)]) as (model, _, _):
        reply = await model.complete(ask(tools=(tool("search"),)), listener([]))
    assert reply.calls == (RawCall(name="search", arguments="{}", id="a9"),)


def begin(index: int, **block: Any) -> bytes:
    return event(type="content_block_start", index=index, content_block=block)


def more(index: int, kind: str, **piece: Any) -> bytes:
    return event(type="content_block_delta", index=index, delta={"type": kind, **piece})


async def anthropic(*events: bytes) -> Any:
    end = event(type="message_delta", delta={"stop_reason": "end_turn"})
    said = Send(b"".join((*events, end, event(type="message_stop"))), SSE)
    async with messages.over([said]) as (model, _, _):
        return await model.complete(messages.talk(), listener([]))


def used(index: int, id_: str, query: str) -> bytes:
    return begin(index, type="tool_use", id=id_, name="search", input={}) + more(
        index, "input_json_delta", partial_json=f'{{"query": "{query}"}}'
    )


async def test_a_block_index_that_comes_again_overwrites_nothing() -> None:
    reply = await anthropic(
        begin(0, type="text", text=""), more(0, "text_delta", text="First. "),
        used(0, "a1", "x"), used(0, "a2", "y"),
        begin(0, type="text", text=""), more(0, "text_delta", text="Last."),
    )  # fmt: skip
    assert reply.text == "First. Last."
    assert [(call.id, call.arguments) for call in reply.calls] == [
        ("a1", '{"query": "x"}'), ("a2", '{"query": "y"}'),
    ]  # fmt: skip


async def test_text_at_a_block_of_thinking_is_text() -> None:
    reply = await anthropic(
        begin(0, type="thinking", thinking="", signature=""),
        more(0, "thinking_delta", thinking="Hm."),
        more(0, "text_delta", text="It is "), more(0, "text_delta", text="out."),
    )  # fmt: skip
    assert (reply.text, reply.reasoning) == ("It is out.", "Hm.")


async def test_thinking_at_a_block_of_text_is_thinking() -> None:
    reply = await anthropic(
        begin(0, type="text", text="It is "), more(0, "thinking_delta", thinking="Hm."),
        more(0, "text_delta", text="out."),
    )  # fmt: skip
    assert (reply.text, reply.reasoning) == ("It is out.", "Hm.")


async def test_pieces_without_a_beginning_have_the_kind_that_they_say() -> None:
    reply = await anthropic(
        more(0, "thinking_delta", thinking="Hm."), more(1, "text_delta", text="Out.")
    )
    assert (reply.text, reply.reasoning) == ("Out.", "Hm.")


def message(text: str, phase: str | None = None) -> dict[str, Any]:
    block = {"type": "output_text", "text": text}
    said = {"type": "message", "role": "assistant", "content": [block]}
    return said | ({"phase": phase} if phase else {})


CALL = {"type": "function_call", "call_id": "a9", "name": "search", "arguments": '{"query": "x"}'}
WAY, END = message("I look at the lamps.", "commentary"), message("It is out.", "final_answer")


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize(
    ("output", "text", "finish"),
    [
        ([WAY, END], "It is out.", "stop"),
        ([WAY, WAY, END], "It is out.", "stop"),
        ([END], "It is out.", "stop"),
        ([message("Plain.")], "Plain.", "stop"),
        ([WAY, message("Plain.")], "Plain.", "stop"),
        ([WAY], "I look at the lamps.", "cut"),
        ([WAY, WAY], "I look at the lamps.\n\nI look at the lamps.", "cut"),
        ([WAY, CALL], "I look at the lamps.", "calls"),
        ([WAY, END, CALL], "I look at the lamps.\n\nIt is out.", "calls"),
    ],
)
async def test_commentary_is_no_part_of_an_answer_and_none_itself(
    output: list[Any], text: str, finish: str, streamed: bool
) -> None:
    body = {"status": "completed", "output": output}
    said = (
        Send(event(type="response.completed", response=body), SSE)
        if streamed
        else Send(msgspec.json.encode(body))
    )
    async with over([said], make=openai_responses) as (model, _, _):
        asked = ask(tools=(tool("search"),))
        reply = await model.complete(asked, listener([]) if streamed else None)
    assert (reply.text, reply.finish) == (text, finish)


async def test_a_run_goes_on_behind_commentary() -> None:
    bodies = [{"status": "completed", "output": output} for output in ([WAY], [WAY, END])]
    script = [Send(msgspec.json.encode(body)) for body in bodies]
    store = MemoryStore()
    async with over(script, make=openai_responses) as (model, _, _):
        agent = Agent(model=model, limits=Limits(faults=3))
        result = await run(agent, "Is it out?", store=store)
    assert (result.status, result.answer) == ("answered", "It is out.")
    first = (await read(result.run_id, store=store)).steps[0].thought
    assert first is not None
    assert "'commentary'" in first.fault


@pytest.mark.parametrize("id_", [0, 7, -1, 2**60, 2**63, 10**30, 1764403200.25, 1.5, 1e300])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_number_for_an_id_is_one(id_: float, streamed: bool) -> None:
    called = {"index": 0, "id": id_, "function": {"name": "search", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [called]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    said = (
        Send(b"".join((delta(tool_calls=[called]), delta("tool_calls"), DONE)), SSE)
        if streamed
        else Send(msgspec.json.encode(whole), "application/json")
    )
    async with over([said]) as (model, _, _):
        reply = await model.complete(
            ask(tools=(tool("search"),)), listener([]) if streamed else None
        )
    assert reply.calls == (RawCall(name="search", arguments="{}", id=str(id_)),)
