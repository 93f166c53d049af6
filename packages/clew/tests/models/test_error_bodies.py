"""Errors in whatever shape a server or a gateway writes them: what they say is found.

Shapes: Google's OpenAI door sends a list (openai-python issue 2758), Mistral and FastAPI `detail`,
OpenRouter `metadata.raw` (crush issue 279), MiMo the sentence in `param` (hermes-agent issue
24443), SiliconFlow no `error` at all (QwenPaw issue 433), proxies pages.
"""

import gzip
import json
import zlib
from typing import Any

import pytest

from clew import Agent, MemoryStore, ModelError, run
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew.support.errors import TooLongError
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Say, Send, Turn
from clew_testing.servers.openai_server import OpenAIServer
from tests.models.long_talk import add
from tests.models.support import KEY, ask, few, over

LONG = "This model's maximum context length is 8192 tokens, your messages have 9000."
INNER = json.dumps({"error": {"message": LONG, "type": "invalid_request_error"}})


def _body(value: Any, kind: str = "application/json", status: int = 400) -> Send:
    data = value if isinstance(value, str) else json.dumps(value)
    return Send(data.encode(), kind, status)


SHAPES = {
    "an object": {"error": {"message": LONG}},
    "a list": [{"error": {"message": LONG, "code": 400, "status": "INVALID_ARGUMENT"}}],
    "a list of two": [{}, {"error": {"message": LONG}}],
    "a bare text": LONG,
    "a text in quotes": json.dumps(LONG),
    "error is a text": {"error": LONG},
    "error is a list": {"errors": [{"detail": LONG}]},
    "no error key": {"code": 20015, "message": LONG, "data": None},
    "detail": {"detail": LONG},
    "detail is a list": {"detail": [{"type": "value_error", "loc": ["body"], "msg": LONG}]},
    "JSON in a text": {"error": {"code": 400, "message": INNER}},
    "JSON in JSON in a text": {"error": json.dumps({"error": INNER})},
    "raw": {"error": {"message": "Provider returned error", "metadata": {"raw": INNER}}},
    "in param": {"error": {"message": "Param Incorrect", "param": LONG, "code": "400"}},
    "deep": {"error": {"inner": {"cause": [{"reason": LONG}]}}},
    "a page": f"<!DOCTYPE html><html><head><style>p {{}}</style></head><body><p>{LONG}</p></html>",
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_prompt_that_is_too_long_is_known_in_every_shape(shape: str) -> None:
    said = SHAPES[shape]
    kind = "text/html" if shape == "a page" else "application/json"
    async with over([_body(said, kind)]) as (model, _, _waits):
        with pytest.raises(TooLongError, match="8192"):
            await model.complete(ask())


@pytest.mark.parametrize(
    ("serve", "make"),
    [
        (OpenAIServer, openai_chat),
        (OpenAIServer, openai_responses),
        (AnthropicServer, anthropic_messages),
        (GeminiServer, google_gemini),
    ],
)
@pytest.mark.parametrize("shape", ["a list", "raw", "JSON in a text", "detail is a list"])
async def test_so_is_it_with_every_client(serve: Any, make: Any, shape: str) -> None:
    with serve([_body(SHAPES[shape])], key=KEY) as server:
        model = make("scripted", base_url=server.base_url, api_key=KEY)
        with pytest.raises(TooLongError, match="8192"):
            await model.complete(ask())
        await model.close()


@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 204821 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Input is too long for requested model.",
        "the request exceeds the available context size. try increasing the context size",
        "Range of input length should be [1, 98304]",
        "Please reduce the length of the messages or completion.",
        "Requested token count exceeds the model's maximum context length of 131072 tokens.",
        "This endpoint's maximum input length is 4096 tokens",
        "Prompt contains 40966 tokens, too large for model with 32768 maximum context length",
        "Your input exceeds the context window of this model.",
        "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000",
        "The prompt is longer than the model's limit",
    ],
)
async def test_so_is_it_in_every_wording(said: str) -> None:
    async with over([_body([{"error": {"message": said}}])]) as (model, _, _waits):
        with pytest.raises(TooLongError):
            await model.complete(ask())


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens must be at most 4096, you asked for more tokens",
        "max_completion_tokens is too large: 90000",
        "the message is not allowed",
        "Invalid value for 'temperature': too long a number",
        "the model does not exist",
    ],
)
async def test_other_refusals_are_not_taken_for_it(said: str) -> None:
    async with over([_body({"error": {"message": said}})]) as (model, _, _waits):
        with pytest.raises(ModelError) as caught:
            await model.complete(ask())
    assert not isinstance(caught.value, TooLongError)


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ([{"error": {"code": 429, "message": "slow", "details": [{"x": 1}, RETRY_INFO]}}], 7.0),
        ({"error": {"message": json.dumps({"error": {"details": [RETRY_INFO]}})}}, 7.0),
        ({"error": {"message": "slow", "retry_after": 3}}, 3.0),
        ({"message": "slow", "retry_after_ms": 250}, 0.25),
        ({"error": "slow", "retryAfter": "2.5"}, 2.5),
        ({"error": {"message": "Rate limit reached. Please try again in 6.5s. Visit x."}}, 6.5),
        ({"error": {"message": "Please try again in 1m2.5s."}}, 62.5),
        ({"error": {"message": "Please try again in 20ms."}}, 0.02),
        ("Too many requests: retry after 4 seconds", 4.0),
        ([{"error": {"message": "Please retry in 34.07s."}}], 34.07),
        ({"detail": [{"msg": "wait for 5 sec"}]}, 5.0),
        ("<html><body>Busy. Please try again in 8 seconds.</body></html>", 8.0),
    ],
)
async def test_the_wait_that_a_body_asks_for_is_kept(body: Any, seconds: float) -> None:
    async with over([_body(body, status=429), Say("Ok.")]) as (model, _, waits):
        assert (await model.complete(ask())).text == "Ok."
    assert list(waits) == pytest.approx([seconds])


async def test_the_first_of_several_errors_tells_what_is_wrong() -> None:
    wrong = {"code": 400, "message": "No.", "details": [{"reason": "API_KEY_INVALID"}]}
    with GeminiServer([_body([{"error": wrong}, {"error": {"message": "also"}}])], key=KEY) as at:
        model = google_gemini("scripted", base_url=at.base_url, api_key=KEY)
        with pytest.raises(ModelError, match="key"):
            await model.complete(ask())
        await model.close()


async def test_a_page_is_told_without_its_markup() -> None:
    page = "<html><head><title>502</title></head><body><h1>Bad &amp; gone</h1></body></html>"
    async with over([_body(page, "text/html", 400)]) as (model, _, _waits):
        with pytest.raises(ModelError, match="Bad & gone") as caught:
            await model.complete(ask())
    assert "<h1>" not in str(caught.value)


async def test_what_the_server_behind_a_gateway_said_is_told() -> None:
    body = {
        "error": {"message": "Provider returned error", "metadata": {"raw": '{"detail": "No."}'}}
    }
    async with over([_body(body)]) as (model, _, _waits):
        with pytest.raises(ModelError, match=r"Provider returned error: No\."):
            await model.complete(ask())


async def test_a_run_whose_server_tells_it_in_a_list_goes_on_with_less() -> None:
    """Compaction used to stay away: the list hid the words."""
    turns: list[Turn] = [Say("", [("add", '{"a": 1, "b": 2}')]) for _ in range(6)]
    turns += [_body(SHAPES["a list"]), Say("It is 3.")]
    store = MemoryStore()
    async with over(turns) as (model, _, _waits):
        done = await run(Agent(model=model, tools=[add]), "What is it?", store=store)
    assert done.answer == "It is 3."


def _nested(depth: int) -> Any:
    return {"error": "deep"} if not depth else [_nested(depth - 1)]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "5",
        "[]",
        "{}",
        '{"error": {}}',
        '{"error": 5}',
        '{"error": {"message": "cut he',
        json.dumps(_nested(30)),
        '{"error": {"message": 5}}',
        '{"error": {"message": "no", "input": "maximum context length"}}',
        '{"error": {"message": "no", "metadata": {"raw": ""}, "retry_after": "soon"}}',
    ],
)
async def test_a_body_that_says_little_is_a_refusal_like_others(body: str) -> None:
    async with over([_body(body)]) as (model, _, _waits):
        with pytest.raises(ModelError, match="refused the request") as caught:
            await model.complete(ask())
    assert not isinstance(caught.value, TooLongError)


def packed(body: bytes, encoding: str, status: int) -> Send:
    """An answer with a further header."""
    return Send(body, f"application/json\r\ncontent-encoding: {encoding}", status)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("GZIP", gzip.compress)],
)
async def test_a_refusal_that_is_compressed_says_why(encoding: str, pack: Any) -> None:
    script = [packed(pack(json.dumps({"error": {"message": LONG}}).encode()), encoding, 400)]
    async with over(script) as (model, _, _waits):
        with pytest.raises(TooLongError, match="8192"):
            await model.complete(ask())


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(b'{"error": "' + b"a" * 200_000_000)),
        ("gzip, gzip", gzip.compress(gzip.compress(b" " * 200_000_000))),
        ("br", b"no such thing"),
        ("gzip", b"no such thing"),
    ],
    ids=["a bomb", "a bomb in a bomb", "another", "none"],
)
async def test_a_refusal_that_expands_is_not_read_to_its_end(
    status: int, encoding: str, bomb: bytes
) -> None:
    async with over([packed(bomb, encoding, status)] * 2, retries=few(1)) as (model, _, _waits):
        with pytest.raises(ModelError) as told:
            await model.complete(ask())
    assert f"({status})" in str(told.value)
    assert len(str(told.value)) < 1_000
