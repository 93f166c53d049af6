"""OpenAI's own client talks to agents by Chat Completions, over a socket."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from clew import Agent, list_runs, read, tool
from clew.testing import ScriptedModel, act, finish
from clew_serve import User
from tests.patience import PATIENCE
from tests.server.site import ADA, BOB, EVE, Letters, Site, agent, greeter, site, writer

STORE = "runs.sqlite"
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
HI: Any = [{"role": "user", "content": "Hi."}]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@asynccontextmanager
async def client(here: Site, user: User = ADA, **more: Any) -> AsyncGenerator[AsyncOpenAI]:
    base = f"{here.url}/v1"
    async with AsyncOpenAI(
        api_key=user.token, base_url=base, timeout=PATIENCE, max_retries=0, **more
    ) as made:
        yield made


def forecaster() -> Agent[Any]:
    """An agent that asks for the weather by a tool that only its client has."""
    calls = [act("weather", city="Vienna"), finish("It is sunny.")]
    model = ScriptedModel(calls)
    plain = agent([])
    return plain.replace(model=model)


def told(completion: ChatCompletion) -> tuple[str | None, str]:
    choice = completion.choices[0]
    return choice.message.content, choice.finish_reason


def beside(completion: ChatCompletion) -> Any:
    """What clew tells beside the protocol."""
    return (completion.model_extra or {})["clew"]


async def test_models_are_the_agents_and_one_answers() -> None:
    async with site(agents={"greeter": greeter()}) as here, client(here) as ai:
        assert [model.id async for model in ai.models.list()] == ["greeter"]
        completion = await ai.chat.completions.create(
            model="greeter", messages=HI, user="u1", metadata={"team": "red"}, temperature=0
        )
        record = await read(completion.id.removeprefix("chatcmpl-"), store=STORE)
    assert told(completion) == ("Hello.", "stop")
    assert completion.usage is not None
    assert completion.usage.total_tokens == record.usage.tokens > 0
    assert (record.started.owner, record.started.labels) == ("ada", {"team": "red", "user": "u1"})


async def test_an_answer_comes_in_pieces_with_its_usage() -> None:
    words = "Hello you, and all of the others who came here."
    async with site(agents={"greeter": agent([finish(words)])}) as here, client(here) as ai:
        stream = await ai.chat.completions.create(
            model="greeter", messages=HI, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        async with ai.chat.completions.stream(model="greeter", messages=HI) as again:
            final = await again.get_final_completion()
    pieces = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(piece.delta.content or "" for piece in pieces) == words
    assert pieces[0].delta.role == "assistant"
    assert [piece.finish_reason for piece in pieces][-2:] == [None, "stop"]
    assert [chunk.usage is not None for chunk in chunks] == [*[False] * len(pieces), True]
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert final.choices[0].message.content == words


class City(BaseModel):
    name: str
    people: int


async def test_a_typed_answer_is_parsed_and_text_is_no_json() -> None:
    typed = agent([finish({"name": "Vienna", "people": 2})], answer=City)
    async with site(agents={"city": typed, "greeter": greeter()}) as here, client(here) as ai:
        parsed = await ai.chat.completions.parse(model="city", messages=HI, response_format=City)
        assert parsed.choices[0].message.parsed == City(name="Vienna", people=2)
        async with ai.chat.completions.stream(
            model="city", messages=HI, response_format=City
        ) as stream:
            final = await stream.get_final_completion()
        assert final.choices[0].message.parsed == City(name="Vienna", people=2)
        with pytest.raises(openai.BadRequestError, match="answers with text"):
            await ai.chat.completions.parse(model="greeter", messages=HI, response_format=City)


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_clients_own_tools_are_calls_that_it_performs(streamed: bool) -> None:
    """In a run of one server, which another one goes on with."""
    messages: Any = [{"role": "user", "content": "How is the weather in Vienna?"}]
    asked: Any = {"model": "forecaster", "tools": [WEATHER]}
    async with site(agents={"forecaster": forecaster()}) as here, client(here) as ai:
        if streamed:
            async with ai.chat.completions.stream(messages=messages, **asked) as stream:
                first: Any = await stream.get_final_completion()
        else:
            first = await ai.chat.completions.create(messages=messages, **asked)
    assert first.choices[0].finish_reason == "tool_calls"
    (call,) = first.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Vienna"}')
    messages += [
        first.choices[0].message.model_dump(exclude_none=True, exclude={"parsed"}),
        {"role": "tool", "tool_call_id": call.id, "content": "sunny"},
    ]
    async with site(agents={"forecaster": forecaster()}) as here:
        async with client(here, BOB) as ai:
            with pytest.raises(openai.NotFoundError, match="no run"):
                await ai.chat.completions.create(messages=messages, **asked)
        async with client(here) as ai:
            last = await ai.chat.completions.create(messages=messages, **asked)
            again = await ai.chat.completions.create(messages=messages, **asked)
            messages[-1]["content"] = "rainy"
            with pytest.raises(openai.ConflictError) as refused:
                await ai.chat.completions.create(messages=messages, **asked)
    assert told(last) == ("It is sunny.", "stop")
    assert first.id == last.id == again.id
    assert refused.value.code == "already_ruled"
    record = await read(last.id.removeprefix("chatcmpl-"), store=STORE)
    seen = record.calls[0].observation
    assert seen is not None
    assert seen.text == "sunny"


async def test_a_held_run_is_driven_to_its_end() -> None:
    """The turn ends, says where to decide, and the run's end is asked for by its id."""
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here, client(here) as ai:
        held = await ai.chat.completions.create(model="writer", messages=HI)
        run_id = beside(held)["run_id"]
        (waiting,) = beside(held)["pending"]
        text, reason = told(held)
        assert reason == "stop"
        assert text == f"Run {run_id} waits for a decision (/inbox):\n- send: letters need a person"
        look: Any = {"model": "writer", "messages": HI, "metadata": {"run_id": run_id}}
        assert told(await ai.chat.completions.create(**look)) == (text, "stop")
        await here.by(ADA).post(f"/api/rulings/{waiting['id']}", {"allow": True})
        while told(last := await ai.chat.completions.create(**look))[0] == text:
            await anyio.lowlevel.checkpoint()
    assert told(last) == ("It is sent.", "stop")
    assert letters.sent == ["Dear Ada"]


async def test_messages_go_before_a_question_and_a_session_keeps_its_own() -> None:
    script = [finish("One."), finish("Two."), finish("Three.")]
    talk: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": "Nought."},
        {"role": "user", "content": "Second?"},
    ]
    async with site(agents={"talker": agent(script)}) as here, client(here) as ai:
        moved = await ai.chat.completions.create(model="talker", messages=talk)
        assert told(moved) == ("Two.", "stop")  # the script counts the step that was told
        record = await read(moved.id.removeprefix("chatcmpl-"), store=STORE)
        assert record.goal == "Be brief.\n\nFirst?"
        session: Any = {"model": "talker", "metadata": {"session": "s1"}}
        for expected in ("One.", "Two."):
            said = await ai.chat.completions.create(messages=HI, **session)
            assert told(said) == (expected, "stop")
        assert len(await list_runs(store=STORE)) == 2


async def test_a_request_that_is_sent_twice_is_one_run() -> None:
    async with site(agents={"greeter": greeter()}) as here, client(here) as ai:
        once: Any = {"model": "greeter", "extra_headers": {"Idempotency-Key": "k1"}}
        first = await ai.chat.completions.create(messages=HI, **once)
        again = await ai.chat.completions.create(messages=HI, **once)
        other: Any = [{"role": "user", "content": "Else."}]
        with pytest.raises(openai.BadRequestError, match="asked something else"):
            await ai.chat.completions.create(messages=other, **once)
    assert first.id == again.id
    assert told(again) == ("Hello.", "stop")


async def test_whoever_leaves_a_stream_ends_nothing_and_two_may_read_one_run() -> None:
    begun, go = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def look() -> str:
        """Look."""
        begun.set()
        await go.wait()
        return "seen"

    looker = agent([act("look"), finish("Seen.")], [look])
    async with site(agents={"looker": looker}) as here, client(here) as ai:
        stream = await ai.chat.completions.create(model="looker", messages=HI, stream=True)
        run_id = (await anext(aiter(stream))).id.removeprefix("chatcmpl-")
        await begun.wait()
        await stream.close()
        answers: list[tuple[str | None, str]] = []

        async def ask() -> None:
            look: Any = {"model": "looker", "messages": HI, "metadata": {"run_id": run_id}}
            answers.append(told(await ai.chat.completions.create(**look)))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            group.start_soon(ask)
            go.set()
    assert answers == [("Seen.", "stop")] * 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": "nobody"}, "there is no agent 'nobody'"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "has the role 'robot'"),
        ({"messages": []}, "end with no question"),
        ({"messages": "Hi."}, "Expected `array`"),
        ({"messages": [{"role": "user", "content": 7}]}, "no part of a message"),
        ({"n": 2}, "n cannot be chosen"),
        ({"stop": ["x"]}, "stop cannot be chosen"),
        ({"tools": [{"type": "web_search"}]}, "give functions"),
        ({"tools": [{"type": "function", "function": {"name": 7}}]}, "cannot be read"),
        ({"tools": [{"type": "function"}]}, "cannot be read"),
        ({"tools": [{**WEATHER, "function": {"name": "a b"}}]}, "."),
        ({"tools": [WEATHER, WEATHER]}, "."),
        ({"metadata": {"run_id": "no-such-run"}}, "."),
        ({"messages": [*HI, {"role": "tool", "tool_call_id": "x", "content": "y"}]}, "no such"),
        ({"messages": [*HI, {"role": "tool", "tool_call_id": "r:1.1", "content": "y"}]}, "."),
        ({"extra_body": {"whatever": 1}}, "whatever"),
    ],
)
async def test_what_cannot_be_asked_is_refused_in_openais_form(wrong: Any, message: str) -> None:
    async with site(agents={"greeter": greeter()}) as here, client(here) as ai:
        with pytest.raises(openai.APIStatusError, match=message) as refused:
            await ai.chat.completions.create(**{"model": "greeter", "messages": HI, **wrong})
        assert refused.value.status_code in {400, 404}
        assert (refused.value.type, bool(refused.value.code)) == ("invalid_request_error", True)
        assert await list_runs(store=STORE) == []


async def test_statuses_are_those_that_its_client_tells_apart() -> None:
    async with site(agents={"greeter": greeter()}, max_body=1_000) as here:
        nobody = User("nobody", "run", "token-of-nobody-0123456789")
        kinds: list[tuple[User, str, type[openai.APIStatusError]]] = [
            (nobody, "Hi.", openai.AuthenticationError),
            (EVE, "Hi.", openai.PermissionDeniedError),
            (ADA, "x" * 2_000, openai.APIStatusError),
        ]
        for user, words, kind in kinds:
            async with client(here, user) as ai:
                with pytest.raises(kind) as refused:
                    await ai.chat.completions.create(
                        model="greeter", messages=[{"role": "user", "content": words}]
                    )
                assert refused.value.code


async def test_a_model_that_fails_is_told_and_begins_no_second_run() -> None:
    """OpenAI's client sends a request again by itself, unless it is told not to."""
    async with site(agents={"short": agent([])}) as here, client(here) as ai:
        again = ai.with_options(max_retries=2)
        with pytest.raises(openai.InternalServerError) as failed:
            await again.chat.completions.create(model="short", messages=HI)
        assert failed.value.code == "run_failed"
        assert len(await list_runs(store=STORE)) == 1
        with pytest.raises(openai.APIError):
            async for _ in await ai.chat.completions.create(
                model="short", messages=HI, stream=True
            ):
                pass
