"""The Responses API, the way back: plain and streamed alike, and what goes wrong on it."""

from typing import Any

import msgspec
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, Limits, MemoryStore, run
from clew import tool as make_tool
from clew.core.codes import Finish
from clew.core.contents import Reply, Usage
from clew.guards import Provenance
from clew.models.openai.responses import openai_responses
from clew.models.openai.responses_reply import ResponsesReplyBuilder
from clew.models.prices import Price
from clew.models.tool_names import NameRules, toolbox
from clew.support.errors import ModelError
from clew_testing.servers.http_server import ReceivedRequest
from clew_testing.servers.openai_server import Cut, Fail, OpenAIServer, Say, Send, Turn
from clew_testing.servers.openai_service import Access
from clew_testing.servers.responses import Responses
from tests.models.support import KEY, ask, call, event, few, listener, over, tool, watcher

SSE = "text/event-stream"
BOTH = pytest.mark.parametrize("streamed", [False, True])
REQUEST = {"model": "scripted", "input": [], "include": ["reasoning.encrypted_content"]}
SAID = Say("One two three.", calls=[("search", '{"query": "x"}')], reasoning="Hm.")
DONE = {"type": "response.completed", "response": {"status": "completed"}}


def responses(script: Any, **options: Any) -> Any:
    return over(script, make=openai_responses, **options)


def draft() -> ResponsesReplyBuilder:
    return ResponsesReplyBuilder(
        ("openai-responses", "scripted"), toolbox((), NameRules(), lambda *_: None)
    )


def read(*events: dict[str, Any], show: Any = None) -> Reply:
    """The reply of a stream, without a server."""
    read_so_far = draft()
    for one in events:
        read_so_far.take(msgspec.json.encode(one), complete=False)
    return read_so_far.reply(0)


@BOTH
@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        (Say("Ok."), "stop", "Ok."),
        (SAID, "calls", "One two three."),
        (Say("Half", finish="length"), "length", "Half"),
        (Say("Half", calls=[("search", "{")], finish="filter"), "filter", "Half"),
        (Say(refusal="I will not."), "refusal", "I will not."),
        (Say("No.", finish="refusal"), "refusal", "No."),
        (Say("Half", finish="cancelled"), "cut", "Half"),
    ],
)
async def test_how_it_ended(said: Say, finish: Finish, text: str, streamed: bool) -> None:
    async with responses([said]) as (model, _, _):
        reply = await model.complete(ask(tools=(tool("search"),)), watcher(streamed=streamed))
    assert (reply.finish, reply.text) == (finish, text)


@BOTH
async def test_calls_usage_reasoning_and_model_are_read(streamed: bool) -> None:
    usage = Usage(100, 20, 40, 5, written=10)
    two = [("search", '{"query": "x"}'), ("search", "")]
    said = Say("", calls=two, usage=usage, reasoning="So.", model="m-2026")
    async with responses([said], prices={"scripted": Price(1.0, 10.0, 0.5)}) as (model, _, _):
        reply = await model.complete(ask(tools=(tool("search"),)), watcher(streamed=streamed))
    assert reply.calls == (
        call("search", '{"query": "x"}', "call_0_0"),
        call("search", "", "call_0_1"),
    )
    assert (reply.model, reply.reasoning) == ("m-2026", "So.\n\nAnd then.")
    cost = pytest.approx((60 * 1.0 + 40 * 0.5 + 20 * 10.0) / 1e6)
    assert reply.usage.cost == cost
    assert msgspec.structs.replace(reply.usage, cost=None) == usage


@BOTH
async def test_usage_that_did_not_come_is_estimated(streamed: bool) -> None:
    async with responses([Say("Ok.", usage={})]) as (model, _, _):
        assert (await model.complete(ask(), watcher(streamed=streamed))).usage.estimated


async def test_a_stream_shows_its_text_as_it_comes_and_may_be_ended() -> None:
    pieces: list[str] = []
    async with responses([Say("One two three."), Say("One two three.")], piece=7) as found:
        model, _, _ = found
        await model.complete(ask(), listener(pieces))
        assert "".join(pieces) == "One two three."
        assert len(pieces) == 3
        reply = await model.complete(ask(), listener([], lambda text: "two" in text))
    assert (reply.text, reply.finish) == ("One two ", "stop")


def test_several_messages_are_told_apart() -> None:
    def part(place: int, text: str) -> dict[str, Any]:
        return {"type": "response.output_text.delta", "output_index": place, "delta": text}

    shown = draft()
    events = [part(0, "Looking"), part(0, "."), part(2, "Found.")]
    assert [shown.take(msgspec.json.encode(one), complete=False) for one in events] == [
        "Looking",
        ".",
        "\n\nFound.",
    ]
    shown.take(msgspec.json.encode(DONE), complete=False)
    assert shown.reply(0).text == "Looking.\n\nFound."


def test_several_messages_with_a_sealed_thought_keep_their_texts() -> None:
    def message(text: str) -> dict[str, Any]:
        return {"type": "message", "content": [{"type": "output_text", "text": text}]}

    sealed = {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []}
    thought = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm."}]} | sealed
    output = [thought, message("One."), message("Two.")]
    whole = draft()
    whole.take(msgspec.json.encode({"output": output, "status": "completed"}), complete=True)
    reply = whole.reply(0)
    assert reply.wire is not None
    assert reply.wire.items[1:] == [
        {"type": "message", "text": "One."},
        {"type": "message", "text": "Two."},
    ]
    assert reply.reasoning == "Hm."


def test_items_that_come_whole_or_only_in_pieces_count() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}
    shown = draft()
    done = {"type": "response.output_item.done", "output_index": 0, "item": message}
    assert shown.take(msgspec.json.encode(done), complete=False) == "Hi."
    arguments = {"type": "response.function_call_arguments.delta", "output_index": 1}
    shown.take(msgspec.json.encode(arguments | {"delta": '{"a'}), complete=False)
    shown.take(msgspec.json.encode(arguments | {"delta": '":1}'}), complete=False)
    assert not shown.ended
    shown.take(b"[DONE]", complete=False)
    assert shown.done
    reply = shown.reply(0)
    assert (reply.text, reply.calls[0].arguments, reply.finish) == ("Hi.", '{"a":1}', "cut")


def test_thinking_in_the_text_is_no_part_of_what_was_said() -> None:
    reply = read(
        {"type": "response.output_text.delta", "delta": "<think>Hm.</think>Hi."},
        DONE,
    )
    assert (reply.text, reply.reasoning, reply.finish) == ("Hi.", "Hm.", "stop")


def test_odd_ends() -> None:
    half = {"type": "response.output_text.delta", "delta": "Half"}
    steered = {"status": "incomplete", "incomplete_details": {"reason": "steered"}}
    assert read(half, DONE | {"response": steered}).finish == "cut"
    assert read(half, DONE | {"response": {"status": "incomplete"}}).finish == "cut"
    assert draft().empty
    quiet = draft()
    quiet.take(
        msgspec.json.encode({"type": "response.reasoning_text.delta", "delta": "x"}), complete=False
    )
    quiet.take(msgspec.json.encode({"type": "response.completed"}), complete=False)
    assert quiet.empty
    assert not quiet.ended


@given(
    st.builds(
        Say,
        text=st.text(max_size=30).map(lambda text: text.replace("<think>", "")),
        calls=st.lists(
            st.tuples(st.sampled_from(["search", "find"]), st.text(max_size=20)), max_size=3
        ),
        reasoning=st.sampled_from(["", "Hm."]),
        finish=st.sampled_from(["", "length", "filter"]),
        refusal=st.sampled_from([None, "No."]),
    )
)
def test_streamed_and_plain_are_the_same_reply(said: Say) -> None:
    seen = ReceivedRequest("/v1/responses", {}, REQUEST, b"")
    plain, streamed = draft(), draft()
    plain.take(Responses(Access()).full_body(said, seen), complete=True)
    shown = "".join(
        streamed.take(line[6:], complete=False)
        for event in Responses(Access()).events(said, seen)
        for line in event.split(b"\n")
        if line.startswith(b"data: ")
    )
    assert streamed.reply(0) == plain.reply(0)
    if not said.refusal:  # what might begin a thought is held back to the end
        assert plain.reply(0).text.startswith(shown)


async def test_a_stream_cut_anywhere_ends_in_the_whole_reply() -> None:
    seen = ReceivedRequest("/v1/responses", {}, REQUEST, b"")
    length = len(b"".join(Responses(Access()).events(SAID, seen)))
    cuts = range(0, length, 211)
    script: list[Turn] = [turn for at in cuts for turn in (Cut(SAID, at), SAID)]
    async with responses(script) as (model, _, _):
        for _ in cuts:
            reply = await model.complete(ask(tools=(tool("search"),)), listener([]))
            assert (reply.text, reply.finish) == ("One two three.", "calls")
            assert reply.calls[0].arguments == '{"query": "x"}'


async def test_a_stream_that_always_breaks_off_is_a_cut_reply() -> None:
    half = Send(event(type="response.output_text.delta", delta="Half"), SSE)
    async with responses([half, half], retries=few(1)) as (model, _, _):
        reply = await model.complete(ask(), listener([]))
    assert (reply.text, reply.finish) == ("Half", "cut")


FAILED = {"type": "response.failed", "response": {"status": "failed"}}


def failed(code: str) -> dict[str, Any]:
    return {"status": "failed", "output": [], "error": {"code": code, "message": "no"}}


@pytest.mark.parametrize(
    ("told", "tries", "said"),
    [
        ({"type": "error", "code": "server_error", "message": "no"}, 2, r"failed \(500\): no"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "no"}, 0, r"rate \(429\): no"),
        ({"type": "error", "code": "invalid_api_key", "message": "no"}, 1, "refused the key"),
        ({"type": "error", "error": {"message": "busy", "code": 503}}, 2, r"failed \(503\): busy"),
        (FAILED | {"response": failed("server_error")}, 2, r"failed \(500\): no"),
        (FAILED | {"response": failed("rate_limit_exceeded")}, 0, r"limiting the rate \(429\)"),
        (FAILED | {"response": failed("invalid_prompt")}, 1, r"refused the request \(400\): no"),
        (FAILED | {"response": failed("context_length_exceeded")}, 1, "too long for it"),
    ],
)
async def test_an_error_inside_a_stream_counts_like_its_status(
    told: Any, tries: int, said: str
) -> None:
    turn = Send(event(type="response.created") + event(**told), SSE)
    """A limit of the rate (0 tries here) is waited out as long as patience lasts."""
    async with responses(lambda _: turn, retries=few(1)) as (model, server, _):
        with pytest.raises(ModelError, match=said):
            await model.complete(ask(), listener([]))
        assert tries in {0, len(server.requests)}


@BOTH
@pytest.mark.parametrize(
    ("turn", "tries", "said"),
    [
        (Fail(503), 2, r"failed \(503\)"),
        (Fail(401, code="invalid_api_key"), 1, "refused the key in OPENAI_API_KEY"),
        (Fail(404, "no such model"), 1, "nothing of that name"),
        (Fail(400, "too much", "context_length_exceeded"), 1, "too long for it"),
        (Send(b"<html>", "text/html"), 2, "that of a server of the Responses API"),
        (Send(b"{}"), 2, "without output in it"),
        (Send(b'{"output": [{}]}'), 2, "no proper reply"),
        (Send(b'{"error": {"message": "busy", "code": 503}}'), 2, r"failed \(503\): busy"),
        (Send(msgspec.json.encode(failed("bio_policy"))), 1, r"refused the request \(400\): no"),
    ],
    ids=str,
)
async def test_what_goes_wrong_has_one_clear_outcome(
    turn: Turn, tries: int, said: str, streamed: bool
) -> None:
    async with responses([turn, turn], retries=few(1)) as (model, server, _):
        with pytest.raises(ModelError, match=said) as caught:
            await model.complete(ask(), watcher(streamed=streamed))
        assert len(server.requests) == tries
    assert "\n" not in str(caught.value)


async def test_the_official_client_reads_the_server() -> None:
    with OpenAIServer([SAID, SAID], key=KEY) as server:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY) as client:
            asked: Any = {
                "model": "m",
                "input": [{"role": "user", "content": "Go."}],
                "store": False,
            }
            whole = await client.responses.create(**asked)
            assert (whole.output_text, whole.status) == ("One two three.", "completed")
            async with client.responses.stream(**asked) as stream:
                final = await stream.get_final_response()
            assert final.output_text == "One two three."
            assert final.output[2].to_dict()["arguments"] == '{"query": "x"}'


@make_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Ears:
    def token(self, text: str) -> None: ...

    def entry(self, entry: Any) -> None: ...


@BOTH
async def test_a_whole_run(streamed: bool) -> None:
    script = [
        Say(
            "Both.",
            calls=[("add", '{"a": 1, "b": 2}'), ("add", '{"a": 3, "b": 4}')],
            reasoning="So.",
        ),
        Say(calls=[("add", '{"a": "odd"}')], reasoning="Now."),
        Say(calls=[("add", None)]),
        Say(calls=[("add", '{"a": 3, "b": 7}')], reasoning="At last."),
        Say("It is 10.", reasoning="Done."),
    ]
    async with responses(script) as (model, server, _):
        agent = Agent(
            model=model, tools=[add], limits=Limits(steps=4),
            guards=[Provenance("off")],  # nobody asked for these sums
        )  # fmt: skip
        ears = Ears() if streamed else None
        result = await run(agent, "What is 3 and 7?", store=MemoryStore(), listener=ears)
    assert (result.answer, result.status) == ("It is 10.", "bound")
    assert [request.body.get("tool_choice") for request in server.requests][-1] == "none"
    assert len(server.requests) == 5


@BOTH
async def test_a_whole_run_in_text(streamed: bool) -> None:
    """Text formats need nothing of the API: calls, observations and stops are words."""
    script = [
        Say('Thought 1: Add.\nAction 1: add[{"a": 3, "b": 7}]\nObservation 1: 99', reasoning="Hm."),
        Say("Thought 2: 10.\nAction 2: Finish[It is 10.]"),
    ]
    async with responses(script) as (model, server, _):
        agent = Agent(model=model, tools=[add], codec="paper")
        ears = Ears() if streamed else None
        result = await run(agent, "What is 3 and 7?", store=MemoryStore(), listener=ears)
    assert (result.answer, result.status) == ("It is 10.", "answered")
    body = server.requests[1].body
    assert not {"tools", "tool_choice", "stop", "text"} & body.keys()
    assert body["input"][2:] == [
        {"role": "assistant", "content": 'Thought 1: Add.\nAction 1: add[{"a":3,"b":7}]'},
        {"role": "user", "content": "Observation 1: 10"},
    ]
