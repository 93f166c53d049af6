"""What goes wrong with Gemini: errors, lost connections and nonsense, each with one outcome."""

import socket
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from google.genai import Client, types

from clew import ModelSettings
from clew.models.gemini.model import google_gemini
from clew.support.errors import ConfigError, ModelError, TooLongError
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Cut, Delay, Drop, Fail, Say, Send, Turn
from tests.models.gemini_support import KEY, MODEL, chunk, over
from tests.models.support import Waits, ask, few, listener, tool, watcher

SSE = "text/event-stream"
OK = Say("Ok.")
CASES = [False, True]
NONE = Send(b'{"candidates": []}')
HTML = Send(b"<html><body>Welcome</body></html>", "text/html")


def error(**fields: Any) -> bytes:
    return msgspec.json.encode({"error": fields})


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Fail(500), r"failed \(500\): scripted error"),
        (Fail(503, "overloaded"), r"failed \(503\): overloaded"),
        (Fail(504), r"failed \(504\)"),
        (Send(b"<html>Bad gateway</html>", "text/html", 502), r"failed \(502\): .*Bad gateway"),
        (Send(b"[" + error(code=503, message="busy") + b"]", status=503), r"\(503\): busy"),
        (Drop(), "no connection to http://127.0.0.1.*, or it was lost"),
        (Cut(OK, 0), "broke off|was lost"),
        (Cut(OK, 60), "broke off|was lost"),
        (Send(b'{"candidates": [{"cont'), "sent no proper reply"),
        (HTML, r"sent no proper reply .* without its version"),
        (NONE, "without a candidate"),
        (Send(b'{"candidates": [{"content": {"parts": [{"functionCall": 7}]}}]}'), "no proper"),
        (Send(error(code=503, message="busy", status="UNAVAILABLE")), r"failed \(503\): busy"),
        (Send(b'{"error": "odd"}'), r"failed \(500\): odd"),
    ],
    ids=str,
)
async def test_what_may_pass_is_tried_again_and_then_told(turn: Turn, said: str) -> None:
    async with over([turn, OK, turn, turn] * 2, retries=few(1)) as (model, server, waits):
        for number, streamed in enumerate(CASES):
            answer = await model.complete(ask(), watcher(streamed=streamed))
            assert answer.text == "Ok."
            assert len(server.requests) == 4 * number + 2
            with pytest.raises(ModelError, match=said) as caught:
                await model.complete(ask(), watcher(streamed=streamed))
            assert "gave up after 2 tries" in str(caught.value)
            assert "\n" not in str(caught.value)
            assert len(server.requests) == 4 * number + 4
        assert len(waits) >= 4


@pytest.mark.parametrize("streamed", CASES)
@pytest.mark.parametrize(
    "turn",
    [
        Fail(429, "slow down"),
        Send(error(message="slow down", status="RESOURCE_EXHAUSTED")),
        Fail(503, "slow down", headers={"retry-after": "1"}),
    ],
    ids=str,
)
async def test_a_limit_of_the_rate_is_waited_out_as_long_as_there_is_patience(
    turn: Turn, streamed: bool
) -> None:
    async with over([turn, turn, turn, OK]) as (model, server, waits):
        assert (await model.complete(ask(), watcher(streamed=streamed))).text == "Ok."
        assert len(server.requests) == 4
        assert waits
    async with over(lambda _: turn, patience=2.0) as (model, _, _):
        with pytest.raises(ModelError, match=r"\((429|503)\): slow down"):
            await model.complete(ask(), watcher(streamed=streamed))


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (Fail(400, "odd"), rf"google:{MODEL} refused the request \(400\): odd"),
        (Fail(400, "User location is not supported for the API use."), "User location"),
        (Fail(403, "SERVICE_DISABLED"), r"this key may not use it \(403\): SERVICE"),
        (Fail(404, "models/x is not found"), r"nothing of that name .*check the model's"),
        (Fail(429, "Your prepayment credits are depleted."), "has no credit left .*top it up"),
        (Send(b"plain words", "text/plain", 418), "plain words"),
        (Send(b"", "text/plain", 302), r"refused the request \(302\)"),
        (Send(error(message="no", status="NOT_FOUND")), r"nothing of that name .*\(404\): no"),
    ],
    ids=str,
)
async def test_what_will_not_pass_is_told_at_once(turn: Turn, said: str) -> None:
    async with over([turn, turn]) as (model, server, waits):
        for streamed in CASES:
            with pytest.raises(ModelError, match=said):
                await model.complete(ask(), watcher(streamed=streamed))
        assert len(server.requests) == 2
        assert waits == []


async def test_a_prompt_that_does_not_fit_is_told_apart() -> None:
    said = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    async with over([Fail(400, said)]) as (model, _, _):
        with pytest.raises(TooLongError, match="the prompt is too long for it"):
            await model.complete(ask())


async def test_a_wrong_key_is_named_by_its_variable_and_never_shown() -> None:
    wrong = "gm-wrong-9876543210"
    async with over([OK], api_key=wrong, key_variable="GOOGLE_API_KEY") as (model, _, waits):
        with pytest.raises(ModelError, match=r"refused the key in GOOGLE_API_KEY \(401\)") as told:
            await model.complete(ask())
        assert wrong not in str(told.value)
        assert waits == []
    async with over([Fail(500, f"bad key {KEY}\nand\tmore")], retries=few(0)) as (model, _, _):
        with pytest.raises(ModelError, match=r"bad key \*\*\* and more"):
            await model.complete(ask())


def test_a_key_or_an_address_that_cannot_be_one_is_found_before_the_first_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="set the environment variable GEMINI_API_KEY"):
        google_gemini("m")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "somewhere")
    with pytest.raises(ConfigError, match="'somewhere' is no address of a server"):
        google_gemini("m", api_key="k")


async def test_it_waits_as_long_as_the_details_say() -> None:
    details = [
        {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"},
    ]
    body = error(code=503, message="busy", status="UNAVAILABLE", details=details)
    async with over([Fail(500), Send(body, status=503), OK]) as (model, _, waits):
        await model.complete(ask())
    assert waits[0] <= 0.5
    assert sum(waits[1:]) == pytest.approx(7.5, abs=1.0)


async def test_nobody_listens_at_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        model = google_gemini("m", api_key="k", base_url=address, sleep=Waits(), retries=few(1))
        with pytest.raises(ModelError, match=f"no connection to {address}.*the server runs"):
            await model.complete(ask())
        await model.close()


@pytest.mark.parametrize("streamed", CASES)
async def test_a_server_that_does_not_answer_is_left(streamed: bool) -> None:
    async with over(
        [Delay(), *[OK] * 20], settings=ModelSettings(timeout=0.2), retries=few(20)
    ) as (model, _, waits):
        answer = await model.complete(ask(), watcher(streamed=streamed))
        assert answer.text == "Ok."
        assert waits  # more than one where the machine is too busy to answer in time


SAID = Say("One two three.", calls=[("search", '{"query": "x"}')])
LENGTH = 1400


async def test_a_stream_cut_at_any_byte_ends_in_the_whole_reply() -> None:
    cuts = range(0, LENGTH, 83)
    script: list[Turn] = [turn for at in cuts for turn in (Cut(SAID, at), SAID)]
    async with over(script) as (model, server, _):
        for _ in cuts:
            answer = await model.complete(ask(tools=(tool("search"),)), listener([]))
            assert (answer.text, answer.finish) == ("One two three.", "calls")
            assert answer.calls[0].arguments == '{"query":"x"}'
        assert len(server.requests) >= len(cuts) * 2 - 4


async def test_a_stream_that_always_breaks_off_is_a_cut_reply() -> None:
    script: list[Turn] = [Cut(SAID, 700), Fail(500), Cut(SAID, 700)]
    async with over(script, retries=few(2)) as (model, _, _):
        answer = await model.complete(ask(), listener([]))
    assert answer.finish == "cut"
    assert "One two three.".startswith(answer.text)


async def test_a_stream_that_brings_nothing_is_tried_again() -> None:
    async with over([Send(b"", SSE), Send(b": ping\n\n", SSE), OK]) as (model, _, waits):
        assert (await model.complete(ask(), listener([]))).text == "Ok."
        assert len(waits) == 2


@pytest.mark.parametrize(
    ("fields", "tries", "said"),
    [
        ({"message": "overloaded", "code": 503}, 2, r"failed \(503\): overloaded"),
        ({"message": "who knows", "status": "ODD"}, 2, r"failed \(500\): who knows"),
        ({"message": "no", "code": 403}, 1, "may not use it"),
    ],
)
async def test_an_error_inside_a_stream_counts_like_its_status(
    fields: dict[str, Any], tries: int, said: str
) -> None:
    turn = Send(chunk({"text": "Half"}) + b"data: " + error(**fields) + b"\n\n", SSE)
    async with over([turn, turn], retries=few(1)) as (model, server, _):
        with pytest.raises(ModelError, match=said):
            await model.complete(ask(), listener([]))
        assert len(server.requests) == tries


@pytest.mark.parametrize("streamed", CASES)
async def test_a_cancelled_completion_leaves_the_model_usable(streamed: bool) -> None:
    async with over([Delay(Say("One two"), at=100), Delay(), OK]) as (model, server, _):
        for number in (1, 2):
            with anyio.CancelScope() as scope:

                async def cancel(scope: anyio.CancelScope = scope, number: int = number) -> None:
                    while len(server.requests) < number:
                        await anyio.sleep(0.01)
                    scope.cancel()

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(cancel)
                    await model.complete(ask(), watcher(streamed=streamed))
            assert scope.cancelled_caught
        assert (await model.complete(ask())).text == "Ok."


# ---------------------------------------------------------------- clients of one's own


@pytest.mark.parametrize("streamed", CASES)
async def test_a_client_of_ones_own_may_be_one_of_vertex(streamed: bool) -> None:
    made: list[Client] = []
    with GeminiServer([OK, OK], key=KEY) as server:

        def client(options: types.HttpOptions) -> Client:
            options.base_url = server.base_url
            made.append(Client(vertexai=True, api_key=KEY, http_options=options))
            return made[-1]

        model = google_gemini(MODEL, client=client)
        for _ in range(2):
            answer = await model.complete(ask(), watcher(streamed=streamed))
            assert answer.text == "Ok."
        await model.close()
    assert len(made) == 1
    assert "/publishers/google/models/" in server.requests[0].path


async def test_a_client_of_ones_own_still_works_for_its_owner() -> None:
    made: list[Client] = []
    with GeminiServer([OK, Say("Mine.")], key=KEY) as server:

        def client(options: types.HttpOptions) -> Client:
            options.base_url = server.base_url
            made.append(Client(vertexai=False, api_key=KEY, http_options=options))
            return made[-1]

        model = google_gemini(MODEL, client=client)
        await model.complete(ask())
        answer = await made[0].aio.models.generate_content(model=MODEL, contents="And I?")
        assert answer.text == "Mine."
        await model.close()
    assert server.requests[1].body["contents"][0]["parts"] == [{"text": "And I?"}]


@pytest.mark.parametrize("streamed", CASES)
@pytest.mark.parametrize("turn", [OK, Fail(503)])
async def test_a_client_that_goes_out_elsewhere_is_found_out(turn: Turn, streamed: bool) -> None:
    async with httpx2.AsyncClient() as elsewhere:
        with GeminiServer([turn]) as server:

            def client(_: types.HttpOptions) -> Client:
                body = {"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}]}
                options = types.HttpOptions(
                    base_url=server.base_url, httpx_async_client=elsewhere, extra_body=body
                )
                return Client(vertexai=False, api_key="k", http_options=options)

            model = google_gemini(MODEL, client=client)
            with pytest.raises(ModelError, match="does not use the connections it was given"):
                await model.complete(ask(), watcher(streamed=streamed))
            await model.close()


async def test_what_the_official_client_refuses_is_a_model_error() -> None:
    def client(options: types.HttpOptions) -> Client:
        return Client(vertexai=False, api_key="auth_tokens/1", http_options=options)

    model = google_gemini(MODEL, client=client)
    with pytest.raises(ModelError, match=rf"google:{MODEL}: Ephemeral tokens"):
        await model.complete(ask())
    await model.close()


def test_one_model_serves_one_event_loop_after_the_other() -> None:
    with GeminiServer([OK, OK, OK], key=KEY) as server:
        model = google_gemini(MODEL, base_url=server.base_url, api_key=KEY)

        async def once() -> str:
            answer = await model.complete(ask())
            await model.close()
            return answer.text

        for backend in ("asyncio", "trio", "asyncio"):
            assert anyio.run(once, backend=backend) == "Ok."
        assert server.connections == 3
