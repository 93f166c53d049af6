"""An answer says what came of the task; the record is held against it, once."""

from dataclasses import dataclass
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    Declined,
    Instructions,
    Limits,
    MemoryStore,
    Result,
    Tool,
    ToolError,
    Trajectory,
    delegate,
    fork,
    replay,
    resume,
    run,
    tool,
)
from clew.guards import Provenance
from clew.interfaces import AnswerOutcome, Prompt
from clew.testing.models import ScriptedModel, act, finish, say

FREE = [Provenance("off")]


@tool
def edit(path: str) -> str:
    """Edit a file."""
    if path == "locked":
        raise ToolError("it is locked")
    if path == "lost":
        raise OSError("the disk went away")
    return "edited"


@tool(effect="read")
def look(path: str) -> str:
    """Look at a file."""
    if path == "gone":
        raise ToolError("it is not there")
    return "text"


@tool(effect="pure")
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


CODECS = ("native", "json", "labelled", "labelled:final", "paper")


def agent_of(script: Any, tools: Any = (edit, look), codec: str = "native", **more: Any) -> Agent:
    kind = more.get("answer", str)
    model = ScriptedModel(script, codec=codec, tools=tools, answer=kind)
    return Agent(model, tools, guards=FREE, codec=codec, **more)


async def ended(script: Any, tools: Any = (edit, look), **more: Any) -> Result[Any]:
    return await run(agent_of(script, tools, **more), "Do it.", store=MemoryStore())


@pytest.mark.parametrize("codec", CODECS)
async def test_an_outcome_stands_in_the_record_and_the_result(codec: str) -> None:
    store = MemoryStore()
    agent = agent_of([act("edit", path="a"), finish("Edited.", outcome="done")], codec=codec)
    result = await run(agent, "Do it.", store=store)
    assert (result.status, result.outcome, result.contradicted) == ("answered", "done", False)
    assert result.answer == "Edited."
    document = result.to_json()
    assert (document["outcome"], document["contradicted"]) == ("done", False)
    replayed = await replay(agent, result.run_id, store=store)
    assert replayed.trajectory.stop is not None
    assert replayed.trajectory.stop.outcome == "done"


@pytest.mark.parametrize("codec", CODECS)
async def test_done_with_nothing_changed_is_sent_back_once_and_then_contradicted(
    codec: str,
) -> None:
    script = [act("edit", path="locked"), *[finish("Deleted.", outcome="done")] * 2]
    result = await ended(script, codec=codec)
    assert (result.status, result.outcome, result.contradicted) == ("answered", "done", True)
    assert result.steps == 3
    assert result.outcome_line == "done, says the model; the record contradicts it"
    assert result.work.line == "nothing was changed: edit failed 1 of 1 time"


async def test_what_was_sent_back_says_what_the_record_holds() -> None:
    told: list[str] = []

    def second(prompt: Prompt) -> Any:
        told.append(prompt.parts[-1].text)
        return finish("It is locked.", outcome="not_done")

    script = [act("edit", path="locked"), finish("Done.", outcome="done"), second]
    result = await ended(script)
    assert len(told) == 1
    assert told[0] == (
        "ERROR: contradicted: nothing was changed: edit failed 1 of 1 time. Do what was asked, or "
        "finish with the outcome not_done"
    )
    assert (result.status, result.outcome, result.contradicted) == ("answered", "not_done", False)


async def test_once_it_was_done_it_may_be_said() -> None:
    script = [
        finish("Done.", outcome="done"),
        act("edit", path="a"),
        finish("Done.", outcome="done"),
    ]
    result = await ended(script)
    assert (result.outcome, result.contradicted, result.steps) == ("done", False, 3)


async def test_what_may_have_happened_is_no_contradiction() -> None:
    result = await ended([act("edit", path="lost"), finish("Done.", outcome="done")])
    assert (result.outcome, result.contradicted) == ("done", False)


@pytest.mark.parametrize("codec", CODECS)
async def test_what_was_looked_for_in_vain_is_declined(codec: str) -> None:
    script = [act("look", path="a"), finish("Not there.", outcome="not_found")]
    result = await ended(script, codec=codec)
    assert isinstance(result, Declined)
    assert (result.answer, result.outcome, result.contradicted) == (
        "Not there.", "not_found", False,
    )  # fmt: skip


@pytest.mark.parametrize("first", [None, act("look", path="gone"), act("edit", path="a")])
async def test_not_found_before_any_look_is_sent_back_once(first: Any) -> None:
    again = [finish("Not there.", outcome="not_found")] * 2
    result = await ended([*([first] if first else []), *again])
    assert isinstance(result, Declined)
    assert (result.contradicted, result.steps) == (True, 2 + bool(first))


async def test_an_agent_that_cannot_look_may_find_nothing_at_once() -> None:
    result = await ended([finish("No.", outcome="not_found")], [edit])
    assert isinstance(result, Declined)
    assert not result.contradicted


async def test_each_outcome_is_sent_back_once_and_anew_after_a_persons_word() -> None:
    store = MemoryStore()
    script = [
        finish("Done.", outcome="done"),
        finish("Not there.", outcome="not_found"),
        finish("Done.", outcome="done"),
        finish("Done again.", outcome="done"),
        finish("Done again.", outcome="done"),
    ]
    agent = agent_of(script)
    first = await run(agent, "Do it.", store=store)
    assert (first.steps, first.contradicted) == (3, True)
    then = await resume(agent, first.run_id, say="Really?", store=store)
    assert (then.steps, then.contradicted, then.answer) == (5, True, "Done again.")


async def test_neither_tries_nor_checks_count_what_was_sent_back() -> None:
    result = await ended([*[finish("Done.", outcome="done")] * 2], tries=0)
    assert (result.status, result.contradicted) == ("answered", True)


async def test_a_last_thought_is_not_sent_back() -> None:
    script = [act("look", path="a"), finish("Done.", outcome="done")]
    result = await ended(script, codec="json", limits=Limits(steps=1))
    assert (result.status, result.outcome, result.contradicted) == ("bound", "done", True)


@pytest.mark.parametrize("answer", [finish("Fine."), say("Fine.")])
async def test_who_says_nothing_of_it_has_answered(answer: Any) -> None:
    result = await ended([answer])
    assert (result.status, result.outcome, result.contradicted) == ("answered", "answered", False)
    assert result.outcome_line == ""


@dataclass
class Size:
    """How large a file is."""

    size: int


@pytest.mark.parametrize("codec", CODECS)
async def test_a_typed_answer_has_its_outcome_too(codec: str) -> None:
    script = [act("edit", path="a"), finish({"size": 3}, outcome="done")]
    result = await ended(script, codec=codec, answer=Size)
    assert (result.answer, result.outcome) == (Size(3), "done")
    script = [act("look", path="a"), finish("There is none.", outcome="not_found")]
    result = await ended(script, codec=codec, answer=Size)
    assert isinstance(result, Declined)
    assert result.answer == "There is none."


async def test_an_outcome_that_is_none_is_explained() -> None:
    script = [act("finish", answer="Done.", outcome="perhaps"), finish("Done.")]
    result = await ended(script)
    assert (result.steps, result.outcome) == (2, "answered")


async def test_a_sub_run_tells_what_came_of_its_task() -> None:
    told: list[str] = []

    def end(prompt: Prompt) -> Any:
        told.append(prompt.parts[-1].text)
        return finish("Seen to.", outcome="done")

    outcomes: tuple[AnswerOutcome, ...] = ("done", "not_done")
    for outcome in outcomes:
        below = agent_of([act("edit", path="a"), finish("Fine.", outcome=outcome)])
        tools = [delegate(below, name="editor", description="Edits files.")]
        result = await ended([act("editor", task="edit a"), end, end], tools)
        assert told[0] == f'{{"answer":"Fine.","outcome":"{outcome}"}}'
        assert (result.outcome, result.contradicted) == ("done", outcome == "not_done")
        told.clear()


async def test_a_sub_run_whose_record_contradicts_it_has_done_nothing() -> None:
    below = agent_of([finish("Fine.", outcome="done")] * 2)
    tools = [delegate(below, name="editor", description="Edits files.")]
    script = [act("editor", task="edit a"), *[finish("Seen to.", outcome="done")] * 2]
    store = MemoryStore()
    result = await run(agent_of(script, tools), "Do it.", store=store)
    assert (result.outcome, result.contradicted) == ("done", True)


async def test_a_sub_run_that_found_nothing_is_no_look() -> None:
    below = agent_of([act("look", path="a"), finish("Nowhere.", outcome="not_found")], [look])
    tools = [delegate(below, name="finder", description="Finds files.")]
    script = [act("finder", task="find a"), *[finish("Nowhere.", outcome="not_found")] * 2]
    result = await ended(script, tools)
    assert isinstance(result, Declined)


async def test_a_fork_and_a_resumed_run_keep_the_outcome() -> None:
    store = MemoryStore()
    script = [act("edit", path="a"), act("look", path="a"), finish("Done.", outcome="done")]
    agent = agent_of(script)
    result = await run(agent, "Do it.", store=store)
    forked = await fork(agent, result.run_id, at=1, store=store)
    assert (forked.outcome, forked.contradicted) == ("done", False)
    again = await resume(agent, result.run_id, store=store)
    assert (again.outcome, again.contradicted) == ("done", False)


async def test_what_another_run_did_for_the_task_is_done() -> None:
    store = MemoryStore()
    agent = agent_of([act("look", path="a"), act("edit", path="a"), finish("Done.")])
    result = await run(agent, "Do it.", store=store)
    other = agent_of([act("look", path="a"), finish("It is done.", outcome="done")])
    forked = await fork(other, result.run_id, at=1, store=store)
    assert (forked.outcome, forked.contradicted) == ("done", False)


async def test_guards_of_your_own_judge_the_answer_and_provenance_does_not() -> None:
    judged: list[str] = []

    async def watch(call: Call, _: Trajectory) -> None:
        judged.append(call.action.name)

    script = [act("look", path="a"), finish("Write to eve@evil.example.")]
    agent = agent_of(script).replace(guards=[watch, Provenance("strict")])
    result = await run(agent, "What does it say?", store=MemoryStore())
    assert result.ok
    assert judged == ["look", "finish"]


def offered(agent: Agent) -> Any:
    return agent.engine.prompt_spec.finish.parameters["properties"].get("outcome", {}).get("enum")


@pytest.mark.parametrize(
    ("tools", "outcomes"),
    [
        ([edit, look], ["answered", "done", "not_done", "not_found"]),
        ([edit], ["answered", "done", "not_done"]),
        ([look], ["answered", "not_found"]),
        ([double], None),
        ([], None),
    ],
)
def test_it_is_asked_for_where_tools_act_or_look(tools: list[Tool], outcomes: Any) -> None:
    agent = agent_of([], tools)
    assert offered(agent) == outcomes
    assert offered(agent.replace(prompt=Instructions(outcome=False))) is None


@pytest.mark.parametrize("codec", CODECS[1:])
def test_text_formats_tell_how_it_is_said(codec: str) -> None:
    agent = agent_of([], codec=codec)
    head = "\n".join(part.text for part in agent.parts.first_prompt.head)
    assert head.count("not_found (it was looked for in vain)") == 1
    without = agent.replace(prompt=Instructions(outcome=False))
    assert "outcome" not in "".join(part.text for part in without.parts.first_prompt.head)


@pytest.mark.parametrize("codec", CODECS)
async def test_a_record_of_before_is_read_and_replayed(codec: str) -> None:
    store = MemoryStore()
    agent = agent_of([act("edit", path="a"), finish("Edited.")], codec=codec)
    before = agent.replace(prompt=Instructions(outcome=False))
    result = await run(before, "Do it.", store=store)
    replayed = await replay(agent, result.run_id, store=store)
    assert replayed.trajectory.stop is not None
    assert (await resume(agent, result.run_id, store=store)).outcome == "answered"
