"""When an answer is looked at: not while a person has something to say, and one of a reply."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, Result, Trajectory, Verdict, read, replay, resume, run
from clew.agent.read_result import result
from clew.agent.runner import start
from clew.core.contents import RawCall, Reply, text_parts
from clew.core.events import Note
from clew.core.loop import run as go
from clew.core.models import Model, OnText
from clew.core.prompts import Prompt
from clew.core.trajectory import Call
from clew.core.values import encode
from clew.testing.models import ScriptedModel, act, acts, finish
from tests.core.play import copy
from tests.core.scenarios import TOOLS, must_say_42
from tests.core.watched import watched

SPOKEN = "ERROR: interrupted: a person spoke meanwhile: heed that, then finish"
SECOND = "ERROR: cap: only one answer of a reply is looked at, and this is another"


class Interrupted:
    """A model during whose first thought a person leaves a word in the inbox."""

    def __init__(self, model: Model, store: MemoryStore) -> None:
        self.info = model.info
        self._model, self._store = model, store
        self._words = ["In years, please."]

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = await self._model.complete(prompt, on_text)
        if self._words:
            await self._store.post("run", encode(Note(text_parts(self._words.pop()))))
        return reply


async def hold_answers(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that lets no answer out unseen, but for one in years."""
    _ = trajectory
    held = call.action.name == "finish" and "years" not in str(call.args)
    return Verdict("hold", "a person looks at answers") if held else None


def closed(trajectory: Trajectory) -> list[str]:
    """What every call was told."""
    return [call.observation.text for call in trajectory.calls if call.observation is not None]


@pytest.mark.parametrize("codec", ["native", "paper", "json"])
async def test_a_word_that_comes_while_an_answer_is_given_is_heard_before_it_counts(
    codec: str,
) -> None:
    script = [finish("500 months"), finish("42 years")]
    store = MemoryStore()
    inner = watched(*script, codec=codec, tools=TOOLS)
    agent = Agent(model=Interrupted(inner, store), tools=TOOLS, codec=codec)
    found = await run(agent, "How old?", store=store, run_id="run")
    assert (found.status, found.answer, found.steps) == ("answered", "42 years", 2)
    record = await read("run", store=store)
    assert closed(record) == [SPOKEN, "the answer was accepted"]
    said = [part.text for part in inner.sent[1].parts]
    assert said[-1] == "In years, please."
    assert SPOKEN in said[-2]
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries


async def test_a_word_beside_an_answer_that_waits_for_a_ruling_takes_its_place() -> None:
    model = ScriptedModel([finish("500 months"), finish("42 years")], tools=TOOLS)
    agent, store = Agent(model=model, tools=TOOLS, guards=[hold_answers]), MemoryStore()
    assert (await run(agent, "How old?", store=store, run_id="run")).status == "held"
    found = await resume(agent, "run", say="In years, please.", store=store)
    assert (found.status, found.answer) == ("answered", "42 years")
    record = await read("run", store=store)
    assert closed(record) == [SPOKEN, "the answer was accepted"]
    lines = await store.read("run")
    spoken = next(n for n, line in enumerate(lines, 1) if b'"event":"note"' in line.body)
    for cut in range(spoken, len(lines)):
        again = await resume(agent, "run", store=await copy(lines[:cut]))
        assert (again.status, again.answer, again.steps) == ("answered", "42 years", 2)


async def test_a_late_result_takes_no_answer_back() -> None:
    agent = Agent(model=ScriptedModel([finish("42")], tools=TOOLS), tools=TOOLS)
    journal = await start(agent, "How old?", MemoryStore(), run_id="run")
    journal.words.append("lookup (call 1.1) ended after its deadline: 43")
    assert (await go(agent.engine, journal)).steps[0].finish is None
    assert result(agent, journal.trajectory).answer == "42"


async def two_answers(*script: Reply, **options: object) -> tuple[Result[Any], list[str]]:
    """What comes of a script, and what every call was told."""
    agent: Agent[Any] = Agent(ScriptedModel(script, tools=TOOLS), TOOLS, **options)  # type: ignore[arg-type]  # whatever an agent may have
    store = MemoryStore()
    found = await run(agent, "What is it?", store=store, run_id="run")
    record = await read("run", store=store)
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
    lines = await store.read("run")
    for cut in range(1, len(lines)):
        again = await resume(agent, "run", store=await copy(lines[:cut]))
        assert (again.status, again.answer, again.steps) == (
            found.status,
            found.answer,
            found.steps,
        )
    return found, closed(record)


def finishing(*arguments: str) -> Reply:
    """A reply that calls finish several times."""
    calls = [RawCall(name="finish", arguments=args, id=f"c{n}") for n, args in enumerate(arguments)]
    return Reply(calls=tuple(calls), finish="calls")


async def test_of_two_answers_in_a_reply_the_first_counts_and_the_other_is_told_so() -> None:
    found, told = await two_answers(finishing('{"answer":"one"}', '{"answer":"two"}'))
    assert (found.status, found.answer, found.steps) == ("answered", "one", 1)
    assert told == ["the answer was accepted", SECOND]


async def test_an_answer_that_cannot_be_read_does_not_hide_one_that_can() -> None:
    found, told = await two_answers(finishing('{"anser":"one"}', '{"answer":"two"}'))
    assert (found.status, found.answer, found.steps) == ("answered", "two", 1)
    assert told[0].startswith("ERROR: invalid_arguments: anser: unknown argument")
    assert told[1] == "the answer was accepted"


async def test_answers_that_cannot_be_read_are_each_told_what_is_wrong() -> None:
    script = finishing("{", '{"answer":7}'), finishing('{"answer":"one"}')
    found, told = await two_answers(*script)
    assert (found.answer, found.steps) == ("one", 2)
    assert told[0].startswith("ERROR: invalid_arguments: the arguments are not JSON")
    assert told[1].startswith("ERROR: invalid_arguments: answer: ")
    assert told[2] == "the answer was accepted"


async def test_a_reply_of_many_answers_is_one_try() -> None:
    guesses = finishing(*(f'{{"answer":"{n}"}}' for n in range(40, 44)))
    script = guesses, finishing('{"answer":"41"}'), finishing('{"answer":"42"}')
    found, told = await two_answers(*script, checks=[must_say_42])
    assert (found.status, found.answer, found.steps) == ("answered", "42", 3)
    rejected = "ERROR: rejected: the answer must name 42"
    assert told == [rejected, SECOND, SECOND, SECOND, rejected, "the answer was accepted"]


async def test_an_answer_beside_a_failed_call_is_told_which() -> None:
    both = acts(act("broken"), act("lookup", key="a"), finish("a"), finish("b"))
    model = ScriptedModel([both, finish("c")], tools=TOOLS)
    agent, store = Agent(model=model, tools=TOOLS), MemoryStore()
    assert (await run(agent, "What?", store=store, run_id="run")).answer == "c"
    told = closed(await read("run", store=store))
    assert told[2] == "ERROR: sibling_failed: broken failed in this step: look at that, then finish"
    assert told[3] == SECOND
