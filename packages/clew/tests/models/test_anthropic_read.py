"""What comes back from Anthropic: plain and streamed, however it is cut; and what goes wrong."""

import itertools
from typing import Any

import anthropic
import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import OnText
from clew.models.anthropic.messages import anthropic_messages
from clew.models.anthropic.prompt import declare
from clew.models.anthropic.reply import AnthropicReplyBuilder
from clew.models.prices import Price
from clew.models.tool_names import NameRules, toolbox
from clew.support.errors import ConfigError, ModelError, TooLongError
from clew_testing.servers.anthropic_server import (
    AnthropicServer,
    Cut,
    Delay,
    Drop,
    Fail,
    Messages,
    ReceivedRequest,
    Say,
    Send,
    Turn,
)
from tests.models.messages import CALL, KEY, SEARCH, over, talk, watcher
from tests.models.support import ask, few, listener

SSE = "text/event-stream"
OK = Say("Ok.")
BOTH = pytest.mark.parametrize("streamed", [False, True])
BOX = toolbox((SEARCH,), NameRules(), declare)
MIXED = Say(
    "It ünfolds: 🧶 …",
    calls=[CALL, ("search", '{"query": "a\\n\\"b\\" é🧶"}'), ("search", None)],
    reasoning="Long and\nwide.",
    usage=Usage(1000, 50, 300, 20, written=200),
)


def event(kind: str, **more: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (
        kind.encode(),
        msgspec.json.encode({"type": kind, **more}),
    )


def end(reason: str | None = "end_turn", **more: Any) -> bytes:
    return event("message_delta", delta={"stop_reason": reason} | more, usage={"output_tokens": 1})


def said(text: str, index: int = 0) -> bytes:
    return event("content_block_delta", index=index, delta={"type": "text_delta", "text": text})


async def stream(*events: bytes, show: OnText | None = None, **options: Any) -> Reply:
    """The reply to a scripted stream."""
    async with over([Send(b"".join(events), SSE)], retries=few(0), **options) as (model, _, _):
        return await model.complete(talk(), show or listener([]))


def spoken(say: Say, *, streamed: bool) -> bytes:
    """The bytes of a reply as the server writes it."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "stream": streamed}
    form = Messages()
    seen = ReceivedRequest("/v1/messages", {}, body, b"")
    return b"".join(form.events(say, seen)) if streamed else form.full_body(say, seen)


def drafted(pieces: list[bytes]) -> Reply:
    """A stream read as the endpoint reads it, from these pieces."""
    draft = AnthropicReplyBuilder(("anthropic", "m"), BOX, [], lambda: "print")
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                draft.take(line[5:].strip(), complete=False)
    assert draft.ended
    assert draft.done
    return draft.reply(0)


STREAM = spoken(MIXED, streamed=True)
WHOLE = drafted([STREAM])


def test_a_stream_cut_at_any_byte_is_the_same() -> None:
    assert all(drafted([STREAM[:at], STREAM[at:]]) == WHOLE for at in range(len(STREAM)))


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_a_stream_in_any_pieces_is_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in itertools.pairwise(places)]
    assert drafted(pieces) == WHOLE


def test_plain_and_streamed_are_the_same() -> None:
    draft = AnthropicReplyBuilder(("anthropic", "m"), BOX, [], lambda: "print")
    draft.take(spoken(MIXED, streamed=False), complete=True)
    plain = draft.reply(0)
    read = [call.arguments and msgspec.json.decode(call.arguments) for call in plain.calls]
    assert read == [{"query": "x"}, {"query": 'a\n"b" é🧶'}, {}]
    assert [call.name for call in plain.calls] == [call.name for call in WHOLE.calls]
    assert msgspec.structs.replace(plain, calls=()) == msgspec.structs.replace(WHOLE, calls=())
    assert (plain.text, plain.reasoning, plain.finish) == (MIXED.text, MIXED.reasoning, "calls")


@BOTH
@pytest.mark.parametrize(
    ("say", "finish", "text"),
    [
        (Say("Done."), "stop", "Done."),
        (Say("Done.", finish="stop_sequence"), "stop", "Done."),
        (Say("Done.", finish="length"), "length", "Done."),
        (Say("Done.", finish="model_context_window_exceeded"), "length", "Done."),
        (Say("Done.", finish="pause_turn"), "cut", "Done."),
        (Say("Done.", finish="refusal"), "filter", "Done."),
        (Say("", refusal="I will not."), "refusal", "I will not."),
        (Say("", finish="refusal"), "refusal", ""),
        (Say("Done.", finish="something_new"), "cut", "Done."),
        (Say(""), "stop", ""),
        (Say("", calls=[CALL]), "calls", ""),
        (Say("", calls=[CALL], finish="length"), "length", ""),
    ],
    ids=str,
)
async def test_how_it_ended(say: Say, finish: str, text: str, streamed: bool) -> None:
    async with over([say], retries=few(0)) as (model, _, _):
        reply = await model.complete(talk(), watcher(streamed=streamed))
    assert (reply.finish, reply.text) == (finish, text)


async def test_a_whole_message_that_does_not_say_how_it_ended() -> None:
    bodies: list[Any] = [{"content": []}, {"content": [{"type": "text", "text": "Hm."}]}]
    script: list[Turn] = [Send(msgspec.json.encode(body)) for body in bodies]
    async with over(script) as (model, _, _):
        replies = [await model.complete(talk()) for _ in bodies]
    assert [(reply.text, reply.finish) for reply in replies] == [("", "cut"), ("Hm.", "cut")]
    assert replies[0].model == "scripted"


@BOTH
async def test_usage_cost_and_model_are_what_the_server_says(streamed: bool) -> None:
    price = Price(1.0, 10.0, 0.5, written=2.0)
    used = Usage(1000, 100, 600, 40, written=300)
    asked = Say("Ok.", usage=used, model="scripted-20260101")
    async with over([asked], prices={"scripted": price}) as (model, _, _):
        assert model.info.priced
        reply = await model.complete(ask(), watcher(streamed=streamed))
    assert reply.model == "scripted-20260101"
    cost = (100 * 1.0 + 600 * 0.5 + 300 * 2.0 + 100 * 10.0) / 1_000_000
    assert reply.usage == msgspec.structs.replace(used, cost=pytest.approx(cost))


@BOTH
async def test_usage_that_did_not_come_is_estimated_and_says_so(streamed: bool) -> None:
    async with over([Say("Twelve signs", usage={})]) as (model, server, _):
        reply = await model.complete(ask(), watcher(streamed=streamed))
    assert reply.usage.estimated
    assert reply.usage.output == 3
    assert reply.usage.input == len(server.requests[0].raw) // 4


async def test_the_last_word_on_usage_counts() -> None:
    begun = {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}
    told = {"output_tokens": 7, "input_tokens": None, "cache_read_input_tokens": 4}
    reply = await stream(
        event("message_start", message=begun),
        said("Hm."),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage=told),
        event("message_stop"),
    )
    assert reply.usage == Usage(13, 7, 4)


async def test_a_stream_shows_its_text_and_nothing_else_as_it_comes() -> None:
    pieces: list[str] = []
    async with over([Say("One two three.", calls=[CALL], reasoning="Zero.")]) as (model, _, _):
        reply = await model.complete(talk(), listener(pieces))
    assert pieces == ["One ", "two ", "three."]
    assert reply.text == "One two three."


async def test_enough_is_enough() -> None:
    pieces: list[str] = []
    enough = listener(pieces, lambda text: "two" in text)
    async with over([Delay(Say("One two three. " * 99), at=2_000), OK]) as (model, _, _):
        reply = await model.complete(ask(), enough)
        assert (await model.complete(ask())).text == "Ok."
    assert reply.text == "".join(pieces) == "One two "
    assert reply.finish == "stop"


async def test_events_and_pieces_that_nobody_knows_are_passed_over() -> None:
    reply = await stream(
        b": a comment\n\n",
        event("ping"),
        event("message_start"),
        event("content_block_start", index=0, content_block={"type": "text", "text": "Well, "}),
        said("now."),
        event("content_block_delta", index=0, delta={"type": "citations_delta", "citation": {}}),
        event("content_block_delta", index=0),
        event("content_block_delta", index=0, delta={"type": "text_delta"}),
        event("content_block_stop", index=0),
        event("content_block_start", index=1),
        event("from_the_future", index=9),
        end(),
        event("message_stop"),
    )
    assert (reply.text, reply.finish, reply.calls) == ("Well, now.", "stop", ())


async def test_arguments_that_came_with_the_beginning_of_a_call() -> None:
    call = {"type": "tool_use", "id": "a", "name": "search", "input": {"query": "x"}}
    start = event("content_block_start", index=0, content_block=call)
    reply = await stream(start, end("tool_use"), event("message_stop"))
    assert reply.calls == (RawCall(name="search", arguments='{"query":"x"}', id="a"),)


async def test_a_block_that_never_began_is_text() -> None:
    assert (await stream(said("Hm.", 3), end(), event("message_stop"))).text == "Hm."


@BOTH
@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (Fail(500), r"failed \(500\): scripted error"),
        (Send(b"<html>Bad gateway</html>", "text/html", 502), r"failed \(502\)"),
        (Drop(), "no connection to http://127.0.0.1.*, or it was lost"),
        (Cut(OK, 0), "broke off|was lost"),
        (Cut(OK, 40), "broke off|was lost"),
        (Send(b'{"content": [{"ty'), "sent no proper reply"),
        (Send(b"<html></html>", "text/html"), "that of a server of Anthropic's Messages API"),
        (Send(b'{"type": "message"}'), "sent a reply without content"),
        (Send(b'{"content": [7]}'), "no proper reply"),
        (
            Send(b'{"type": "error", "error": {"type": "api_error", "message": "hm"}}'),
            r"\(500\): hm",
        ),
    ],
    ids=str,
)
async def test_what_may_pass_is_tried_again_and_then_told(
    turn: Turn, told: str, streamed: bool
) -> None:
    async with over([turn, OK], retries=few(1)) as (model, server, waits):
        assert (await model.complete(ask(), watcher(streamed=streamed))).text == "Ok."
        assert (len(server.requests), len(waits)) == (2, 1)
    async with over([turn, turn, OK], retries=few(1)) as (model, server, _):
        with pytest.raises(ModelError, match=told) as caught:
            await model.complete(ask(), watcher(streamed=streamed))
        assert "\n" not in str(caught.value)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("overloaded_error", r"failed \(529\): Slow."),
        ("api_error", r"failed \(500\): Slow."),
        ("timeout_error", r"failed \(504\): Slow."),
    ],
)
async def test_an_error_in_a_stream_is_tried_again(kind: str, told: str) -> None:
    error = event("error", error={"type": kind, "message": "Slow."})
    turn = Send(said("Half") + error, SSE)
    async with over([turn, OK], retries=few(1)) as (model, _, waits):
        assert (await model.complete(ask(), listener([]))).text == "Ok."
        assert len(waits) == 1
    with pytest.raises(ModelError, match=told):
        await stream(said("Half"), error)


async def test_a_stream_that_is_cut_twice_is_what_came_of_it() -> None:
    half = Cut(Say("One two three four five.", reasoning="Hm."), 900)
    pieces: list[str] = []
    async with over([half, half], retries=few(1)) as (model, _, _):
        reply = await model.complete(talk(), listener(pieces))
    assert reply.finish == "cut"
    assert "".join(pieces) == reply.text
    assert reply.reasoning == "Hm."


@BOTH
@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (Fail(400, "odd"), r"anthropic:scripted refused the request \(400\): odd"),
        (Fail(402, "no money"), r"the account has no credit left \(402\): no money; top it up"),
        (Fail(403, "not here"), r"this key may not use it \(403\): not here"),
        (Fail(404, "model: scripted"), r"nothing of that name .*check the model's name"),
        (
            Send(b'{"type": "error", "error": {"type": "permission_error", "message": "no"}}'),
            r"this key may not use it \(403\): no",
        ),
    ],
    ids=str,
)
async def test_what_will_not_pass_is_told_at_once(turn: Turn, told: str, streamed: bool) -> None:
    async with over([turn]) as (model, server, waits):
        with pytest.raises(ModelError, match=told):
            await model.complete(ask(), watcher(streamed=streamed))
        assert (len(server.requests), waits) == (1, [])


@pytest.mark.parametrize(
    "fail",
    [
        Fail(400, "prompt is too long: 208310 tokens > 200000 maximum"),
        Fail(400, "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000"),
        Fail(413, "Request exceeds the maximum allowed number of bytes."),
    ],
)
async def test_a_prompt_that_does_not_fit_is_told_apart(fail: Fail) -> None:
    async with over([fail]) as (model, _, _):
        with pytest.raises(TooLongError, match="the prompt is too long for it"):
            await model.complete(ask())


async def test_a_limit_is_waited_for_as_the_headers_say() -> None:
    busy = Fail(429, "slow down", headers={"retry-after": "7"})
    over_full = Fail(529, "Overloaded", headers={"retry-after": "3"})
    async with over([busy, over_full, OK]) as (model, _, waits):
        assert (await model.complete(ask())).text == "Ok."
    assert waits == [7.0, 3.0]


async def test_a_wrong_key_is_named_by_its_variable_and_never_shown() -> None:
    wrong = "sk-ant-wrong-9876543210"
    async with over([OK], api_key=wrong) as (model, _, waits):
        with pytest.raises(ModelError, match=r"refused the key in ANTHROPIC_API_KEY") as caught:
            await model.complete(ask())
        assert wrong not in str(caught.value)
        assert waits == []
    async with over([Fail(400, f"bad key {KEY}")]) as (model, _, _):
        with pytest.raises(ModelError, match=r"bad key \*\*\*"):
            await model.complete(ask())


async def test_a_model_that_is_not_there() -> None:
    async with over([OK], models=("claude",)) as (model, _, _):
        with pytest.raises(ModelError, match=r"nothing of that name .*\(404\): model: scripted"):
            await model.complete(ask())


async def test_the_key_may_be_in_either_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="set the environment variable ANTHROPIC_API_KEY"):
        anthropic_messages("m")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    with AnthropicServer([OK, OK, OK], key=KEY) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.base_url}/v1/")
        model = anthropic_messages("m")
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
        model = anthropic_messages("m")
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
        keyless = anthropic_messages("m", api_key="", headers={"x-api-key": KEY})
        assert (await keyless.complete(ask())).text == "Ok."
        await keyless.close()
    assert server.requests[0].headers["anthropic-version"] >= "2026"


@BOTH
async def test_a_client_of_ones_own_is_used_and_left_open(streamed: bool) -> None:
    with AnthropicServer([OK], key=KEY) as server:
        transport = httpx2.AsyncHTTPTransport()
        client = anthropic.AsyncAnthropic(
            auth_token=KEY,
            base_url=server.base_url,
            http_client=httpx2.AsyncClient(transport=transport),
            default_headers={"x-mine": "1"},
        )
        model = anthropic_messages("m", client=client)
        assert (await model.complete(ask(), watcher(streamed=streamed))).text == "Ok."
        await model.close()
        assert not client.is_closed()
        await client.close()
    assert server.requests[0].headers["x-mine"] == "1"


@pytest.mark.parametrize("whole", [True, False])
async def test_a_tool_the_provider_runs_goes_back_as_if_it_had_come_in_one_piece(
    whole: bool,
) -> None:
    block = {"type": "server_tool_use", "id": "srv_1", "name": "web_fetch", "input": {}}
    pieces = ['{"url": ', '"https://example.com"}' if whole else '"https:']
    reply = await stream(
        event("content_block_start", index=0, content_block=block),
        *(
            event("content_block_delta", index=0, delta={"type": "input_json_delta"} | piece)
            for piece in ({"partial_json": each} for each in pieces)
        ),
        event("content_block_start", index=1, content_block={"type": "text", "text": "Ok."}),
        end(),
    )
    assert (reply.text, reply.calls) == ("Ok.", ())
    assert reply.wire is not None
    got = {"url": "https://example.com"} if whole else {}
    assert reply.wire.items["content"][0] == block | {"input": got}
