"""Words and values of people that JSON cannot carry are refused, and none becomes another."""

from functools import partial
from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    MemoryStore,
    fork,
    pending_approvals,
    read,
    resume,
    rule,
    run,
    tool,
)
from clew.support.json_arguments import unfit
from clew.testing import ScriptedModel, act, say
from tests.guards.verdicts import verdict_on

SENT: list[str] = []
DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]
ROUND: list[Any] = []
ROUND.append(ROUND)


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


@tool(effect="unsafe")
def send(to: str) -> str:
    """Send a letter."""
    SENT.append(to)
    return "sent"


hold = verdict_on("send", "hold", "look")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"a", "a value of the type bytes"),
        ({"to": bytearray(b"a")}, "a value of the type bytearray"),
        ({"to": [range(3)]}, "a value of the type range"),
        ({"to": {1, 2}}, "a value of the type set"),
        ({"to": float("nan")}, "nan, which is no number of JSON"),
        ({"to": [float("-inf")]}, "-inf, which is no number of JSON"),
        ({1: "a", "1": "b"}, "a key of the type int"),
        ({"to": {None: 1}}, "a key of the type NoneType"),
        ({"to": "a \ud800"}, "a text with half a character"),
        ({"\udc00": 1}, "a text with half a character"),
        ({"to": 1 + 2j}, "a value of the type complex"),
        ({"to": DEEP}, "what is nested too deeply, or holds itself"),
        ({"to": ROUND}, "what is nested too deeply, or holds itself"),
    ],
)
async def test_a_ruling_takes_only_what_json_can_carry(value: Any, why: str) -> None:
    assert unfit(value) == why
    agent = Agent(
        model=ScriptedModel([act("send", to="a"), say("done")]), tools=[send], guards=[hold]
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    for given in ({"args": value}, {"answer": value}):
        with pytest.raises(ConfigError) as raised:
            await rule("r:1.1", allow=True, store=store, **given)
        what = next(iter(given))
        assert str(raised.value).startswith(
            f"the {what} of a ruling hold what JSON cannot carry: {why}; give texts"
        )
    assert len(await pending_approvals(store=store)) == 1
    await rule("r:1.1", allow=True, args={"to": "b"}, store=store)
    await resume(agent, "r", store=store)
    assert SENT == ["b"]


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 2**70, -0.0, "é 😀\x00", [], {}, {"": [1, (2, "x")]}, {"1": {"a": None}}],
    ids=repr,
)
def test_values_of_json_are_fit(value: Any) -> None:
    assert unfit(value) == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (b"hello", "is a value of the type bytes: give a text, or a list of parts"),
        (5, "is a value of the type int: give a text, or a list of parts"),
        ([5], "has a part of the type int: give texts and images, audio or files"),
        ("hi \ud83d", "is a text with half a character: give a text"),
    ],
    ids=["bytes", "number", "list", "half"],
)
async def test_words_of_a_person_are_a_whole_text(words: Any, why: str) -> None:
    agent, store = Agent(model=ScriptedModel([say("one"), say("two")])), MemoryStore()
    with pytest.raises(ConfigError, match=f"^the question {why}$"):
        await run(agent, words, store=store, run_id="r")
    await run(agent, "hello", store=store, run_id="r")
    for again in (partial(resume, agent, "r"), partial(fork, agent, "r", at=1)):
        with pytest.raises(ConfigError, match=f"^say {why}$"):
            await again(say=words, store=store)
    assert len((await read("r", store=store)).steps) == 1
