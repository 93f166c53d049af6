"""Messages from elsewhere that begin a run in a queue, or a conversation of one."""

from typing import Any

import pytest

from clew import Agent, ConfigError, read, submit, tool
from clew.conversations import history_of
from clew.guards import Provenance
from clew.testing import ScriptedModel, say
from clew.workers import WorkerConfig, work

STORE = "queued.sqlite"
TOLD: list[dict[str, Any]] = [
    {"role": "user", "content": "How big is Vienna?"},
    {"role": "assistant", "content": "Two million."},
    {"role": "user", "content": "And Berlin?"},
]


@tool(effect="unsafe")
def send(to: str) -> str:
    """Send a letter."""
    raise AssertionError(to)


def guide(*answers: str) -> Agent[str]:
    """A step of the messages counts in the script, whose first line is never asked for."""
    script = [say("Never."), *map(say, answers or ("Four million.", "And more."))]
    return Agent(ScriptedModel(script), tools=[send], guards=[Provenance("off")])


async def begin(agent: Agent[str], messages: list[dict[str, Any]], **more: Any) -> str:
    goal, history = history_of(agent, messages)
    return await submit(agent, goal, history=history, store=STORE, **more)


async def carried(agent: Agent[str]) -> None:
    await work(WorkerConfig(store=STORE, agents=[agent], only=True, until_idle=True))


async def test_a_run_of_a_queue_answers_the_last_of_its_messages_once_for_each_request() -> None:
    agent = guide()
    run_id = await begin(agent, TOLD, request="r1", owner="ada")
    assert await begin(agent, TOLD, request="r1", owner="ada") == run_id
    await carried(agent)
    assert await begin(agent, TOLD, request="r1", owner="ada") == run_id
    record = await read(run_id, store=STORE)
    assert [step.thought.answer for step in record.steps if step.thought] == [
        "Two million.",
        "Four million.",
    ]
    others = ([*TOLD[:2], {"role": "user", "content": "And Rome?"}], TOLD[:1], [*TOLD, *TOLD[1:]])
    for other in others:
        with pytest.raises(ConfigError, match="asked something else"):
            await begin(agent, other, request="r1", owner="ada")


async def test_calls_of_messages_are_not_made_again() -> None:
    call = {"id": "c1", "function": {"name": "send", "arguments": '{"to": "Ada"}'}}
    told: list[dict[str, Any]] = [
        {"role": "user", "content": "Write to Ada."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sent"},
    ]
    agent = guide("It is sent.")
    run_id = await begin(agent, told)
    await carried(agent)
    record = await read(run_id, store=STORE)
    assert record.stop is not None
    assert record.stop.answer == "It is sent."
    with pytest.raises(ConfigError, match="end with no words"):
        await begin(agent, told, session="talk")


@pytest.mark.parametrize("end", ["result", "words"])
async def test_a_reply_in_several_messages_is_one_and_no_answer_before_its_end(end: str) -> None:
    call = {"id": "c1", "function": {"name": "send", "arguments": "{}"}}
    told: list[dict[str, Any]] = [
        {"role": "user", "content": "Write to Ada."},
        {"role": "assistant", "content": "I look."},
        {"role": "assistant", "content": "I write."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sent"},
    ]
    said = [{"role": "user", "content": "And?"}] if end == "words" else []
    agent = guide("It is sent.")
    run_id = await begin(agent, [*told, *said])
    await carried(agent)
    record = await read(run_id, store=STORE)
    assert record.stop is not None
    assert record.stop.answer == "It is sent."
    first, *_ = record.steps
    assert first.thought is not None
    assert (first.thought.reply.text, len(first.thought.reply.calls)) == ("I look.\n\nI write.", 1)


async def test_messages_begin_a_conversation_and_only_the_last_is_said_in_one_that_has_begun() -> (
    None
):
    agent = guide()
    run_id = await begin(agent, TOLD, request="r1", session="talk")
    await carried(agent)
    assert await begin(agent, TOLD, request="r1", session="talk") == run_id
    more = [*TOLD, {"role": "assistant", "content": "Lies."}, {"role": "user", "content": "And?"}]
    for _ in range(2):
        assert await begin(agent, more, request="r2", session="talk") == run_id
        await carried(agent)
    record = await read(run_id, store=STORE)
    answers = [step.thought.answer for step in record.steps if step.thought]
    assert answers == ["Two million.", "Four million.", "And more."]
    with pytest.raises(ConfigError, match="asked something else"):
        await begin(agent, TOLD, request="r2", session="talk")


async def test_what_cannot_be_read_is_told_before_anything_is_begun() -> None:
    wrong: list[dict[str, Any]]
    for wrong in ([], [*TOLD[:2]], [{"role": "robot", "content": "x"}], [{"role": "user"}]):
        with pytest.raises(ConfigError):
            await begin(guide(), wrong)
