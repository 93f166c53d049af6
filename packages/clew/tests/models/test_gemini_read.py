"""What comes back from Gemini: replies plain and streamed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.contents import RawCall, Usage, Wire
from clew.models.gemini.prompt import NAMES, declare
from clew.models.gemini.reply import GeminiReplyBuilder, compact_json
from clew.models.prices import Price, price
from clew.models.tool_names import toolbox
from clew_testing.servers.gemini_server import chunks, reply
from clew_testing.servers.http_server import Delay, Say, Send, Turn
from tests.models.gemini_support import MODEL, chunk, over
from tests.models.support import ask, few, listener, tool, watcher

SSE = "text/event-stream"
TOOLS = (tool("search"),)
BOTH = pytest.mark.parametrize("streamed", [False, True])


@BOTH
async def test_text_calls_and_thoughts_arrive_together(streamed: bool) -> None:
    calls = [("search", '{ "query":\n"é  é", "n": 1.0, "e": 1E400 }'), ("search", None)]
    said = Say("Let me see. ", calls=calls, reasoning="What is é?")
    async with over([said], piece=5) as (model, _, _):
        answer = await model.complete(ask(tools=TOOLS), watcher(streamed=streamed))
    assert answer.text == "Let me see. "
    assert answer.reasoning == "What is é?"
    assert answer.calls == (
        RawCall(name="search", arguments='{"query":"é  é","n":1.0,"e":1E400}', id="call_0"),
        RawCall(name="search", arguments=None, id="call_1"),
    )
    assert answer.finish == "calls"
    assert answer.wire is not None
    assert msgspec.json.decode(msgspec.json.encode(answer.wire), type=Wire) == answer.wire
    text, first, second = answer.wire.items
    assert (text, second) == ({"text": "Let me see. "}, {"call": True})
    assert first.keys() == {"call", "thoughtSignature"}


@BOTH
async def test_calls_of_older_models_have_no_ids(streamed: bool) -> None:
    said = Say("", calls=[("search", "{}")])
    async with over([said], ids=False) as (model, _, _):
        answer = await model.complete(ask(tools=TOOLS), watcher(streamed=streamed))
    assert answer.calls == (RawCall(name="search", arguments="{}"),)


BLOCKED = Say(None, refusal="This is not allowed.")


@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        (Say("Done."), "stop", "Done."),
        (Say("Done.", finish="length"), "length", "Done."),
        (Say("Done.", finish="CONTINUATION"), "length", "Done."),
        (Say("", finish="filter"), "filter", ""),
        (Say("Well", finish="RECITATION"), "filter", "Well"),
        (Say("", finish="BLOCKLIST"), "filter", ""),
        (Say("", finish="PROHIBITED_CONTENT"), "filter", ""),
        (Say("", finish="PUP_LIMITED_DISABLED"), "refusal", ""),
        (BLOCKED, "refusal", "This is not allowed."),
        (Say("", finish="refusal"), "refusal", "PROHIBITED_CONTENT"),
        (Say("I call.", finish="UNEXPECTED_TOOL_CALL"), "cut", "I call."),
        (
            Say("", calls=[("search", "query=x")]),
            "cut",
            "Malformed function call: search(query=x)",
        ),
        (Say("", finish="OTHER"), "cut", ""),
        (Say("Done.", finish="OTHER"), "cut", "Done."),
        (Say("", finish="STOP"), "stop", ""),
        (Say("", calls=[("search", "{}")], finish="STOP"), "calls", ""),
    ],
    ids=str,
)
async def test_how_it_ended(said: Say, finish: str, text: str) -> None:
    async with over([said, said], retries=few(0)) as (model, _, _):
        for streamed in (False, True):
            answer = await model.complete(ask(tools=TOOLS), watcher(streamed=streamed))
            assert (answer.finish, answer.text) == (finish, text)


@BOTH
async def test_usage_cost_and_model_are_what_the_server_says(streamed: bool) -> None:
    said = Say("Ok.", usage=Usage(1000, 100, 600, 40), model="gemini-3-test-001")
    async with over([said], prices={MODEL: Price(1.0, 10.0, 0.5)}) as (model, _, _):
        assert model.info.priced
        answer = await model.complete(ask(), watcher(streamed=streamed))
    assert answer.model == "gemini-3-test-001"
    cost = (400 * 1.0 + 600 * 0.5 + 100 * 10.0) / 1_000_000
    assert answer.usage == Usage(1000, 100, 600, 40, cost)


async def test_what_a_provider_side_tool_read_counts_as_input() -> None:
    usage = {"promptTokenCount": 5, "toolUsePromptTokenCount": 7, "candidatesTokenCount": None}
    async with over([Say("Ok.", usage=usage)]) as (model, _, _):
        assert (await model.complete(ask())).usage == Usage(12, 1, estimated=True)


@BOTH
async def test_usage_that_did_not_come_is_estimated_and_says_so(streamed: bool) -> None:
    async with over([Say("Twelve signs", usage={})]) as (model, server, _):
        assert not model.info.priced
        answer = await model.complete(ask(), watcher(streamed=streamed))
    assert answer.usage.estimated
    assert answer.usage.output == 3
    assert answer.usage.input == len(server.requests[0].raw) // 4


def test_long_prompts_of_the_larger_models_cost_more() -> None:
    of = price("google", "gemini-2.5-pro")
    assert of is not None
    assert of.cost(Usage(100_000, 1000)) == pytest.approx(0.125 + 0.01)
    assert of.cost(Usage(300_000, 1000)) == pytest.approx(0.75 + 0.015)


async def test_text_is_shown_as_it_comes_and_thoughts_are_not() -> None:
    shown: list[str] = []
    async with over([Say("One two.", reasoning="Secret.")]) as (model, _, _):
        answer = await model.complete(ask(), listener(shown))
    assert shown == ["One ", "two."]
    assert answer.wire is not None
    assert answer.wire.items[0] == {"text": 8}
    assert answer.wire.items[1].keys() == {"text", "thoughtSignature"}


async def test_a_plain_reply_of_text_alone_needs_no_wire() -> None:
    body = {
        "candidates": [
            {
                "content": {"parts": [{"text": ""}, {"text": "A"}, {"text": ""}, {"text": "B"}]},
                "finishReason": "STOP",
            }
        ]
    }
    async with over([Send(msgspec.json.encode(body))], retries=few(0)) as (model, _, _):
        answer = await model.complete(ask())
    assert (answer.text, answer.wire, answer.finish) == ("AB", None, "stop")


async def test_parts_of_other_kinds_are_kept_in_order() -> None:
    signed = {"text": "why", "thought": True, "thoughtSignature": "QUJD"}
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    script: list[Turn] = [
        Send(chunk(signed, {}) + chunk(code) + chunk({"text": "One"}, finish="STOP"), SSE)
    ]
    async with over(script, retries=few(0)) as (model, _, _):
        answer = await model.complete(ask(), listener([]))
    assert (answer.text, answer.reasoning) == ("One", "why")
    assert answer.wire is not None
    assert answer.wire.items == [signed, code, {"text": 3}]


async def test_a_body_in_the_place_of_a_stream_is_read_whole() -> None:
    body = {"candidates": [{"content": {"parts": [{"text": "At once."}]}, "finishReason": "STOP"}]}
    shown: list[str] = []
    async with over([Send(msgspec.json.encode(body))]) as (model, _, _):
        answer = await model.complete(ask(), listener(shown))
    assert (answer.text, shown) == ("At once.", ["At once."])


async def test_whoever_has_enough_ends_the_stream() -> None:
    said = Say("Action 1: search[x] Observation 1: made up", usage={"promptTokenCount": 9})
    shown: list[str] = []
    script: list[Turn] = [Delay(said, at=1500), Say("Next.")]
    async with over(script) as (model, server, _):
        enough = listener(shown, lambda text: "Observation" in text)
        answer = await model.complete(ask(), enough)
        assert answer.text == "".join(shown) == "Action 1: search[x] Observation "
        assert answer.finish == "stop"
        assert (await model.complete(ask())).text == "Next."
        assert server.connections == 2


async def test_every_chunk_may_say_that_it_is_the_end() -> None:
    events = [chunk({"text": word}, finish="STOP") for word in ("One ", "two", ".")]
    async with over([Send(b"".join(events), SSE)]) as (model, _, _):
        assert (await model.complete(ask(), listener([]))).text == "One two."


text = st.text(st.characters(codec="utf-8"), max_size=30)
says = st.builds(
    Say,
    text,
    calls=st.lists(st.tuples(st.sampled_from(["search", "look"]), st.just('{"a": 1}')), max_size=3),
    finish=st.sampled_from(["", "STOP", "length", "filter"]),
    reasoning=text,
)
ASKED: dict[str, Any] = {
    "contents": [],
    "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
}


@given(says)
def test_streamed_and_plain_are_the_same_reply_but_for_the_place_of_the_signature(
    said: Say,
) -> None:
    box = toolbox((), NAMES, declare)
    whole, pieces = GeminiReplyBuilder(("p", "m"), box), GeminiReplyBuilder(("p", "m"), box)
    whole.take(msgspec.json.encode(reply(said, ASKED, "m")), complete=True)
    for each in chunks(said, ASKED, "m"):
        pieces.take(msgspec.json.encode(each), complete=False)
    assert pieces.ended
    one, other = whole.reply(0), pieces.reply(0)
    assert (one.wire is None) == (other.wire is None)
    assert msgspec.structs.replace(one, wire=None) == msgspec.structs.replace(other, wire=None)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(values)
def test_space_between_signs_is_all_that_is_taken_from_arguments(value: Any) -> None:
    loose = msgspec.json.format(msgspec.json.encode(value), indent=3).decode()
    assert compact_json(loose) == msgspec.json.encode(value).decode()
