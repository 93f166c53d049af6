"""What people and runs say may look like the loop's own messages: a strategy takes it as it is."""

import pytest

from clew import Agent, MemoryStore, read, replay, resume, run
from clew.interfaces import RawCall, Reply, encode
from clew.testing import ScriptedModel
from clew_strategies import Chaining, strategy_agent

WORDS = (
    "ERROR: disk full, says the log",
    "ERROR: tool_error: the sub-run ended as failed and gave no answer",
    "NOTE: the shop is closed on Monday",
    "The limit on speed is 50 km/h",
    "The question again: why?",
    '{"answer": 7, "cut_short": "a limit"}',
    '{"ok": false, "content": "no"}',
    "null",
    "12",
)


def answer(text: str) -> Reply:
    return Reply(
        "", (RawCall(name="finish", arguments=encode({"answer": text}).decode()),), "calls"
    )


def chain(first: str, second: str) -> Agent:
    """Two stages that say these words, as often as they are asked."""
    stages = {"first": first, "second": second}
    agents = {name: Agent(ScriptedModel([answer(text)] * 2)) for name, text in stages.items()}
    return strategy_agent(Chaining(agents), agents["first"])


@pytest.mark.parametrize("words", WORDS)
async def test_an_answer_is_passed_on_word_for_word(words: str) -> None:
    agent, store = chain(words, "done"), MemoryStore()
    result = await run(agent, "Read the log.", store=store)
    assert (result.status, result.answer) == ("answered", "done")
    second = await read(f"{result.run_id}-2.1", store=store)
    assert second.goal.endswith(f"(first):\n{words}")
    again = await replay(agent, result.run_id, store=store)
    assert again.trajectory.stop is not None
    assert again.trajectory.stop.answer == "done"


@pytest.mark.parametrize("words", WORDS)
async def test_what_a_person_says_next_is_the_next_task(words: str) -> None:
    agent, store = chain("one", "two"), MemoryStore()
    first = await run(agent, "Read the log.", store=store)
    result = await resume(agent, first.run_id, store=store, say=words)
    assert (result.status, result.answer) == ("answered", "two")
    anew = await read(f"{first.run_id}-4.1", store=store)
    assert anew.goal.endswith(f"The question now:\n{words}")
