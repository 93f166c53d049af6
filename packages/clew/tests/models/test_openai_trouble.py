"""What goes wrong: errors, lost connections and nonsense, each with one clear outcome."""

import socket
from typing import Any

import anyio
import httpx2
import openai
import pytest

from clew import ModelSettings
from clew.models.openai.chat import openai_chat
from clew.models.prices import Price
from clew.support.errors import ConfigError, ModelError, TooLongError
from clew_testing.servers.openai_server import (
    Cut,
    Delay,
    Drop,
    Fail,
    OpenAIServer,
    Say,
    Send,
    Turn,
    chunks,
)
from tests.models.support import KEY, Waits, ask, delta, event, few, listener, over, tool, watcher

pytestmark = pytest.mark.both_loops

SSE = "text/event-stream"
OK = Say("Ok.")
NO_CHOICE = Send(b'{"choices": []}')
NO_MESSAGE = Send(b'{"choices": [{"finish_reason": "stop"}]}')
HTML = Send(b"<html><body>Welcome</body></html>", "text/html")
HALF = Send(b'{"choices": [{"mess')
LATIN = Send(b'{"choices": [{"message": {"content": "\xe9"}}]}')
CASES = [False, True]


@pytest.mark.parametrize("streamed", CASES)
@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Fail(408), r"failed \(408\): scripted error"),
        (Fail(409), r"failed \(409\)"),
        (Fail(500), r"failed \(500\)"),
        (Fail(503), r"failed \(503\)"),
        (Send(b"<html>Bad gateway</html>", "text/html", 502), r"failed \(502\)"),
        (Drop(), "no connection to http://127.0.0.1.*, or it was lost"),
        (Cut(OK, 0), "broke off|was lost"),
        (Cut(OK, 40), "broke off|was lost"),
        (HALF, "sent no proper reply"),
        (LATIN, "sent no proper reply"),
        (HTML, r"sent no proper reply .* \(most end in /v1\)"),
        (NO_CHOICE, "without a choice"),
        (NO_MESSAGE, "without a choice or without a message"),
        (Send(b'{"choices": [{"message": {"tool_calls": 7}}]}'), "no proper reply"),
        (Send(b'{"error": {"message": "busy", "code": 503}}'), r"failed \(503\): busy"),
    ],
    ids=str,
)
async def test_what_may_pass_is_tried_again_and_then_told(
    turn: Turn,
    said: str,
    streamed: bool,
) -> None:
    async with over([turn, OK], retries=few(1)) as (model, server, waits):
        reply = await model.complete(ask(), watcher(streamed=streamed))
        assert reply.text == "Ok."
        assert len(server.requests) == 2
        assert len(waits) == 1
    async with over([turn, turn, turn, OK], retries=few(2)) as (model, server, waits):
        with pytest.raises(ModelError, match=said) as caught:
            await model.complete(ask(), watcher(streamed=streamed))
        assert "gave up after 3 tries" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(server.requests) == 3
        assert len(waits) == 2


@pytest.mark.parametrize("streamed", CASES)
@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Fail(400, "odd"), r"openai:scripted refused the request \(400\): odd"),
        (Fail(400, ""), r"refused the request \(400\)"),
        (Fail(403, "not in your country"), r"this key may not use it \(403\): not in"),
        (Fail(404, "no such model"), r"nothing of that name .*no such model; check the model's"),
        (Fail(429, "no money", "insufficient_quota"), "has no credit left .*top it up"),
        (Send(b"plain words", "text/plain", 418), "plain words"),
        (Send(b"", "text/plain", 418), r"refused the request \(418\)$"),
        (Send(b'{"detail": "odd"}', status=422), r"\(422\): odd"),
        (Send(b'{"error": {"type": "invalid_request_error"}}'), r"\(400\): .*invalid_request"),
        (Send(b'{"error": {"message": "no", "code": "model_not_found"}}'), r"\(404\): no"),
    ],
    ids=str,
)
async def test_what_will_not_pass_is_told_at_once(
    turn: Turn,
    said: str,
    streamed: bool,
) -> None:
    async with over([turn]) as (model, server, waits):
        with pytest.raises(ModelError, match=said):
            await model.complete(ask(), watcher(streamed=streamed))
        assert len(server.requests) == 1
        assert waits == []


@pytest.mark.parametrize(
    "fail",
    [
        Fail(400, "too much", "context_length_exceeded"),
        Fail(400, "This model's maximum context length is 8192 tokens."),
        Fail(400, "the request exceeds the available context size"),
        Fail(413, "prompt is too long"),
    ],
)
async def test_a_prompt_that_does_not_fit_is_told_apart(fail: Fail) -> None:
    async with over([fail]) as (model, _, _):
        with pytest.raises(TooLongError, match="the prompt is too long for it"):
            await model.complete(ask())


async def test_a_wrong_key_is_named_by_its_variable_and_never_shown() -> None:
    wrong = "sk-wrong-9876543210"
    async with over([OK], api_key=wrong, key_variable="ACME_API_KEY") as (model, _, waits):
        with pytest.raises(ModelError, match=r"refused the key in ACME_API_KEY \(401\)") as caught:
            await model.complete(ask())
        assert wrong not in str(caught.value)
        assert waits == []
    async with over([Fail(500, f"bad key {KEY}\nand\tmore")], retries=few(0)) as (model, _, _):
        with pytest.raises(ModelError, match=r"bad key \*\*\* and more") as caught:
            await model.complete(ask())
        assert KEY not in str(caught.value)


async def test_a_server_that_wants_no_key_and_says_401_is_told_about() -> None:
    async with over([OK], api_key="", key_variable="") as (model, _, _):
        with pytest.raises(ModelError, match=r"refused the key given \(401\)"):
            await model.complete(ask())


@pytest.mark.parametrize(
    "key", ["sk-has space", "sk-line\n", "sk-日本"], ids=["space", "line", "odd"]
)
def test_a_key_that_cannot_be_one_is_found_before_the_first_call(key: str) -> None:
    with pytest.raises(ConfigError, match="the key in OPENAI_API_KEY has a space, a line"):
        openai_chat("m", api_key=key)


@pytest.mark.parametrize("address", ["", "localhost:11434/v1", "ftp://host/v1", "http://"])
def test_an_address_that_cannot_be_one_is_found_before_the_first_call(address: str) -> None:
    with pytest.raises(ConfigError, match="is no address of a server; give base_url as"):
        openai_chat("m", api_key="k", base_url=address)


async def test_how_long_it_waits() -> None:
    script: list[Turn] = [
        Fail(500),
        Fail(500),
        Fail(429, headers={"retry-after": "7"}),
        Fail(429, headers={"retry-after": "7", "retry-after-ms": "1500"}),
        OK,
    ]
    async with over(script) as (model, _, waits):
        await model.complete(ask())
    assert 0.375 <= waits[0] <= 0.5
    assert 0.75 <= waits[1] <= 1.0
    assert waits[2:] == [7.0, 1.5]


@pytest.mark.parametrize("streamed", CASES)
@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Fail(429, "slow down"), r"is limiting the rate \(429\): slow down"),
        (Fail(503, headers={"retry-after": "9"}), r"failed \(503\)"),
        (Fail(529, headers={"retry-after": "9"}), r"failed \(529\)"),
        (Send(b'{"error": {"message": "slow", "code": "rate_limit_exceeded"}}'), "slow"),
    ],
    ids=str,
)
async def test_being_asked_too_much_uses_up_patience_and_no_tries(
    turn: Turn, said: str, streamed: bool
) -> None:
    async with over([turn] * 9 + [OK], retries=few(0)) as (model, server, waits):
        assert (await model.complete(ask(), watcher(streamed=streamed))).text == "Ok."
        assert (len(server.requests), len(waits)) == (10, 9)
        assert sum(waits) < 120
    async with over(lambda _: turn) as (model, _, waits):
        with pytest.raises(ModelError, match=said + ".*beyond the patience of 120 s"):
            await model.complete(ask(), watcher(streamed=streamed))
        assert 100 < sum(waits) <= 120


async def test_a_server_that_hangs_is_not_waited_for_at_every_try() -> None:
    script: list[Turn] = [Fail(500), Delay(), *[OK] * 20]
    async with over(script, settings=ModelSettings(timeout=0.2), total=60.0, retries=few(20)) as (
        model,
        _,
        waits,
    ):
        assert (await model.complete(ask())).text == "Ok."
        assert len(waits) >= 2  # more where the machine is too busy to answer in time
    async with over([Delay(), Delay(), OK], settings=ModelSettings(timeout=2.0), total=3.0) as (
        model,
        server,
        _,
    ):
        with pytest.raises(ModelError, match=r"did not answer within 3 s, over all tries"):
            await model.complete(ask())
        assert len(server.requests) == 2


async def test_a_stream_that_has_begun_may_take_longer() -> None:
    async with over([Delay(SAID, 700)], settings=ModelSettings(timeout=2.0), total=2.0) as (
        model,
        server,
        _,
    ):
        reply = await model.complete(ask(), listener([]))
        assert (reply.text, reply.finish) == ("One two ", "cut")
        assert len(server.requests) == 1  # for another there was no time left


async def test_it_does_not_wait_beyond_its_patience() -> None:
    script: list[Turn] = [
        Fail(429, headers={"retry-after": "7"}),
        Fail(429, headers={"retry-after": "7"}),
    ]
    async with over(script, patience=10.0) as (model, server, waits):
        with pytest.raises(ModelError, match="due in 7 s, which is beyond the patience of 10 s"):
            await model.complete(ask())
        assert waits == [7.0]
        assert len(server.requests) == 2


async def test_nobody_listens_at_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        model = openai_chat("m", api_key="k", base_url=address, sleep=Waits(), retries=few(1))
        with pytest.raises(ModelError, match=f"no connection to {address}.*the server runs"):
            await model.complete(ask())
        await model.close()


@pytest.mark.parametrize("streamed", CASES)
async def test_a_server_that_does_not_answer_is_left(streamed: bool) -> None:
    async with over(
        [Delay(), *[OK] * 20], settings=ModelSettings(timeout=0.2), retries=few(20)
    ) as (model, _, waits):
        reply = await model.complete(ask(), watcher(streamed=streamed))
        assert reply.text == "Ok."
        assert waits  # more than one where the machine is too busy to answer in time
    async with over([Delay()], settings=ModelSettings(timeout=0.2), retries=few(0)) as (
        model,
        _,
        _,
    ):
        with pytest.raises(ModelError, match=r"did not answer within 0.2 s"):
            await model.complete(ask(), watcher(streamed=streamed))


SAID = Say("One two three.", calls=[("search", '{"query": "x"}')])


async def test_a_stream_cut_at_any_byte_ends_in_the_whole_reply() -> None:
    request = {"model": "scripted", "messages": [], "stream_options": {"include_usage": True}}
    length = len(b"".join(chunks(SAID, request)))
    cuts = range(0, length, 97)
    script: list[Turn] = [turn for at in cuts for turn in (Cut(SAID, at), SAID)]
    async with over(script) as (model, server, _):
        for _ in cuts:
            reply = await model.complete(ask(tools=(tool("search"),)), listener([]))
            assert (reply.text, reply.finish) == ("One two three.", "calls")
            assert reply.calls[0].arguments == '{"query": "x"}'
        assert len(server.requests) >= len(cuts) * 2 - 4


async def test_after_a_cut_nothing_more_is_shown() -> None:
    pieces: list[str] = []
    async with over([Cut(SAID, 700), Say("Another reply.")]) as (model, _, _):
        reply = await model.complete(ask(), listener(pieces))
    assert reply.text == "Another reply."
    assert pieces
    assert "One two three.".startswith("".join(pieces))


async def test_when_nothing_was_shown_the_next_attempt_is() -> None:
    pieces: list[str] = []
    async with over([Fail(500), Cut(SAID, 20), Say("Whole.")]) as (model, _, _):
        await model.complete(ask(), listener(pieces))
    assert pieces == ["Whole."]


async def test_a_stream_that_always_breaks_off_is_a_cut_reply() -> None:
    prices = {"scripted": Price(1.0, 1.0)}
    script: list[Turn] = [Cut(SAID, 700), Fail(500), Cut(SAID, 1200)]
    async with over(script, retries=few(2), prices=prices) as (model, server, _):
        reply = await model.complete(ask(), listener([]))
        assert len(server.requests) == 3
    assert (reply.text, reply.finish) == ("One two three.", "cut")
    assert reply.usage.estimated
    assert reply.usage.cost is not None


async def test_a_cut_that_was_not_the_last_word_is_an_error() -> None:
    async with over([Cut(SAID, 1200), Fail(500)], retries=few(1)) as (model, _, _):
        with pytest.raises(ModelError, match=r"failed \(500\)"):
            await model.complete(ask(), listener([]))


@pytest.mark.parametrize(
    "events", [[], [delta(role="assistant", content="")], [b"data: [DONE]\n\n"]]
)
async def test_a_stream_that_brings_nothing_is_tried_again(events: list[bytes]) -> None:
    async with over([Send(b"".join(events), SSE), OK]) as (model, _, waits):
        assert (await model.complete(ask(), listener([]))).text == "Ok."
        assert len(waits) == 1


async def test_a_stream_that_ends_early_without_an_error_is_cut_too() -> None:
    turn = Send(delta(content="Half"), SSE)
    async with over([turn], retries=few(0)) as (model, _, _):
        reply = await model.complete(ask(), listener([]))
        assert (reply.text, reply.finish) == ("Half", "cut")


@pytest.mark.parametrize(
    ("error", "tries", "said"),
    [
        ({"message": "overloaded", "code": 529}, 2, r"failed \(529\): overloaded"),
        ({"message": "who knows", "code": "odd"}, 2, r"failed \(500\): who knows"),
        ("just words", 2, r"failed \(500\): just words"),
        ({"message": "no", "code": "invalid_api_key"}, 1, r"refused the key"),
        ({"message": "no", "code": "context_length_exceeded"}, 1, "too long"),
    ],
)
async def test_an_error_inside_a_stream_counts_like_its_status(
    error: Any, tries: int, said: str
) -> None:
    turn = Send(delta(content="Half") + event(error=error), SSE)
    async with over([turn, turn], retries=few(1)) as (model, server, _):
        with pytest.raises(ModelError, match=said):
            await model.complete(ask(), listener([]))
        assert len(server.requests) == tries


async def test_nonsense_inside_a_stream_is_tried_again() -> None:
    async with over([Send(b"data: {nonsense\n\n", SSE), OK]) as (model, _, _):
        assert (await model.complete(ask(), listener([]))).text == "Ok."


@pytest.mark.parametrize("streamed", CASES)
async def test_a_cancelled_completion_leaves_the_model_usable(streamed: bool) -> None:
    async with over([Delay(Say("One two"), at=100), OK]) as (model, server, _):
        with anyio.CancelScope() as scope:

            async def cancel() -> None:
                while not server.requests:
                    await anyio.sleep(0.01)
                scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel)
                await model.complete(ask(), watcher(streamed=streamed))
        assert scope.cancelled_caught
        assert (await model.complete(ask())).text == "Ok."


async def test_a_client_of_ones_own_is_used_and_left_open() -> None:
    with OpenAIServer([OK, Fail(400, f"no {KEY}")], key=KEY) as server:
        async with httpx2.AsyncClient(headers={"x-mine": "yes"}) as http:
            client = openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY, http_client=http)
            model = openai_chat("scripted", client=client)
            assert (await model.complete(ask())).text == "Ok."
            await model.close()
            with pytest.raises(ModelError, match=r"no \*\*\*"):
                await model.complete(ask())
        assert [request.headers["x-mine"] for request in server.requests] == ["yes", "yes"]


async def test_what_the_official_client_refuses_is_a_model_error() -> None:
    async def no_key() -> str:
        raise openai.OpenAIError("the vault is shut")

    client = openai.AsyncOpenAI(base_url="http://127.0.0.1:9/v1", api_key=no_key)
    model = openai_chat("m", client=client)
    with pytest.raises(ModelError, match="openai:m: the vault is shut"):
        await model.complete(ask())
    await client.close()


def test_one_model_serves_one_event_loop_after_the_other() -> None:
    with OpenAIServer([OK, OK, OK], key=KEY) as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key=KEY)

        async def once(*, close: bool) -> str:
            reply = await model.complete(ask())
            if close:
                await model.close()
                await model.close()
            return reply.text

        for backend in ("asyncio", "trio", "asyncio"):
            assert anyio.run(lambda: once(close=True), backend=backend) == "Ok."
        assert server.connections == 3


async def test_other_providers_do_not_learn_whose_account_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-1")
    for provider, expected in (("openai", "org-1"), ("acme", None)):
        async with over([OK], provider=provider) as (model, server, _):
            assert model.info.name == f"{provider}:scripted"
            await model.complete(ask())
            assert server.requests[0].headers.get("openai-organization") == expected
