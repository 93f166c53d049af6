"""Whole runs with a Gemini model: every request of them is one that a strict server takes."""

import pytest

from clew import Agent, Limits, MemoryStore, run, tool
from clew.models.gemini.model import google_gemini
from clew.models.resolve import available, default_model, resolve
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Say
from tests.models.gemini_support import KEY, MODEL


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up.

    Args:
        word: What to look up.
    """
    return f"{word} is a ball of thread"


SCRIPT = [
    Say("I look it up.", calls=[("look_up", '{"word": "clew"}'), ("look_up", '{"word": "skein"}')]),
    Say("", calls=[("look_up", '{"word": 7}')]),
    Say("", calls=[("look_up", "word=clew")]),  # malformed: none of it can be read
    Say("Once more.", calls=[("look_up", '{"word": "ball"}')], reasoning="Hm."),
    Say("", calls=[("no_such", "{}")]),
    Say("", calls=[("finish", '{"answer": 42}')]),
]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_run_of_several_steps_with_faults_and_parallel_calls(streamed: bool) -> None:
    pieces: list[str] = []

    class Listener:
        def token(self, text: str) -> None:
            pieces.append(text)

        def entry(self, entry: object) -> None:
            pass

    with GeminiServer([*SCRIPT, Say("It is still 42.")], key=KEY) as server:
        model = google_gemini(MODEL, base_url=server.base_url, api_key=KEY)
        agent = Agent(model=model, tools=[look_up], answer=int)
        store = MemoryStore()
        listener = Listener() if streamed else None
        result = await run(agent, "What is a clew?", store=store, listener=listener)
        await model.close()
    assert result.answer == 42
    assert len(server.requests) == 6  # one for each entry: none was refused
    assert [request.path.rpartition(":")[2] for request in server.requests] == [
        "streamGenerateContent" if streamed else "generateContent"
    ] * 6
    assert ("".join(pieces) != "") == streamed


async def test_a_landing_forbids_calls_with_the_tools_declared_and_asks_for_the_form() -> None:
    script = [Say("", calls=[("look_up", '{"word": "clew"}')])] * 2 + [Say("7")]
    with GeminiServer(script, key=KEY) as server:
        model = google_gemini(MODEL, base_url=server.base_url, api_key=KEY)
        agent = Agent(model=model, tools=[look_up], answer=int, limits=Limits(steps=2))
        result = await run(agent, "How many?", store=MemoryStore())
        await model.close()
    assert result.answer == 7
    last = server.requests[-1].body
    assert last["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert last["generationConfig"]["responseJsonSchema"] == {"type": "integer"}
    assert len(last["tools"][0]["functionDeclarations"]) == 2


@pytest.mark.parametrize("codec", ["paper", "labelled", "json"])
async def test_text_formats_work_through_it_too(codec: str) -> None:
    said = {
        "paper": "Thought 1: Done.\nAction 1: finish[It is 42.]",
        "labelled": "Thought: Done.\nFinal Answer: It is 42.",
        "json": '{"thought": "Done.", "action": "finish", "args": {"answer": "It is 42."}}',
    }[codec]
    with GeminiServer([Say(said)], key=KEY) as server:
        model = google_gemini(MODEL, base_url=server.base_url, api_key=KEY)
        agent = Agent(model=model, tools=[look_up], codec=codec)
        result = await run(agent, "What is it?", store=MemoryStore())
        await model.close()
    assert result.answer == "It is 42."
    assert "tools" not in server.requests[0].body


def test_the_name_finds_the_model_its_key_and_its_address() -> None:
    with GeminiServer([Say("Ok.")]) as server:
        env = {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.base_url}
        model = resolve("gemini:gemini-2.5-pro", env=env)
    assert model.info.name == "google:gemini-2.5-pro"
    assert model.info.priced


@pytest.mark.parametrize(
    ("env", "key"),
    [
        ({}, "GEMINI_API_KEY"),
        ({"GEMINI_API_KEY": "a"}, "GEMINI_API_KEY"),
        ({"GOOGLE_API_KEY": "a"}, "GOOGLE_API_KEY"),
        ({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}, "GOOGLE_API_KEY"),
    ],
)
async def test_either_variable_may_hold_the_key(env: dict[str, str], key: str) -> None:
    info = next(info for info in available(env) if info.name == "google")
    assert (info.key, info.key_set, info.installed) == (key, bool(env), True)
    if env:
        assert await default_model(env) == ("google:gemini-3.8-flash", f"{key} is set")
