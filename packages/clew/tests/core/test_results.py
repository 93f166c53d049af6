"""A result is one of seven, each with only what is true of it."""

import json
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from clew import (
    Agent,
    Answered,
    Bound,
    ConfigError,
    Declined,
    Failed,
    Held,
    Interrupted,
    Limits,
    MemoryStore,
    NotAnsweredError,
    Result,
    ToolError,
    Trajectory,
    Verdict,
    batch,
    cancel,
    read,
    result_of,
    resume,
    rule,
    run,
    tool,
)
from clew.core.actions import UnknownCall
from clew.core.contents import Reply
from clew.testing.models import ScriptedModel, act, finish, say


@dataclass
class Titled:
    """An answer."""

    title: str


@tool
def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


@tool
def lose(to: str) -> str:
    """Send a letter, by a post that loses some."""
    raise OSError("the post office burnt down")


def hold(call: Any, _record: Any) -> Verdict | None:
    return Verdict("hold", "a letter needs a yes") if call.action.name == "send" else None


def letters(*script: Any, **settings: Any) -> Agent:
    settings = {"guards": [hold], **settings}
    return Agent(ScriptedModel(script, plan=None), [send, lose], **settings)


async def test_what_took_no_tokens_cost_nothing() -> None:
    result = await run(Agent(ScriptedModel([say("42")])), "How many?", store=MemoryStore())
    assert (result.lost.cost, result.to_json()["lost"]["cost"]) == (0.0, 0.0)
    assert result.usage.tokens
    none = Agent(ScriptedModel([say("42")]), limits=Limits(tokens=1, landing=False))
    ended = await run(none, "How many?", store=MemoryStore())
    assert (ended.status, ended.usage.tokens, ended.usage.cost) == ("bound", 0, 0.0)


async def test_an_answer_is_unwrapped() -> None:
    result = await run(Agent(ScriptedModel([say("42")])), "How many?", store=MemoryStore())
    assert isinstance(result, Answered)
    assert (result.ok, result.status, result.unwrap(), str(result)) == (
        True,
        "answered",
        "42",
        "42",
    )


async def test_what_is_held_says_what_it_waits_for() -> None:
    store = MemoryStore()
    agent = letters(act("send", to="ada"), finish("done"))
    result = await run(agent, "Send it.", store=store, run_id="r")
    assert isinstance(result, Held)
    assert not result.ok
    waits = 'waits for send({"to":"ada"}), call 1.1: a letter needs a yes'
    assert str(result) == f"held: {waits}"
    with pytest.raises(NotAnsweredError) as raised:
        result.unwrap()
    error = raised.value
    assert str(error) == f"run r has no answer: held: {waits}"
    assert (error.run_id, error.status) == ("r", "held")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    (approval,) = result.pending_approvals
    await rule(approval.id, allow=True, store=store)
    assert (await resume(agent, "r", store=store)).unwrap() == "done"


async def test_a_limit_is_named_and_its_partial_answer_is_no_answer() -> None:
    limits = Limits(steps=1)
    agent = letters(act("lose", to="ada"), finish("as far as I know: nothing"), limits=limits)
    result = await run(agent, "Send it.", store=MemoryStore())
    assert isinstance(result, Bound)
    assert (result.limit, result.answer) == ("steps", "as far as I know: nothing")
    assert (result.code, result.to_json()["code"]) == ("steps", "steps")
    with pytest.raises(NotAnsweredError, match="bound: steps"):
        result.unwrap()


async def test_who_declines_does_so_in_words_of_its_own() -> None:
    script = [Reply("I cannot know that.", finish="declined")]
    result = await run(Agent(ScriptedModel(script), answer=int), "Why?", store=MemoryStore())
    assert isinstance(result, Declined)
    assert (str(result), result.answer) == ("I cannot know that.", "I cannot know that.")


async def test_what_failed_was_interrupted_or_lost_says_so() -> None:
    store = MemoryStore()
    (failed,) = await batch(Agent(ScriptedModel([])), ["Who?"], store=store)
    assert isinstance(failed, Failed)
    assert str(failed).startswith("failed: ")
    assert (failed.code, failed.to_json()["code"]) == ("model", "model")
    agent = letters(act("send", to="ada"))
    await run(agent, "Send it.", store=store, run_id="r")
    await cancel("r", why="not today", store=store)
    result: Result = await resume(agent, "r", store=store)
    assert isinstance(result, Interrupted)
    assert (str(result), result.code) == ("interrupted: not today", "")


async def test_an_answer_that_was_rejected_for_good_says_so_to_programs() -> None:
    """Also one of a record that was written before results had codes: nothing of it is new."""

    def short(answer: str, trajectory: Trajectory) -> str | None:
        return "too long" if len(answer) > 3 else None

    store = MemoryStore()
    agent = Agent(ScriptedModel([say("longer")] * 3), checks=[short], store=store)
    result = await run(agent, "Say it.", run_id="r")
    assert isinstance(result, Failed)
    assert (result.code, result.fallback) == ("rejected", True)
    stop = (await read("r", store=store)).stop
    assert stop is not None
    assert stop.code == ""


async def test_calls_of_unknown_outcome_stand_in_the_result() -> None:
    store, agent = MemoryStore(), letters(act("lose", to="ada"), finish("lost"))
    result = await run(agent, "?", store=store, run_id="r")
    assert result.unknown == (UnknownCall("r:1.1", "lose", {"to": "ada"}),)


async def test_a_call_that_promises_that_nothing_was_done_is_not_unknown() -> None:
    @tool
    def full(to: str) -> str:
        """Send a letter."""
        raise ToolError("the box is full")

    agent = Agent(ScriptedModel([act("full", to="ada"), finish("no")], plan=None), [full])
    assert (await run(agent, "?", store=MemoryStore())).unknown == ()


async def test_a_result_is_json() -> None:
    store = MemoryStore()
    agent = letters(act("lose", to="ada"), act("send", to="ada"))
    result = await run(agent, "Send it.", store=store, run_id="r")
    document = json.loads(json.dumps(result.to_json()))
    assert document == result.to_json() == (await result_of(agent, "r", store=store)).to_json()
    assert (document["run_id"], document["status"], document["ok"]) == ("r", "held", False)
    assert document["unknown"] == [{"id": "r:1.1", "tool": "lose", "args": {"to": "ada"}}]
    assert document["pending_approvals"][0]["call"] == "2.1"
    assert document["usage"]["tokens"] == result.usage.tokens


@pytest.mark.parametrize("answer", [5, "five", {"title": "x"}, ["x"]])
@pytest.mark.parametrize("other", [int, str, Titled, list[str]])
async def test_no_agent_reads_an_answer_of_another_type_as_its_own(
    answer: Any, other: type[Any]
) -> None:
    kinds: dict[type[object], Any] = {int: int, str: str, dict: Titled, list: list[str]}
    store, kind = MemoryStore(), kinds[type(answer)]
    asked = Agent(ScriptedModel([finish(answer)]), answer=kind, store=store)
    answered = (await run(asked, "?", run_id="r")).unwrap()
    reader = Agent(ScriptedModel([]), answer=other, store=store)
    if kind == other:
        assert (await result_of(reader, "r")).unwrap() == answered
        return
    for result in (result_of(reader, "r"), resume(reader, "r", accept_change=True)):
        with pytest.raises(ConfigError, match="run r has an answer of another type"):
            await result
