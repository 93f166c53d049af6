"""Whole runs over Anthropic's Messages: every request is taken by the strict server."""

import base64
from typing import Any, TypedDict

import pytest

from clew import (
    Agent,
    Image,
    Limits,
    MemoryStore,
    ModelSettings,
    Tool,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.context import PROMPT
from clew.core.entries import Entry
from clew.core.tools import Retry
from clew.models.anthropic.messages import anthropic_messages
from clew_testing.servers.anthropic_server import AnthropicServer, Say, Turn

PIXEL = b"\x89PNG\r\n\x1a\n"
ADAPTIVE = ModelSettings(extra={"thinking": {"type": "adaptive"}})


@tool(effect="read")
async def look(name: str) -> str:
    """Look a name up.

    Args:
        name: What to look up.
    """
    return f"the entry of {name}"


@tool(effect="read")
async def draw() -> Image:
    """Draw a pixel."""
    return Image("image/png", PIXEL)


class Found(TypedDict):
    """What was found."""

    name: str
    pages: int


class Watching:
    """A listener, which makes an agent stream."""

    def token(self, text: str) -> None:
        """Tokens are not looked at."""

    def entry(self, entry: Entry) -> None:
        """Entries are not looked at."""


def looked(*names: str) -> list[tuple[str, str]]:
    return [("look", f'{{"name": "{name}"}}') for name in names]


async def play(
    script: list[Turn], *tools: Tool, streamed: bool = False, settings: Any = None, **agent: Any
) -> tuple[Any, list[Any]]:
    """A run, what it sent, and the same run replayed from its record."""
    store = MemoryStore()
    with AnthropicServer(script, key="k") as server:
        model = anthropic_messages(
            "scripted",
            base_url=server.base_url,
            api_key="k",
            settings=settings or ModelSettings(),
            retries=Retry(times=0),
        )
        agent = {"prompt": PROMPT.replace(variants=()), **agent}
        who = Agent(model=model, tools=tools or (look,), **agent)
        listener = Watching() if streamed else None
        done = await run(who, "What is there?", store=store, run_id="run", listener=listener)
        await model.close()
    record = await read("run", store=store)
    assert (await replay(who, "run", store=store)).trajectory.entries == record.entries
    return done, [seen.body for seen in server.requests]


@pytest.mark.parametrize("streamed", [False, True])
async def test_several_steps_with_thinking_and_parallel_calls(streamed: bool) -> None:
    script: list[Turn] = [
        Say("I look.", looked("a", "b"), reasoning="Two at once."),
        Say("", looked("c"), reasoning="And one more."),
        Say("Hm."[:0], [("look", "{}")], reasoning="Without a name."),
        Say("All of it.", reasoning="That is all."),
    ]
    done, sent = await play(
        script,
        streamed=streamed,
        settings=ADAPTIVE,
        prompt=PROMPT.replace(variants=(), tell_left="always"),
        limits=Limits(steps=9),
    )
    assert (done.status, done.answer) == ("answered", "All of it.")
    assert len(sent) == 4  # none was refused
    kinds = [[block["type"] for block in each["content"]] for each in sent[-1]["messages"]]
    assert kinds == [
        ["text", "text"],
        ["thinking", "text", "tool_use", "tool_use"],
        ["tool_result", "tool_result", "text"],
        ["thinking", "tool_use"],
        ["tool_result", "text"],
        ["thinking", "tool_use"],
        ["tool_result", "text"],
    ]


async def test_a_landing_forbids_calls_and_asks_for_the_form() -> None:
    script: list[Turn] = [
        Say("", looked("a"), reasoning="First."),
        Say('{"name": "a", "pages": 3}', reasoning="Enough."),
    ]
    done, sent = await play(script, answer=Found, limits=Limits(steps=1), settings=ADAPTIVE)
    assert (done.status, done.answer) == ("bound", {"name": "a", "pages": 3})
    assert sent[0].get("tool_choice") is None
    last = sent[1]
    assert last["tool_choice"] == {"type": "none"}
    assert [each["name"] for each in last["tools"]] == [each["name"] for each in sent[0]["tools"]]
    schema = last["output_config"]["format"]["schema"]["$defs"]["Found"]
    assert schema["properties"].keys() == {"name", "pages"}
    assert schema["additionalProperties"] is False


async def test_a_picture_is_shown_in_its_result() -> None:
    script: list[Turn] = [Say("", [("draw", "{}"), *looked("a")]), Say("A pixel.")]
    done, sent = await play(script, draw, look)
    assert done.answer == "A pixel."
    content = sent[1]["messages"][-1]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result"]
    (shown,) = [block["content"][-1] for block in content if isinstance(block["content"], list)]
    assert shown["type"] == "image"
    assert shown["source"]["data"] == base64.b64encode(PIXEL).decode()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("codec", "calls", "answers"),
    [
        (
            "paper",
            'Thought 1: I look.\nAction 1: look({"name": "a"})',
            "Thought 2: So it is.\nAction 2: finish[All of it.]",
        ),
        (
            "labelled",
            'Thought: I look.\nAction: look\nAction Input: {"name": "a"}',
            "Thought: So it is.\nFinal Answer: All of it.",
        ),
        (
            "json",
            '{"thought": "I look.", "action": "look", "args": {"name": "a"}}',
            '{"thought": "So it is.", "answer": "All of it."}',
        ),
    ],
)
async def test_text_formats_work_through_it_too(
    codec: str, calls: str, answers: str, streamed: bool
) -> None:
    script: list[Turn] = [Say(calls, reasoning="Quietly."), Say(answers)]
    done, sent = await play(script, codec=codec, streamed=streamed)
    assert (done.status, done.answer) == ("answered", "All of it.")
    assert all("tools" not in body and "tool_choice" not in body for body in sent)
    assert all(body["stop_sequences"] for body in sent)
    assert ("output_config" in sent[0]) == (codec == "json")
    assert "the entry of a" in sent[1]["messages"][-1]["content"][-1]["text"]


async def test_a_run_goes_on_after_the_end_of_a_process() -> None:
    """The record alone says again what was thought, and the server takes it."""
    store = MemoryStore()
    first: list[Turn] = [Say("", looked("a"), reasoning="First."), Say("So far.")]
    then: list[Turn] = [Say("", looked("b"), reasoning="Then."), Say("All of it.")]
    for number, script in enumerate((first, then)):
        with AnthropicServer(script, key="k") as server:
            model = anthropic_messages(
                "scripted", base_url=server.base_url, api_key="k", retries=Retry(times=0)
            )
            agent = Agent(model=model, tools=[look], prompt=PROMPT.replace(variants=()))
            if number == 0:
                await run(agent, "What is there?", store=store, run_id="run")
            else:
                done = await resume(agent, "run", say="And else?", store=store)
                assert done.answer == "All of it."
                assert len(server.requests) == 2
                replies = [
                    each["content"][0]["type"]
                    for each in server.requests[-1].body["messages"]
                    if each["role"] == "assistant"
                ]
                assert replies == ["thinking", "text", "thinking"]
            await model.close()
