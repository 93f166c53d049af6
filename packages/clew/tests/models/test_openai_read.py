"""What comes back: replies plain and streamed, as servers are known to write them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.contents import RawCall, Usage, Wire
from clew.core.models import OnText
from clew.models.openai.chat_prompt import NAMES, declare
from clew.models.openai.chat_reply import ChatReplyBuilder
from clew.models.prices import Price
from clew.models.tool_names import toolbox
from clew_testing.servers.openai_server import Delay, OpenAIServer, Say, Send, Turn, chunks, reply
from tests.models.support import ask, call, delta, event, few, listener, over, tool, watcher

SSE = "text/event-stream"
DONE = b"data: [DONE]\n\n"
TOOLS = (tool("search"),)
BOTH = pytest.mark.parametrize("streamed", [False, True])


@BOTH
async def test_text_and_calls_arrive_together_and_verbatim(streamed: bool) -> None:
    said = Say("Let me see. ", calls=[("search", '{ "query":\n"é" }'), ("search", None)])
    async with over([said], piece=5) as (model, _, _):
        reply = await model.complete(ask(tools=TOOLS), watcher(streamed=streamed))
    assert reply.text == "Let me see. "
    assert reply.calls == (
        RawCall(name="search", arguments='{ "query":\n"é" }', id="call_0"),
        RawCall(name="search", arguments=None, id="call_1"),
    )
    assert reply.finish == "calls"
    assert reply.wire is None


@BOTH
@pytest.mark.parametrize(
    ("said", "finish"),
    [
        (Say("Done."), "stop"),
        (Say("Done.", finish="length"), "length"),
        (Say("", finish="content_filter"), "filter"),
        (Say(None, refusal="I will not."), "refusal"),
        (Say("Done.", finish="eos"), "stop"),
        (Say("", finish="eos"), "stop"),
        (Say("Done.", finish="abort"), "cut"),
        (Say("", finish="stop"), "stop"),
        (Say("", calls=[("search", "{}")], finish="stop"), "calls"),
        (Say("", calls=[("search", '{"que')], finish="length"), "length"),
        (Say("Nothing to call.", finish="tool_calls"), "stop"),
    ],
)
async def test_how_it_ended(said: Say, finish: str, streamed: bool) -> None:
    async with over([said], retries=few(0)) as (model, _, _):
        reply = await model.complete(ask(tools=TOOLS), watcher(streamed=streamed))
    assert reply.finish == finish
    assert reply.text == (said.text or said.refusal or "")


@BOTH
async def test_usage_cost_and_model_are_what_the_server_says(streamed: bool) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    said = Say("Ok.", usage=usage, model="scripted-2026-01-01")
    prices = {"scripted": Price(1.0, 10.0, 0.5)}
    async with over([said], prices=prices) as (model, _, _):
        assert model.info.priced
        reply = await model.complete(ask(), watcher(streamed=streamed))
    assert reply.model == "scripted-2026-01-01"
    cost = (400 * 1.0 + 600 * 0.5 + 100 * 10.0) / 1_000_000
    assert reply.usage == Usage(1000, 100, 600, 40, cost)


@BOTH
async def test_usage_that_did_not_come_is_estimated_and_says_so(streamed: bool) -> None:
    async with over([Say("Twelve signs", usage={})]) as (model, server, _):
        assert not model.info.priced
        reply = await model.complete(ask(), watcher(streamed=streamed))
    assert reply.usage.estimated
    assert reply.usage.cost is None
    assert reply.usage.output == 3
    assert reply.usage.input == len(server.requests[0].raw) // 4


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Usage(9, 1, cached=4, estimated=True)),
        ({"prompt_tokens": 9, "num_cached_tokens": 4}, Usage(9, 1, cached=4, estimated=True)),
        ({"prompt_tokens": 9, "cached_tokens": 4}, Usage(9, 1, cached=4, estimated=True)),
        ({"prompt_tokens": 5, "prompt_tokens_details": "none"}, Usage(5, 1, estimated=True)),
        ({"prompt_tokens": 9, "completion_tokens": 2.0}, Usage(9, 2)),
    ],
)
async def test_odd_usage_is_read_as_far_as_it_goes(usage: Any, expected: Usage) -> None:
    async with over([Say("Ok.", usage=usage)]) as (model, _, _):
        assert (await model.complete(ask())).usage == expected


async def test_older_and_other_dialects_of_a_plain_reply() -> None:
    messages: list[dict[str, Any]] = [
        {"content": None, "function_call": {"name": "search", "arguments": "{}"}},
        {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hi."}]},
        {"tool_calls": [{"function": {"name": "search", "arguments": {"query": "x"}}}]},
        {"tool_calls": [{"index": 0, "function": {"name": "a"}}, {"index": 0, "id": None}]},
        {"content": "", "tool_calls": [], "refusal": "", "annotations": [], "x": None}
        | {"function_call": {"name": "", "arguments": ""}},
    ]
    script: list[Turn] = [
        Send(msgspec.json.encode({"choices": [{"message": message}]})) for message in messages
    ]
    async with over(script, retries=few(0)) as (model, _, _):
        legacy, blocks, objects, unnumbered, empty = [
            await model.complete(ask(tools=TOOLS)) for _ in script
        ]
    assert legacy.calls == (RawCall(name="search", arguments="{}"),)
    assert (blocks.text, blocks.wire) == ("Hi.", None)
    assert objects.calls == (RawCall(name="search", arguments='{"query":"x"}'),)
    assert unnumbered.calls == (RawCall(name="a"), RawCall(name=""))
    assert (empty.text, empty.calls, empty.finish, empty.model) == ("", (), "cut", "scripted")


async def stream(*events: bytes, show: OnText | None = None, **options: Any) -> Any:
    """The reply to a scripted stream."""
    async with over([Send(b"".join(events), SSE)], retries=few(0), **options) as (model, _, _):
        return await model.complete(ask(tools=TOOLS), show or listener([]))


async def test_a_stream_shows_its_text_as_it_comes() -> None:
    pieces: list[str] = []
    async with over([Say("One two three.")]) as (model, server, _):
        reply = await model.complete(ask(), listener(pieces))
    assert pieces == ["One ", "two ", "three."]
    assert reply.text == "One two three."
    assert not reply.usage.estimated
    assert server.requests[0].body["stream_options"] == {"include_usage": True}


async def test_calls_in_every_kind_of_piece() -> None:
    def piece(**fields: Any) -> bytes:
        return delta(tool_calls=[fields])

    begins = {"name": "search", "arguments": ""}
    numbered = await stream(
        piece(index=0, id="a", function=begins),
        piece(index=1, id="b", function={"name": "search"}),
        piece(index=0, function={"arguments": '{"q'}),
        piece(index=1, function={"arguments": "{}"}),
        piece(index=0, id="a", function={"name": "search", "arguments": '":1}'}),
        delta("tool_calls"),
        DONE,
    )
    assert numbered.calls == (call("search", '{"q":1}', "a"), call("search", "{}", "b"))

    unnumbered = await stream(
        piece(index=None, id="a", function={"name": "search", "arguments": "{"}),
        piece(function={"arguments": "}"}),
        piece(id="b", function={"name": "search", "arguments": "{}"}),
        piece(function={"name": "search", "arguments": "[]"}),
        delta(tool_calls=[{"function": {"name": "x"}}, {"function": {"name": "y"}}], finish="stop"),
        DONE,
    )
    assert unnumbered.calls == (
        call("search", "{}", "a"),
        call("search", "{}", "b"),
        call("search", "[]", ""),
        call("x", None, ""),
        call("y", None, ""),
    )

    all_zero = await stream(
        piece(index=0, id="a", function={"name": "search", "arguments": "{}"}),
        piece(index=0, id="b", function={"name": "search", "arguments": "[]"}),
        delta("tool_calls"),
    )
    assert all_zero.calls == (call("search", "{}", "a"), call("search", "[]", "b"))

    legacy = await stream(
        delta(function_call={"name": "search", "arguments": ""}),
        delta(function_call={"arguments": "{}"}),
        delta("function_call"),
        DONE,
    )
    assert legacy.calls == (call("search", "{}", ""),)
    assert legacy.finish == "calls"


async def test_keys_of_the_providers_own_grow_with_the_stream() -> None:
    reply = await stream(
        delta(reasoning_content="First, ", note=1),
        delta(reasoning_content="then.", details=[{"a": 1}], note=2),
        delta(details=[{"b": 2}]),
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "search"}}]),
        delta(tool_calls=[{"index": 0, "extra_content": {"signature": "s"}}], finish="stop"),
    )
    message = {"reasoning_content": "First, then.", "note": 2, "details": [{"a": 1}, {"b": 2}]}
    assert reply.wire == Wire(
        "openai",
        "scripted",
        {"message": message, "calls": [{"extra_content": {"signature": "s"}}]},
    )


async def test_what_the_model_thought_can_be_read_and_numbered_pieces_become_whole() -> None:
    def thought(**piece: Any) -> bytes:
        item = {"type": "reasoning.text", "index": 0, "signature": None} | piece
        return delta(reasoning=piece.get("text"), reasoning_details=[item])

    reply = await stream(
        thought(text="First, "),
        thought(text="then.", format="f"),
        thought(signature="s"),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "x"}]),
        delta(reasoning_details=["odd", "too"]),
        delta(content="Ok.", finish="stop"),
    )
    assert reply.reasoning == "First, then."
    text = {"type": "reasoning.text", "index": 0, "text": "First, then.", "format": "f"}
    details = [text | {"signature": "s"}, {"type": "reasoning.encrypted", "index": 1, "data": "x"}]
    assert reply.wire is not None
    assert reply.wire.items == {"message": {"reasoning_details": [*details, "odd", "too"]}}


async def test_comments_other_fields_and_line_ends_of_events_are_understood() -> None:
    reply = await stream(
        b": keep-alive\r\n\r\n",
        b"event: message\r\ndata:"
        + delta(content="Hi").removeprefix(b"data: ").strip()
        + b"\r\n\r\n",
        event(choices=[], usage={"prompt_tokens": 3}),
        event(choices=None),
        delta("stop"),
        DONE,
        b"data: whatever comes after is not read\n\n",
    )
    assert (reply.text, reply.usage.input, reply.finish) == ("Hi", 3, "stop")


async def test_a_stream_without_a_finish_reason_or_without_done_is_whole() -> None:
    assert (await stream(delta(content="Hi"), DONE)).finish == "stop"
    assert (await stream(delta("stop", content="Hi"))).text == "Hi"


async def test_a_last_event_without_its_line_end_counts() -> None:
    assert (await stream(delta(content="Hi"), delta("length").rstrip())).finish == "length"


async def test_a_server_that_does_not_stream_is_read_whole() -> None:
    body = {"choices": [{"message": {"content": "All at once."}, "finish_reason": "stop"}]}
    pieces: list[str] = []
    async with over([Send(msgspec.json.encode(body))]) as (model, _, _):
        reply = await model.complete(ask(), listener(pieces))
    assert (reply.text, pieces) == ("All at once.", ["All at once."])


async def test_whoever_has_enough_ends_the_stream() -> None:
    said = Say("Action 1: search[x] Observation 1: made up", usage={"prompt_tokens": 9})
    pieces: list[str] = []
    script: list[Turn] = [Delay(said, at=2000), Say("Next.")]
    async with over(script) as (model, server, _):
        enough = listener(pieces, lambda text: "Observation" in text)
        reply = await model.complete(ask(), enough)
        assert reply.text == "".join(pieces) == "Action 1: search[x] Observation "
        assert reply.finish == "stop"
        assert reply.usage.estimated
        assert (await model.complete(ask())).text == "Next."
        assert server.connections == 2


async def test_a_server_that_keeps_a_finished_stream_open_is_not_waited_for() -> None:
    whole = b"".join(chunks(Say("Ok."), {"model": "scripted", "messages": []}))
    async with over([Delay(Say("Ok.", usage={}), at=len(whole)), Say("Next.")]) as (model, _, _):
        assert (await model.complete(ask(), listener([]))).text == "Ok."
        assert (await model.complete(ask(), listener([]))).text == "Next."


text = st.text(st.characters(codec="utf-8"), max_size=30)
says = st.builds(
    Say,
    text,
    calls=st.lists(st.tuples(st.sampled_from(["search", "look"]), st.none() | text), max_size=3),
    finish=st.sampled_from(["", "stop", "length", "content_filter"]),
    more=st.dictionaries(st.just("reasoning_content"), text.filter(bool), max_size=1),
)


@given(says)
def test_streamed_and_plain_are_the_same_reply(said: Say) -> None:
    request = {"model": "m", "messages": [], "stream_options": {"include_usage": True}}
    box = toolbox((), NAMES, declare)
    whole, pieces = ChatReplyBuilder(("p", "m"), box), ChatReplyBuilder(("p", "m"), box)
    whole.take(msgspec.json.encode(reply(said, request)), complete=True)
    for line in chunks(said, request):
        pieces.take(line.removeprefix(b"data: ").strip(), complete=False)
    assert pieces.done
    assert pieces.reply(0) == whole.reply(0)


def test_the_server_can_be_used_without_a_script() -> None:
    with OpenAIServer() as server:
        assert server.base_url.startswith("http://127.0.0.1:")
