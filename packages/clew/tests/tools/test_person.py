import pytest

from clew.core.actions import Action
from clew.core.contents import Observation, Reply, text_parts
from clew.core.entries import Entry
from clew.core.events import AnyEvent, Fingerprints, Judged, Note, Ruling, Started, Thought
from clew.core.specs import AgentSpec
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import ToolError
from clew.toolbox.person import HoldQuestions, answered, ask_person
from clew.tools.schema import problems

PRINTS = Fingerprints("", "", "", "")
QUESTION = {"question": "Which one?"}


def trajectory(*events: AnyEvent) -> Trajectory:
    started = Started(text_parts("goal"), AgentSpec("", "", "", ""))
    return Trajectory(
        "run-1", [Entry(n, n, 1, event) for n, event in enumerate((started, *events), 1)]
    )


def ask(*args: dict[str, str]) -> Thought:
    return Thought(Reply(), PRINTS, actions=tuple(Action("ask_person", dict(one)) for one in args))


async def judged(guard: HoldQuestions, trajectory: Trajectory, key: str) -> tuple[str, str] | None:
    call = trajectory.call(key)
    verdict = await guard(Call(key, Action(call.action.name, call.args)), trajectory)
    return None if verdict is None else (verdict.kind, verdict.code)


async def held(guard: HoldQuestions, trajectory: Trajectory, key: str) -> Judged:
    verdict = await guard(trajectory.call(key), trajectory)
    assert verdict is not None
    assert verdict.kind == "hold"
    return Judged(key, verdict)


async def test_a_question_is_held_until_a_ruling_brings_the_answer() -> None:
    tool, guard = ask_person(), HoldQuestions()
    assert problems(tool.parameters, QUESTION) == []
    hold = await held(guard, trajectory(ask(QUESTION)), "1.1")
    assert hold.verdict.reason == "the model asks: Which one?"
    waiting = trajectory(ask(QUESTION), hold)
    assert waiting.call("1.1").held
    ruling = answered(waiting.call("1.1"), "the red one", by="Ada")
    assert (ruling.allow, ruling.by) == (True, "Ada")
    ruled = trajectory(ask(QUESTION), hold, ruling)
    assert await judged(guard, ruled, "1.1") is None
    args = ruled.call("1.1").args
    assert problems(tool.parameters, args) == []
    assert await tool.call(args, "run-1:1.1") == "the red one"
    assert (tool.effect, tool.trust) == ("read", "trusted")


async def test_a_yes_without_an_answer_says_how_to_go_on() -> None:
    guard = HoldQuestions()
    ruled = trajectory(ask(QUESTION), Ruling("1.1", allow=True))
    assert await judged(guard, ruled, "1.1") is None
    with pytest.raises(ToolError, match="nobody gave an answer"):
        await ask_person().call(QUESTION, "run-1:1.1")


async def test_the_model_cannot_answer_itself() -> None:
    record = trajectory(ask(QUESTION | {"answer": "yes, do it"}))
    assert await judged(HoldQuestions(), record, "1.1") == ("deny", "denied")


async def test_an_empty_question_is_none() -> None:
    assert problems(ask_person().parameters, {"question": ""}) != []


async def test_only_the_first_questions_are_held() -> None:
    guard = HoldQuestions(max_questions=2)
    events: list[AnyEvent] = [ask(QUESTION, QUESTION, QUESTION)]
    for key in ("1.1", "1.2"):
        events.append(await held(guard, trajectory(*events), key))
    assert await judged(guard, trajectory(*events), "1.3") == ("deny", "cap")
    closed = [Observation(key, "ok") for key in ("1.1", "1.2", "1.3")]
    later = trajectory(*events, *closed, ask(QUESTION))
    assert await judged(guard, later, "2.1") == ("deny", "cap")


async def test_a_word_of_the_person_begins_the_count_anew() -> None:
    guard = HoldQuestions(max_questions=1)
    first = trajectory(ask(QUESTION))
    hold = await held(guard, first, "1.1")
    note = Note(text_parts("another question"))
    later = trajectory(ask(QUESTION), hold, Observation("1.1", "ok"), note, ask(QUESTION))
    assert await judged(guard, later, "2.1") == ("hold", "denied")
    check = Note(text_parts("a check failed"), source="check")
    same = trajectory(ask(QUESTION), hold, Observation("1.1", "ok"), check, ask(QUESTION))
    assert await judged(guard, same, "2.1") == ("deny", "cap")


async def test_other_calls_pass() -> None:
    record = trajectory(Thought(Reply(), PRINTS, actions=(Action("calc", {"question": "x"}),)))
    assert await judged(HoldQuestions(max_questions=0), record, "1.1") is None
    assert await judged(HoldQuestions(max_questions=0), trajectory(ask(QUESTION)), "1.1") == (
        "deny",
        "cap",
    )


def test_a_guard_is_named_by_its_words() -> None:
    assert repr(HoldQuestions(2)) == "HoldQuestions(max_questions=2)"
