"""What ends no run though it looks like an answer; and what may stand in one after all."""

from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, read, run
from clew.codecs.native import Native
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import RawCall, Reply, Usage
from clew.testing.models import Line, ScriptedModel, act, finish, say
from tests.core.scenarios import lookup

pytestmark = pytest.mark.both_loops

CALL = '{"name": "lookup", "arguments": {"key": "a"}}'


async def ended(
    *script: Line, codec: str = "native", goal: str = "What is it?", **more: Any
) -> Any:
    """A run over the script, and the thoughts of its record."""
    store = MemoryStore()
    model = ScriptedModel(script, codec=codec)
    agent = Agent(model=model, tools=[lookup], codec=codec, **more)
    result = await run(agent, goal, store=store)
    record = await read(result.run_id, store=store)
    return result, [step.thought for step in record.steps]


@pytest.mark.parametrize(
    "said",
    [
        "ERROR: unreadable reply: the reply was empty: call a tool, or answer",
        "The reply was empty: call a tool, or answer",
        "error: unreadable reply: something else",
        '"Call a tool, or answer."',
    ],
)
async def test_clews_own_words_are_no_answer(said: str) -> None:
    result, thoughts = await ended(Reply(), say(said), say("It is 42."))
    assert (result.answer, result.steps) == ("It is 42.", 3)
    assert "repeats what you were told" in thoughts[1].fault


@pytest.mark.parametrize("said", ["(nothing)", "[the answer]", "The answer."])
async def test_what_stands_in_the_place_of_an_answer_is_named(said: str) -> None:
    result, thoughts = await ended(say(said), say("It is 42."))
    assert (result.answer, result.steps) == ("It is 42.", 2)
    place = said.strip(".").lower()
    assert thoughts[0].fault.startswith(f"'{place}' only stands in the place of an answer")


@pytest.mark.parametrize("said", ["the tool", "Nothing.", "It was empty: the reply of the bank."])
async def test_a_few_words_that_stand_in_the_prompt_too_may_be_an_answer(said: str) -> None:
    result, _ = await ended(Reply(), say(said))
    assert result.answer == said


async def test_the_words_of_a_landing_are_no_answer() -> None:
    words = "Give the best answer that the observations above allow, and say what is missing."
    script = (act("lookup", key="a"), say(words))
    result, _ = await ended(*script, limits=Limits(steps=1))
    assert (result.status, result.answer) == ("bound", None)


@pytest.mark.parametrize("codec", ["labelled", "paper", "json"])
async def test_a_text_format_takes_neither_for_an_answer(codec: str) -> None:
    lines = (finish("(nothing that counts)"), finish(CALL), finish("It is 42."))
    result, thoughts = await ended(*lines, codec=codec)
    assert (result.answer, result.steps) == ("It is 42.", 3)
    assert "only stands in the place of an answer" in thoughts[0].fault
    assert "written as text" in thoughts[1].fault


class Own:
    """A format with the methods that each must have, and no others."""

    name, stop, native = "own/1", (), True
    head, render, tail = Native().head, Native().render, Native().tail
    reply_schema, stream_filter = Native().reply_schema, Native().stream_filter

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """All of it is the answer."""
        return Parsed(answer=reply.text)


class Silent(Own):
    """One in which no text is a call."""

    def calls_in(self, prompt_spec: PromptSpec, text: str) -> None:
        """None stands in any."""
        return


async def test_a_format_that_does_not_say_what_a_call_is_takes_none_for_an_answer() -> None:
    agent = Agent(ScriptedModel([say(CALL), say("It is 42.")]), [lookup], codec=Own())
    assert (await run(agent, "?", store=MemoryStore())).answer == "It is 42."
    assert (await run(agent.replace(codec=Silent()), "?", store=MemoryStore())).answer == CALL


async def test_finish_with_a_call_as_its_answer_is_refused_as_wrong_arguments() -> None:
    store = MemoryStore()
    model = ScriptedModel([finish(CALL), finish("It is 42.")])
    result = await run(Agent(model=model, tools=[lookup]), "What?", store=store)
    observation = (await read(result.run_id, store=store)).call("1.1").observation
    assert result.answer == "It is 42."
    assert observation is not None
    assert observation.code == "invalid_arguments"


@pytest.mark.parametrize(
    "said",
    [
        "It was founded in 1850 [wiki:abbey].",
        "It was founded in 1850 [notes.md#3].",
        "According to the search results it was founded in 1850.",
        "The search returned nothing of use.",
        "As the tool results show, 1850.",
    ],
)
async def test_an_answer_that_rests_on_calls_that_were_not_made_is_sent_back(said: str) -> None:
    result, thoughts = await ended(say(said), act("lookup", key="a"), say(said))
    assert (result.answer, result.steps) == (said, 3)
    assert "no call was made in this run" in thoughts[0].fault


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("The search results you gave name 1850.", "What do these search results say: 1850?"),
        ("See [the page](https://example.org) or [https://example.org].", "Where?"),
        ("A list is written [1, 2], and [a] is no citation.", "How?"),
    ],
)
async def test_what_the_person_gave_and_plain_brackets_may_stand_in_an_answer(
    said: str, goal: str
) -> None:
    result, _ = await ended(say(said), goal=goal)
    assert (result.answer, result.steps) == (said, 1)


async def test_without_tools_nothing_is_said_to_be_missing() -> None:
    model = ScriptedModel([say("The search results say 1850 [wiki:abbey].")])
    assert (await run(Agent(model=model), "When?", store=MemoryStore())).status == "answered"


async def test_an_empty_reply_is_not_put_into_the_models_mouth() -> None:
    seen: list[list[tuple[str, str]]] = []

    def look(prompt: Any) -> Any:
        seen.append([(part.role, part.text) for part in prompt.parts])
        return say("ok")

    await ended(Reply(), look)
    assert seen == [
        [("user", "ERROR: unreadable reply: the reply was empty: call a tool, or answer")]
    ]


async def test_half_a_character_of_any_model_is_mended_and_named() -> None:
    calls = (RawCall(name="lookup", arguments='{"key": "a\ud83d"}', id="c1"),)
    odd = Reply("cut \ud83d", calls=calls, finish="calls", usage=Usage(7, 1))
    result, thoughts = await ended(odd, say("ok"))
    assert result.answer == "ok"
    assert (thoughts[0].text, thoughts[0].actions[0].args) == ("cut \ufffd", {"key": "a\ufffd"})
    assert thoughts[0].repairs == ("half a character replaced by U+FFFD",)


@pytest.mark.parametrize(
    "arguments", ['{"key": "a", "key": "b"}', '{"key": "a", "more": {"x": 1, "x": 2}}']
)
async def test_a_key_that_is_given_twice_is_a_fault_of_the_arguments(arguments: str) -> None:
    store = MemoryStore()
    twice = Reply(calls=(RawCall(name="lookup", arguments=arguments, id="c1"),), finish="calls")
    agent = Agent(model=ScriptedModel([twice, say("ok")]), tools=[lookup])
    result = await run(agent, "What?", store=store)
    call = (await read(result.run_id, store=store)).call("1.1")
    assert call.action.args == {}
    assert call.observation is not None
    assert call.observation.code == "invalid_arguments"
    assert "is given twice" in call.observation.text


async def test_a_typed_answer_that_gives_a_key_twice_is_a_fault() -> None:
    said = Reply('{"a": 1, "a": 2}')
    model = ScriptedModel([said, finish({"a": 1})])
    result = await run(Agent(model=model, answer=dict[str, int]), "What?", store=MemoryStore())
    assert (result.answer, result.steps) == ({"a": 1}, 2)
