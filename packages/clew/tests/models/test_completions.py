"""Plain completions: a prompt as one text, for models that only go on with it."""

from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, Limits, MemoryStore, ModelSettings, run
from clew import tool as make_tool
from clew.core.codes import Finish
from clew.core.contents import Image, Usage
from clew.core.prompts import Part, Prompt
from clew.models.openai.completions import openai_completions
from clew.models.openai.completions_reply import CompletionsReplyBuilder
from clew.models.prices import Price
from clew.support.errors import ConfigError, ModelError
from clew_testing.servers.completions import Completions
from clew_testing.servers.http_server import ReceivedRequest
from clew_testing.servers.openai_server import Cut, Fail, OpenAIServer, Say, Send, Turn
from clew_testing.servers.openai_service import Access
from tests.models.support import KEY, ask, event, few, listener, over, tool, watcher

SSE = "text/event-stream"
BOTH = pytest.mark.parametrize("streamed", [False, True])
REQUEST = {"model": "m", "prompt": "Go.", "stream_options": {"include_usage": True}}


def completions(script: Any, **options: Any) -> Any:
    return over(script, make=openai_completions, **options)


async def test_the_prompt_is_one_text_that_the_model_goes_on_with() -> None:
    prompt = Prompt(
        (Part("system", "Work in steps."), Part("user", "Question: What is “it”?")),
        (
            Part("assistant", "Thought 1: Hm.\nAction 1: look[it]"),
            Part(
                "user", "Observation 1: a cat", attachments=(Image("image/png", b"png", "a cat"),)
            ),
        ),
        (Part("user", "Step 2."),),
        stop=("\nObservation ",),
    )
    async with completions(
        [Say("Ok.")], settings=ModelSettings(temperature=0.0, stop=("END",))
    ) as found:
        model, server, _ = found
        await model.complete(prompt)
    assert server.requests[0].path == "/v1/completions"
    assert server.requests[0].body == {
        "model": "scripted",
        "max_tokens": 1024,
        "temperature": 0.0,
        "stop": ["\nObservation ", "END"],
        "prompt": (
            "Work in steps.\n\nQuestion: What is “it”?\nThought 1: Hm.\nAction 1: look[it]\n"
            "Observation 1: a cat\n(not shown here: a cat)\nStep 2.\n"
        ),
    }


async def test_a_part_is_encoded_once() -> None:
    prompt = ask()
    async with completions([Say("Ok."), Say("Ok.")], settings=ModelSettings(max_tokens=9)) as found:
        model, server, _ = found
        await model.complete(prompt)
        first = [dict(part.encoded) for part in prompt]
        await model.complete(prompt, listener([]))
        assert (
            [part.encoded for part in prompt]
            == first
            == [
                {"completions": b"Be brief.\\n\\n"},
                {"completions": b"What is it?\\n"},
            ]
        )
    assert [request.body["max_tokens"] for request in server.requests] == [9, 9]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_arrives_as_it_is(texts: list[str]) -> None:
    model = openai_completions("m", api_key=KEY)
    prompt = Prompt((), [Part("user", text) for text in texts])
    model.info.validate(prompt)
    sent = b'"' + b"".join(part.encoded["completions"] for part in prompt) + b'"'
    assert httpx2.Response(200, content=sent).json() == "".join(f"{text}\n" for text in texts)


@make_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_native_calls_are_refused_before_the_first_request() -> None:
    model = openai_completions("base", api_key=KEY)
    with pytest.raises(ConfigError, match=r"openai-completions:base only goes on .* codec='paper'"):
        Agent(model=model, tools=[add], codec="native")
    with pytest.raises(ConfigError, match="only goes on with text"):
        model.info.validate(ask(tools=(tool("search"),)))
    Agent(model=model, tools=[add], codec="paper")


@pytest.mark.parametrize("params", [{"n": 2, "echo": True}, {"echo": True, "n": 1}])
def test_parameters_that_the_adapter_writes_are_refused(params: Any) -> None:
    with pytest.raises(ConfigError, match="the parameters echo, n are written by the adapter"):
        openai_completions("m", api_key=KEY, settings=ModelSettings(extra=params))


FORM: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("provider", "also", "expected"),
    [
        ("vllm-completions", {"structured_outputs"}, [{"structured_outputs": {"json": FORM}}]),
        (
            "vllm-completions",
            {"guided_json"},
            [{"structured_outputs": {"json": FORM}}, {"guided_json": FORM}],
        ),
        (
            "vllm-completions",
            set[str](),
            [{"structured_outputs": {"json": FORM}}, {"guided_json": FORM}, {}],
        ),
        ("llamacpp-completions", {"json_schema"}, [{"json_schema": FORM}]),
        ("llamacpp-completions", set[str](), [{"json_schema": FORM}, {}]),
        ("ollama-completions", set[str](), [{}]),
    ],
)
async def test_a_form_is_asked_for_where_the_server_knows_it(
    provider: str, also: set[str], expected: list[Any]
) -> None:
    with OpenAIServer([Say("{}"), Say("Ok.")], key=KEY, also=frozenset(also)) as server:
        options: dict[str, Any] = {"base_url": server.base_url, "api_key": KEY}
        model = openai_completions("m", provider=provider, **options)
        assert (await model.complete(ask(reply_schema=FORM))).text == "{}"
        await model.complete(ask())
        await model.close()
    keys = {"structured_outputs", "guided_json", "json_schema"}
    sent = [
        {key: request.body[key] for key in keys & request.body.keys()}
        for request in server.requests
    ]
    assert sent == [*expected, {}]


async def test_the_users_own_form_wins() -> None:
    own = {"guided_json": {"type": "string"}}
    with OpenAIServer([Say("x")], key=KEY, also=frozenset(own)) as server:
        options: dict[str, Any] = {
            "base_url": server.base_url,
            "api_key": KEY,
            "settings": ModelSettings(extra=own),
        }
        model = openai_completions("m", provider="vllm-completions", **options)
        await model.complete(ask(reply_schema=FORM))
        await model.close()
    assert server.requests[0].body["guided_json"] == {"type": "string"}
    assert "structured_outputs" not in server.requests[0].body


@BOTH
@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        (Say("Ok."), "stop", "Ok."),
        (Say("Half", finish="length"), "length", "Half"),
        (Say("Half", finish="filter"), "filter", "Half"),
        (Say("", finish="stop"), "stop", ""),
        (Say("", finish="abort"), "cut", ""),
        (Say("<think>Hm.</think>Ok."), "stop", "Ok."),
    ],
)
async def test_how_it_ended(said: Say, finish: Finish, text: str, streamed: bool) -> None:
    async with completions([said]) as (model, _, _):
        reply = await model.complete(ask(), watcher(streamed=streamed))
    assert (reply.finish, reply.text) == (finish, text)
    assert reply.reasoning == ("Hm." if "Hm." in (said.text or "") else "")


@BOTH
async def test_usage_cost_and_model_are_read(streamed: bool) -> None:
    said = Say("Ok.", usage=Usage(100, 20, 40, written=10), model="m-2026")
    async with completions(
        [said, Say("Ok.", usage={})], prices={"scripted": Price(1.0, 10.0)}
    ) as m:
        model, _, _ = m
        reply = await model.complete(ask(), watcher(streamed=streamed))
        assert (await model.complete(ask(), watcher(streamed=streamed))).usage.estimated
    assert (reply.model, reply.usage.input) == ("m-2026", 100)
    assert (reply.usage.cached, reply.usage.written) == (40, 10)
    assert reply.usage.cost == pytest.approx(300 / 1e6)


async def test_a_stream_shows_its_text_and_may_be_ended() -> None:
    pieces: list[str] = []
    async with completions([Say("One two three."), Say("One two three.")], piece=5) as found:
        model, _, _ = found
        await model.complete(ask(), listener(pieces))
        reply = await model.complete(ask(), listener([], lambda text: "two" in text))
    assert pieces == ["One ", "two ", "three."]
    assert (reply.text, reply.finish) == ("One two ", "stop")


@given(st.builds(Say, text=st.text(max_size=40), finish=st.sampled_from(["", "length", "filter"])))
def test_streamed_and_plain_are_the_same_reply(said: Say) -> None:
    seen = ReceivedRequest("/v1/completions", {}, REQUEST, b"")
    plain, streamed = CompletionsReplyBuilder("m"), CompletionsReplyBuilder("m")
    plain.take(Completions(Access()).full_body(said, seen), complete=True)
    for one in Completions(Access()).events(said, seen):
        streamed.take(one[6:].strip(), complete=False)
    assert streamed.done
    assert streamed.reply(0) == plain.reply(0)


@BOTH
@pytest.mark.parametrize(
    ("turn", "tries", "said"),
    [
        (Fail(503), 2, r"failed \(503\)"),
        (Fail(401, code="invalid_api_key"), 1, "refused the key in OPENAI_API_KEY"),
        (Fail(400, "maximum context length is 8"), 1, "too long for it"),
        (Fail(400, "odd"), 1, r"refused the request \(400\): odd"),
        (Fail(404, "no such model"), 1, "nothing of that name"),
        (Send(b"<html>", "text/html"), 2, "that of a server with completions"),
        (Send(b'{"choices": []}'), 2, "without a choice or without text"),
        (Send(b'{"choices": [{"message": {}}]}'), 2, "without a choice or without text"),
        (Send(b'{"error": {"message": "busy", "code": 503}}'), 2, r"failed \(503\): busy"),
    ],
    ids=str,
)
async def test_what_goes_wrong_has_one_clear_outcome(
    turn: Turn, tries: int, said: str, streamed: bool
) -> None:
    async with completions([turn, turn], retries=few(1)) as (model, server, _):
        with pytest.raises(ModelError, match=said):
            await model.complete(ask(), watcher(streamed=streamed))
        assert len(server.requests) == tries


@pytest.mark.parametrize("key", ["stream_options", "stop"])
async def test_what_a_run_can_do_without_is_left_out_when_refused(key: str) -> None:
    fail = Fail(400, f"Unrecognized request argument supplied: {key}", param=key)
    async with completions([fail, Say("Ok."), Say("Ok.")]) as (model, server, _):
        for _ in range(2):
            await model.complete(ask(stop=("END",)), listener([]))
    assert [key in request.body for request in server.requests] == [True, False, False]


async def test_a_stream_that_is_cut() -> None:
    said = Say("One two three.")
    async with completions([Cut(said, 150), said]) as (model, _, _):
        assert (await model.complete(ask(), listener([]))).text == "One two three."
    half = Send(event(choices=[{"text": "Half"}]), SSE)
    async with completions([half, half], retries=few(1)) as (model, _, _):
        reply = await model.complete(ask(), listener([]))
    assert (reply.text, reply.finish) == ("Half", "cut")


class Ears:
    def token(self, text: str) -> None: ...

    def entry(self, entry: Any) -> None: ...


@BOTH
@pytest.mark.parametrize(
    ("codec", "texts"),
    [
        (
            "paper",
            [
                'Thought 1: Add.\nAction 1: add[{"a": 1, "b": 2}]\nObservation 1: 4',
                "Action 2: nonsense",
                "Thought 3: 3.\nAction 3: Finish[3]\nQuestion: Next?",
            ],
        ),
        (
            "labelled",
            [
                'Thought: Add.\nAction: add\nAction Input: {"a": 1, "b": 2}\nObservation: 4',
                "Hm.",
                "Thought: 3.\nFinal Answer: 3\n",
            ],
        ),
        (
            "json",
            [
                '{"thought": "Add.", "action": "add", "args": {"a": 1, "b": 2}}',
                "{",
                '{"thought": "3.", "action": "finish", "args": {"answer": "3"}}',
            ],
        ),
    ],
)
async def test_a_whole_run_in_each_text_format(
    codec: str, texts: list[str], streamed: bool
) -> None:
    async with completions([Say(text) for text in texts]) as (model, server, _):
        agent = Agent(model=model, tools=[add], codec=codec, limits=Limits(steps=2))
        ears = Ears() if streamed else None
        result = await run(agent, "What is 1 and 2?", store=MemoryStore(), listener=ears)
    assert (result.answer, result.status) == ("3", "bound")  # the answer came in landing
    prompts = [request.body["prompt"] for request in server.requests]
    assert prompts[1].endswith(": 3\nStep 2.\nThis is the last step: finish now.\n")
    assert all(prompt.count("Observation 1: 4") == 0 for prompt in prompts)


REFUSED: list[tuple[Any, str]] = [
    ([], "could not parse"),
    ({"prompt": "x"}, "must provide a model"),
    ({"model": "m"}, "must provide a prompt"),
    ({"model": "m", "prompt": "x", "messages": []}, "argument supplied: messages"),
    ({"model": "m", "prompt": "x", "max_tokens": 0}, "max_tokens"),
    ({"model": "m", "prompt": "x", "stop": ["a"] * 5}, "'stop'"),
    ({"model": "m", "prompt": "x", "stream_options": {}}, "only allowed when 'stream'"),
]


def test_the_server_refuses_what_the_real_one_refuses() -> None:
    with OpenAIServer([Say("Ok.")]) as server, httpx2.Client() as http:
        for sent, said in REFUSED:
            answer = http.post(f"{server.base_url}/completions", json=sent)
            assert (answer.status_code, sent) == (400, sent)
            assert said in answer.json()["error"]["message"]
        fine = {"model": "m", "prompt": "x", "stop": "END"}
        assert http.post(f"{server.base_url}/completions", json=fine).status_code == 200


def test_the_official_client_reads_it() -> None:
    with OpenAIServer([Say("Ok."), Say("Ok.", finish=None)], key=KEY) as server:
        with openai.OpenAI(base_url=server.base_url, api_key=KEY) as client:
            whole = client.completions.create(model="m", prompt="Go.")
            assert (whole.choices[0].text, whole.choices[0].finish_reason) == ("Ok.", "stop")
            chunks = list(client.completions.create(model="m", prompt="Go.", stream=True))
            assert "".join(chunk.choices[0].text for chunk in chunks) == "Ok."
