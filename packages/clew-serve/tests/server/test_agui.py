"""A front end drives agents over AG-UI: words, tools of its own, interrupts, refusals."""

import base64
from typing import Any

import anyio
import pytest

from clew import Agent, list_runs, read, rule, tool
from clew.conversations import session_run
from clew.guards import Provenance
from clew.interfaces import ModelInfo, Prompt, Reply
from clew.testing import ScriptedModel, act, finish
from clew.toolbox import HoldQuestions, ask_person
from tests.server.agui_client import WEATHER, FrontEnd
from tests.server.site import ADA, BOB, Letters, agent, greeter, site, writer

STORE = "runs.sqlite"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(16))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


def forecaster() -> Agent[Any]:
    """An agent that asks for the weather by a tool that only its front end has."""
    script = [act("weather", city="Vienna"), finish("It is sunny."), finish("Still.")]
    return agent([]).replace(model=ScriptedModel(script))


async def test_words_come_as_a_message_in_a_step_and_a_thread_is_a_conversation() -> None:
    async with site(agents={"talker": agent([finish("One."), finish("Two.")])}) as here:
        front = FrontEnd(here.by(ADA))
        for words in ("One.", "Two."):
            front.say("And?")
            end = await front.run()
            assert (front.text(), end.outcome.type, end.result) == (words, "success", words)
            assert end.usage[0].total_tokens > 0
        assert front.kinds() == [
            "RUN_STARTED",
            "STEP_STARTED",
            "TEXT_MESSAGE_START",
            *["TEXT_MESSAGE_CONTENT"] * front.kinds().count("TEXT_MESSAGE_CONTENT"),
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_FINISHED",
        ]
        front.runs -= 1
        again = front.messages.copy()
        front.messages = front.messages[:-1]  # as a client that lost the answer, and asks again
        await front.run()
        assert front.text() == "Two."
        assert front.messages == again
    assert [each.run_id for each in await list_runs(store=STORE)] == [session_run("t1", "ada")]


async def test_calls_of_the_agents_own_are_told_with_what_came_of_them() -> None:
    @tool(effect="read")
    def look(where: str) -> str:
        """Look."""
        return f"a lighthouse at {where}"

    looking = agent([act("look", where="Skerry"), finish("Seen.")], [look])
    async with site(agents={"looking": looking}) as here:
        front = FrontEnd(here.by(ADA))
        front.say("Look.")
        await front.run()
    told = [each for each in front.messages if each["role"] != "user"]
    assert told[0]["toolCalls"][0]["function"] == {
        "name": "look",
        "arguments": '{"where":"Skerry"}',
    }
    assert [each["content"] for each in told[1:]] == ["a lighthouse at Skerry", "Seen."]
    assert front.kinds().count("STEP_STARTED") == 2


@pytest.mark.parametrize("fails", [False, True])
async def test_the_front_ends_own_tools_are_calls_that_it_performs(fails: bool) -> None:
    """In a thread that another server goes on with."""
    async with site(agents={"forecaster": forecaster()}) as here:
        front = FrontEnd(here.by(ADA), tools=[WEATHER])
        front.say("How is the weather?")
        end = await front.run()
        (call,) = front.messages[-1]["toolCalls"]
        assert call["function"] == {"name": "weather", "arguments": '{"city":"Vienna"}'}
        assert end.outcome.pending_tool_call_ids == [call["id"]]
    async with site(agents={"forecaster": forecaster()}) as here:
        front.here = here.by(ADA)
        front.result(call["id"], "sunny", **({"error": "no network"} if fails else {}))
        await front.run()
        assert front.text() == "It is sunny."
        front.say("And now?")
        await front.run()
        assert front.text() == "Still."
        record = await read(session_run("t1", "ada"), store=STORE)
        seen = record.calls[0].observation
        assert seen is not None
        assert (seen.text == "sunny", "no network" in seen.text) == (not fails, fails)
        front.tools = [{**WEATHER, "description": "Another."}]
        front.say("Hm?")
        refused = await front.run()
        assert (refused.status_code, refused.json()["error"]) == (409, "other_tools")


@pytest.mark.parametrize(
    ("payload", "sent"),
    [
        ({"approved": True}, ["Dear Ada"]),
        ({"approved": True, "args": {"text": "Dear Bob"}}, ["Dear Bob"]),
        ({"approved": False, "why": "no"}, []),
        (None, []),
    ],
)
async def test_a_held_call_is_an_interrupt_and_its_resume_a_ruling(
    payload: Any, sent: list[str]
) -> None:
    """Of one server; another one, days later, is told what was decided."""
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        front = FrontEnd(here.by(ADA))
        front.say("Write.")
        end = await front.run()
        (waiting,) = end.outcome.interrupts
        assert waiting.tool_call_id == front.messages[-1]["toolCalls"][0]["id"]
        assert "letters need a person" in waiting.message
        assert waiting.response_schema["required"] == ["approved"]
    status = "cancelled" if payload is None else "resolved"
    decided = [{"interruptId": waiting.id, "status": status, "payload": payload}]
    async with site(agents={"writer": writer(letters)}) as here:
        front.here = here.by(BOB)
        stranger = await front.run(resume=decided)
        assert (stranger.status_code, stranger.json()["error"]) == (404, "run_not_found")
        front.here = here.by(ADA)
        other = await front.run(resume=decided, threadId="t2")
        assert (other.status_code, other.json()["error"]) == (422, "invalid")
        for wrong in ({"approved": "perhaps"}, {}, 7, {"approved": True, "more": 1}):
            misread = await front.run(
                resume=[{**decided[0], "status": "resolved", "payload": wrong}]
            )
            assert (misread.status_code, misread.json()["error"]) == (422, "invalid")
        assert letters.sent == []
        for _ in range(2):  # as a client that sends it again
            end = await front.run(resume=decided)
            assert (front.text(), end.outcome.type) == ("It is sent.", "success")
        contrary = {"interruptId": waiting.id, "status": "resolved"}
        contrary["payload"] = {"approved": not sent}
        late = await front.run(resume=[contrary])
        assert (late.status_code, late.json()["error"]) == (409, "already_ruled")
    assert letters.sent == sent


async def test_an_interrupt_may_be_decided_by_another_program() -> None:
    letters = Letters()
    one = writer(letters)
    async with site(agents={"writer": one}) as here:
        front = FrontEnd(here.by(ADA))
        front.say("Write.")
        (waiting,) = (await front.run()).outcome.interrupts
    await rule(waiting.id, allow=True, store=STORE, agent=one)
    async with site(agents={"writer": one}) as here:
        front.here = here.by(ADA)
        resumed = [{"interruptId": waiting.id, "status": "resolved", "payload": {"approved": True}}]
        await front.run(resume=resumed)
    assert (front.text(), letters.sent) == ("It is sent.", ["Dear Ada"])


async def test_questions_external_calls_and_unknown_outcomes_are_interrupts_too() -> None:
    @tool(external=True)
    def sign(text: str) -> str:
        """Have it signed."""
        raise AssertionError

    asking = agent(
        [act("ask_person", question="Which?"), finish("Thanks.")],
        [ask_person()],
        guards=[HoldQuestions()],
    )
    signing = agent([act("sign", text="x"), finish("Signed.")], [sign])
    async with site(agents={"asking": asking, "signing": signing}) as here:
        for name, last in (("asking", "Thanks."), ("signing", "Signed.")):
            front = FrontEnd(here.by(ADA), name, name)
            front.say("Go.")
            (waiting,) = (await front.run()).outcome.interrupts
            assert waiting.reason == "input_required"
            answer = {"answer": "The red one"}
            resumed = [{"interruptId": waiting.id, "status": "resolved", "payload": answer}]
            await front.run(resume=resumed)
            assert front.text() == last
            record = await read(session_run(name, "ada"), store=STORE)
            assert "The red one" in str(record.calls[0].observation)


class Sees:
    """A model that says what it was shown."""

    info = ModelInfo("sees:1", unmetered=True, takes=frozenset({"image/"}))

    async def complete(self, prompt: Prompt, on_text: Any = None) -> Reply:
        del on_text
        all_parts = [*prompt.head, *prompt.parts, *prompt.tail]
        parts = [each for part in all_parts for each in part.attachments]
        told = "; ".join(part.text for part in all_parts)
        return Reply(f"{len(parts)} pictures; {told}", model="sees:1")


async def test_pictures_and_context_are_shown_to_the_model() -> None:
    sees = Agent(Sees(), guards=[Provenance("off")])
    source = {"type": "data", "value": base64.b64encode(PNG).decode(), "mimeType": "image/png"}
    picture = {"type": "image", "source": source}
    async with site(agents={"sees": sees}) as here:
        front = FrontEnd(here.by(ADA))
        front.say([{"type": "text", "text": "What is it?"}, picture])
        await front.run(context=[{"description": "The page", "value": "about cats"}])
        assert "1 pictures" in front.text()
        assert "The page: about cats" in front.text()
        front.say([{"type": "image", "source": {"type": "url", "value": "https://evil.example"}}])
        refused = await front.run()
        assert (refused.status_code, refused.json()["error"]) == (422, "invalid")


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        {"messages": [{"id": "1", "role": "robot", "content": "x"}]},
        {"messages": [{"id": "1", "role": "user", "content": 7}]},
        {"messages": "Hi."},
        {"threadId": ""},
        {"threadId": "x" * 101},
        {"threadId": 7},
        {"runId": ""},
        {"tools": [{"name": "a b", "description": ""}]},
        {"tools": [{"description": "no name"}]},
        {"tools": [{**WEATHER, "name": f"tool_{number}"} for number in range(129)]},
        {"tools": [WEATHER, WEATHER]},
        {"resume": [{"interruptId": "no id", "status": "resolved"}]},
        {"resume": [{"interruptId": "no-such-run:1.1", "status": "resolved"}]},
        {"resume": [{"interruptId": "no-such-run:1.1", "status": "perhaps"}]},
        {"messages": [{"id": "1", "role": "tool", "toolCallId": "no-run:1.1", "content": "x"}]},
        {"messages": [{"id": "1", "role": "tool", "toolCallId": "c1", "content": "x"}]},
    ],
)
async def test_what_cannot_be_asked_is_refused_and_begins_nothing(wrong: Any) -> None:
    async with site(agents={"greeter": greeter()}) as here:
        front = FrontEnd(here.by(ADA))
        front.say("Hi.")
        refused = await front.run(**wrong)
        assert refused.status_code in {404, 422}, refused.text
        assert refused.json()["message"]
        front.agent = "nobody"
        assert (await front.run()).json()["error"] == "no_such_agent"
        assert await list_runs(store=STORE) == []


async def test_a_model_that_fails_is_an_error_event() -> None:
    async with site(agents={"short": agent([])}) as here:
        front = FrontEnd(here.by(ADA))
        front.say("Hi.")
        end = await front.run()
    assert (end.type, end.code) == ("RUN_ERROR", "run_failed")


async def test_a_front_end_that_leaves_ends_nothing_and_two_may_watch() -> None:
    begun, go = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def look() -> str:
        """Look."""
        begun.set()
        await go.wait()
        return "seen"

    looking = agent([act("look"), finish("Seen.")], [look])
    async with site(agents={"looking": looking}) as here:
        front = FrontEnd(here.by(ADA))
        front.say("Look.")
        asked = front.body()
        headers = here.by(ADA).headers
        async with here.http.stream(
            "POST", f"{here.url}/agui", json=asked, headers=headers
        ) as stream:
            await anext(stream.aiter_lines())
            await begun.wait()
        fronts = [FrontEnd(here.by(ADA)) for _ in range(2)]
        async with anyio.create_task_group() as group:
            for each in fronts:
                each.say("Look.")
                group.start_soon(each.run)
            go.set()
    assert [each.text() for each in fronts] == ["Seen.", "Seen."]
