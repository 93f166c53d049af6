"""Replies that say a thing in two places, or that say in a choice that they failed."""

from typing import Any

import msgspec
import pytest

from clew import Agent, Limits, MemoryStore, run, tool
from clew.core.entries import Entry
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew_testing.servers.openai_server import Send
from tests.models.support import over

A = '{"cmd":"a"}'
BOTH = pytest.mark.parametrize("streamed", [False, True])


class Quiet:
    """Listens, so that replies are streamed, and says nothing."""

    def token(self, text: str) -> None:
        pass

    def entry(self, entry: Entry) -> None:
        pass


def sent(streamed: bool, *messages: dict[str, Any], **more: Any) -> Send:
    """The messages as one body, or as one chunk each, and what else stands in the choice."""
    if not streamed:
        said = {key: value for message in messages for key, value in message.items()}
        choice = {"index": 0, "message": said, "finish_reason": "stop"} | more
        return Send(msgspec.json.encode({"choices": [choice]}))
    choices: list[dict[str, Any]] = [{"index": 0, "delta": each} for each in messages]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"} | more)
    chunks = [b"data: %b\n\n" % msgspec.json.encode({"choices": [each]}) for each in choices]
    return Send(b"".join([*chunks, b"data: [DONE]\n\n"]), "text/event-stream")


def new(*arguments: str) -> dict[str, Any]:
    calls = [
        {"index": at, "id": f"c{at}", "function": {"name": "sh", "arguments": each}}
        for at, each in enumerate(arguments)
    ]
    return {"tool_calls": calls}


def older(arguments: str) -> dict[str, Any]:
    return {"function_call": {"name": "sh", "arguments": arguments}}


async def made(first: Send, *, streamed: bool) -> list[str]:
    """The calls that were made for the first reply and the one answer that follows."""
    done: list[str] = []

    @tool(effect="unsafe")
    def sh(cmd: str) -> str:
        """Run."""
        done.append(cmd)
        return "ran"

    end = sent(streamed, {"content": "end"})
    async with over([first, end, end]) as (model, _, _):
        agent = Agent(model=model, tools=[sh], limits=Limits(steps=3))
        await run(agent, "do", store=MemoryStore(), listener=Quiet() if streamed else None)
    return done


@BOTH
@pytest.mark.parametrize(
    ("messages", "calls"),
    [
        ([new(A), older(A)], ["a"]),
        ([older(A), new(A)], ["a"]),
        ([new(A), older('{ "cmd": "a" }')], ["a"]),
        ([new(A, '{"cmd":"b"}'), older(A)], ["a", "b"]),
        ([new(A), older('{"cmd":"b"}')], ["a", "b"]),
        ([new('{"cmd":'), older('{"cmd":')], []),
        ([older(A)], ["a"]),
    ],
)
async def test_a_call_in_the_older_place_too_is_made_once(
    streamed: bool, messages: list[dict[str, Any]], calls: list[str]
) -> None:
    assert sorted(await made(sent(streamed, *messages), streamed=streamed)) == calls


@BOTH
@pytest.mark.parametrize(
    ("inside", "calls"),
    [
        ('{"name":"sh","arguments":{"cmd":"a"}}', ["a"]),
        ('{"name":"sh","parameters":{"cmd":"a"}}', ["a"]),
        ('{"name":"sh","arguments":"{\\"cmd\\":\\"a\\"}"}', ["a"]),
        ('{"name":"sh","arguments":{"cmd":"b"}}', []),
        ('{"name":"rm","arguments":{"cmd":"a"}}', []),
        ('{"name":"sh"}', []),
        ('{"name":"sh","arguments":"b"}', []),
        ('{"name":"sh","arguments":{"cmd":}}', []),
    ],
)
async def test_only_the_same_call_in_the_text_counts_once(
    streamed: bool, inside: str, calls: list[str]
) -> None:
    text = f"<tool_call>{inside}</tool_call>"
    assert await made(sent(streamed, {"content": text}, new(A)), streamed=streamed) == calls


@BOTH
async def test_a_choice_that_failed_makes_no_call(streamed: bool) -> None:
    failed = sent(streamed, new(A), error={"code": 502, "message": "Upstream"})
    assert not await made(failed, streamed=streamed)


@pytest.mark.parametrize(
    ("make", "codec"), [(openai_chat, "native"), (openai_completions, "paper")]
)
async def test_a_choice_that_failed_is_no_answer(make: Any, codec: Any) -> None:
    failed = sent(
        False,
        {"content": "half"},
        error={"code": 502, "message": "x"},
        text="Thought 1: half.\nAction 1: Finish[half]\n",
    )
    choice = {
        "index": 0,
        "text": "Thought 1: end.\nAction 1: Finish[end]\n",
        "message": {"content": "end"},
        "finish_reason": "stop",
    }
    whole = Send(msgspec.json.encode({"choices": [choice]}))
    async with over([failed, whole], make=make) as (model, _, _):
        result = await run(Agent(model=model, codec=codec), "do", store=MemoryStore())
    assert result.answer == "end"
