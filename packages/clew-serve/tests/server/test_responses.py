"""OpenAI's own client talks to agents by Responses: turns, tools, approvals, streams."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from clew import Agent, list_runs, read, tool
from clew.testing import ScriptedModel, act, finish
from clew.toolbox import HoldQuestions, ask_person
from clew_serve import User
from tests.patience import PATIENCE
from tests.server.site import ADA, BOB, Letters, Site, agent, greeter, site, writer

STORE = "runs.sqlite"
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@asynccontextmanager
async def client(here: Site, user: User = ADA) -> AsyncGenerator[AsyncOpenAI]:
    async with AsyncOpenAI(
        api_key=user.token, base_url=f"{here.url}/v1", timeout=PATIENCE, max_retries=0
    ) as made:
        yield made


class City(BaseModel):
    name: str
    people: int


async def test_a_response_goes_on_from_the_one_before_it() -> None:
    script = [finish("One."), finish("Two."), finish("Three.")]
    async with site(agents={"talker": agent(script)}) as here, client(here) as ai:
        first = await ai.responses.create(
            model="talker", input="First?", instructions="Be brief.", metadata={"team": "red"}
        )
        second = await ai.responses.create(
            model="talker", input="Second?", previous_response_id=first.id
        )
        assert (first.output_text, second.output_text) == ("One.", "Two.")
        assert (first.status, second.previous_response_id) == ("completed", first.id)
        assert first.usage is not None
        assert first.usage.total_tokens > 0
        for each in (first, second):
            assert (await ai.responses.retrieve(each.id)).output_text == each.output_text
        with pytest.raises(openai.ConflictError) as refused:
            await ai.responses.create(model="talker", input="Hm?", previous_response_id=first.id)
        assert refused.value.code == "not_the_last_response"
        with pytest.raises(openai.BadRequestError, match="only a user"):
            await ai.responses.create(
                model="talker",
                input=[{"role": "assistant", "content": "Never."}],
                previous_response_id=second.id,
            )
        (run,) = await list_runs(store=STORE)
        record = await read(run.run_id, store=STORE)
    assert record.goal == "Be brief.\n\nFirst?"
    assert record.started.labels == {"team": "red"}


async def test_a_conversation_keeps_its_words_and_input_may_have_a_history() -> None:
    script = [finish("One."), finish("Two."), finish("Three.")]
    async with site(agents={"talker": agent(script)}) as here, client(here) as ai:
        for expected in ("One.", "Two."):
            said = await ai.responses.create(model="talker", input="?", conversation="c1")
            assert said.output_text == expected
        moved = await ai.responses.create(
            model="talker",
            input=[
                {"role": "user", "content": [{"type": "input_text", "text": "First?"}]},
                {"role": "assistant", "content": "Nought."},
                {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "nothing"},
            ],
        )
    assert (moved.status, moved.output_text) == ("completed", "Two.")
    assert len(await list_runs(store=STORE)) == 2


async def test_words_of_an_answer_come_as_they_are_made() -> None:
    words = "Hello you, and all of the others who came here."
    async with site(agents={"greeter": agent([finish(words)])}) as here, client(here) as ai:
        stream = await ai.responses.create(model="greeter", input="Hi.", stream=True)
        events = [event async for event in stream]
        async with ai.responses.stream(model="greeter", input="Hi.") as again:
            final = await again.get_final_response()
    kinds = [event.type for event in events]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == words
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == [*range(len(events))]
    assert final.output_text == words


async def test_a_typed_answer_is_parsed() -> None:
    typed = agent([finish({"name": "Vienna", "people": 2})], answer=City)
    async with site(agents={"city": typed, "greeter": greeter()}) as here, client(here) as ai:
        parsed = await ai.responses.parse(model="city", input="Which?", text_format=City)
        assert parsed.output_parsed == City(name="Vienna", people=2)
        with pytest.raises(openai.BadRequestError, match="answers with text"):
            await ai.responses.parse(model="greeter", input="Which?", text_format=City)


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_clients_own_tools_are_calls_that_it_performs(streamed: bool) -> None:
    script = [act("weather", city="Vienna"), finish("It is sunny.")]
    forecaster: Agent[Any] = agent([]).replace(model=ScriptedModel(script))
    asked: Any = {"model": "forecaster", "tools": [WEATHER]}
    async with site(agents={"forecaster": forecaster}) as here, client(here) as ai:
        if streamed:
            async with ai.responses.stream(input="Weather?", **asked) as stream:
                first: Any = await stream.get_final_response()
        else:
            first = await ai.responses.create(input="Weather?", **asked)
        (call,) = first.output
        assert (call.type, call.name, call.arguments) == (
            "function_call",
            "weather",
            '{"city":"Vienna"}',
        )
        output: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
        for _ in range(2):  # as a client that sends it again
            last = await ai.responses.create(input=output, previous_response_id=first.id, **asked)
            assert last.output_text == "It is sunny."
        with_words: Any = [*output, {"role": "user", "content": "And?"}]
        with pytest.raises(openai.InternalServerError):  # its script has no further line
            await ai.responses.create(input=with_words, **asked)


@pytest.mark.parametrize("approve", [True, False])
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_held_run_is_driven_to_its_end_by_approvals(approve: bool, streamed: bool) -> None:
    """Of one server; another one is told what was decided."""
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here, client(here) as ai:
        if streamed:
            async with ai.responses.stream(model="writer", input="Write.") as stream:
                held: Any = await stream.get_final_response()
        else:
            held = await ai.responses.create(model="writer", input="Write.")
        (asked,) = held.output
        assert (asked.type, asked.name) == ("mcp_approval_request", "send")
        assert asked.arguments == '{"text":"Dear Ada"}'
    decided: Any = [
        {
            "type": "mcp_approval_response",
            "approval_request_id": asked.id,
            "approve": approve,
            "reason": "as you like",
        }
    ]
    async with site(agents={"writer": writer(letters)}) as here:
        async with client(here, BOB) as ai:
            with pytest.raises(openai.NotFoundError):
                await ai.responses.create(model="writer", input=decided)
            with pytest.raises(openai.NotFoundError):
                await ai.responses.retrieve(held.id)
        async with client(here) as ai:
            for _ in range(2):
                last = await ai.responses.create(
                    model="writer", input=decided, previous_response_id=held.id
                )
                assert last.output_text == "It is sent."
            contrary: Any = [{**decided[0], "approve": not approve}]
            with pytest.raises(openai.ConflictError):
                await ai.responses.create(model="writer", input=contrary)
    assert letters.sent == ["Dear Ada"] * approve


async def test_a_question_is_told_in_words() -> None:
    asking = agent(
        [act("ask_person", question="Which?"), finish("Thanks.")],
        [ask_person()],
        guards=[HoldQuestions()],
    )
    async with site(agents={"asking": asking}) as here, client(here) as ai:
        held = await ai.responses.create(model="asking", input="Go.")
        assert "waits for a decision" in held.output_text
        beside: Any = (held.model_extra or {})["clew"]
        (pending,) = beside["pending"]
        await here.by(ADA).post(f"/api/answers/{pending['id']}", {"value": "The red one"})
        await here.by(ADA).until_stop(pending["run_id"])
        now = await ai.responses.retrieve(held.id)
        assert (now.status, now.output_text) == ("completed", "Thanks.")


async def test_a_response_in_the_background_is_asked_for_and_cancelled() -> None:
    """It ends with the call that it is at, at the latest at that one's deadline."""
    begun, cancelled = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def look() -> str:
        """Look."""
        begun.set()
        await cancelled.wait()
        return "Nothing."

    looking = agent([act("look"), finish("Seen.")], [look])
    async with site(agents={"looking": looking}) as here, client(here) as ai:
        response = await ai.responses.create(model="looking", input="Look.", background=True)
        assert response.status == "in_progress"
        await begun.wait()
        assert (await ai.responses.retrieve(response.id)).status == "in_progress"
        for _ in range(2):  # as a client that sends it again
            assert (await ai.responses.cancel(response.id)).status == "in_progress"
        cancelled.set()
        await here.by(ADA).until_stop(response.id.removeprefix("resp_").partition("~")[0])
        ended = await ai.responses.retrieve(response.id)
        assert (ended.status, ended.output_text) == (
            "cancelled",
            "(interrupted: ada cancelled it)",
        )
        assert (await ai.responses.cancel(response.id)).status == "cancelled"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": "nobody"}, "there is no agent 'nobody'"),
        ({"input": ""}, "."),
        ({"input": [{"type": "whatever"}]}, "of the type 'whatever'"),
        ({"input": [{"role": "robot", "content": "x"}]}, "has the role 'robot'"),
        ({"input": [{"type": "mcp_approval_response"}]}, "cannot be read"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "."),
        ({"previous_response_id": "resp_no-such-run~1"}, "."),
        ({"previous_response_id": "x", "conversation": "y"}, "give one of them"),
        ({"prompt": {"id": "p"}}, "prompt cannot be chosen"),
        ({"tool_choice": "required"}, "tool_choice cannot be chosen"),
        ({"tools": [{"type": "web_search"}]}, "give functions"),
        ({"conversation": {"id": 7}}, "conversation cannot be chosen"),
    ],
)
async def test_what_cannot_be_asked_is_refused_in_openais_form(wrong: Any, message: str) -> None:
    async with site(agents={"greeter": greeter()}) as here, client(here) as ai:
        with pytest.raises(openai.APIStatusError, match=message) as refused:
            await ai.responses.create(**{"model": "greeter", "input": "Hi.", **wrong})
        assert refused.value.status_code in {400, 404}
        assert refused.value.code
        for name in ("resp_x~9", "resp_x~rzz", "x"):
            with pytest.raises(openai.NotFoundError):
                await ai.responses.retrieve(name)
        assert await list_runs(store=STORE) == []


async def test_a_model_that_fails_is_told() -> None:
    async with site(agents={"short": agent([])}) as here, client(here) as ai:
        with pytest.raises(openai.InternalServerError) as failed:
            await ai.responses.create(model="short", input="Hi.")
        assert failed.value.code == "run_failed"
        stream = await ai.responses.create(model="short", input="Hi.", stream=True)
        events = [event async for event in stream]
    assert events[-1].type == "response.failed"
    assert events[-1].response.error is not None
