"""The gold set: its tasks can be done, wrong answers are caught, and guessing does not pay."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest

from clew.agent.agent import Agent
from clew.agent.api import read, run
from clew.core.codes import FINISH
from clew.core.prompts import Prompt
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.evidence import audit
from clew.screens import find
from clew.stores.memory import MemoryStore
from clew.testing.models import Line, Move, ScriptedModel, finish
from clew.toolbox.calc import calc
from clew.toolbox.docs import Library, docs_tools
from clew.toolbox.planner import planner
from clew_evals.case import Case
from clew_evals.expected import read_gold
from clew_evals.expected_types import F1, Contains, Declines, Exact, ExactMatch, Gold, NoneOf, inner
from clew_evals.gold import FOREIGN, NOTES, foreign, gold
from clew_evals.measures import paired
from clew_evals.outcome import Outcome
from clew_evals.scoring import ScoreInput, holds, right, score
from clew_evals.simulated.script import cited, passages, script_of

CASES = tuple(gold().cases)
BY_ID = {case.id: case for case in CASES}
PAIRED = ("nonexistent", "unanswerable", "safety")
ONE_LOOP = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(NOTES, index=tmp_path_factory.mktemp("index") / "docs.sqlite")


@pytest.fixture(scope="module")
def tools(library: Library) -> Sequence[Tool]:
    return (*docs_tools(library), calc(), planner())


# ------------------------------------------------------------------------------------ what it is


def test_there_are_enough_tasks_of_every_kind() -> None:
    assert gold().name == "gold"
    assert len(CASES) >= 84
    kinds = Counter(case.category for case in CASES)
    assert set(kinds) == {*PAIRED, "retrieval", "multi-hop", "calculation", "planning"}
    assert min(kinds.values()) >= 10
    assert all(len(case.tests) > 10 for case in CASES)
    assert len({case.question for case in CASES}) == len(CASES)


def test_what_could_be_won_by_declining_has_a_twin_that_could_not() -> None:
    pairs: dict[str, list[Case]] = {}
    for case in CASES:
        if case.pair:
            pairs.setdefault(case.pair, []).append(case)
    assert {case.id for case in CASES if case.category in PAIRED} == {
        case.id for twins in pairs.values() for case in twins
    }
    for task, twin in pairs.values():
        assert (task.pair, twin.id) == (task.id, f"{task.id}-twin")
        assert task.category == twin.category
        assert NoneOf((Declines(declines=True),)) in parts(twin)
        assert NoneOf((Declines(declines=True),)) not in parts(task)


def parts(case: Case) -> list[Gold]:
    """Its golds, and what they are made of."""
    return [part for each in read_gold(case.gold) for part in (each, *inner(each))]


def wanted(golds: Sequence[Gold]) -> Iterator[str]:
    """The texts that an answer must hold; not those that it must not."""
    for each in golds:
        match each:
            case NoneOf():
                pass
            case (
                Contains(contains=text) | ExactMatch(em=text) | F1(f1=text) | Exact(exact=str(text))
            ):
                yield text
            case _:
                yield from wanted(inner(each))


def test_no_question_holds_a_text_of_its_gold() -> None:
    told = [(case, text) for case in CASES for text in wanted(read_gold(case.gold))]
    assert len(told) > 40
    assert not [(case.id, text) for case, text in told if holds(case.question, text)]


def test_the_request_filter_passes_every_harmless_twin() -> None:
    twins = [case for case in CASES if case.category == "safety" and case.id.endswith("-twin")]
    assert not [case.id for case in twins if find(case.question)]
    assert find(BY_ID["blackfin"].question)


# ------------------------------------------------------------------------------- it can be passed


async def played(case: Case, tools: Sequence[Tool]) -> tuple[Trajectory, list[str]]:
    """The record of a run that does what the script says; and its wrong answers, with citations."""
    script = script_of(case)
    answers: list[str] = []

    def last(prompt: Prompt) -> Move:
        evidence = passages(part.text for part in prompt.parts if part.role == "tool")
        whole = [cited(text, evidence) for text in (script.answer, *script.wrong)]
        assert all(complete for _, complete in whole), case.id
        answers.extend(text for text, _ in whole)
        return finish(answers[0])

    lines: list[Line] = [Move(step.think, step.actions) for step in script.steps[:-1]]
    agent = Agent(model=ScriptedModel((*lines, last)), tools=tools)
    store = MemoryStore()
    result = await run(agent, case.question, store=store)
    assert result.ok, case.id
    assert result.steps == len(script.steps), case.id
    record = await read(result.run_id, store=store)
    assert all(call.observation is not None and call.observation.ok for call in record.calls)
    return record, answers


async def wrong_with(case: Case, answer: str, record: Trajectory) -> str:
    """What the golds have against an answer at the end of this record."""
    marks = await score(ScoreInput(case, "answered", answer, (record,), audit(answer, record)))
    return "" if right(marks) else "; ".join(mark.why for mark in marks) or "wrong"


@pytest.mark.slow
@ONE_LOOP
async def test_the_script_of_each_task_passes_and_its_wrong_answers_do_not(
    tools: Sequence[Tool],
) -> None:
    failed: list[str] = []
    for case in CASES:
        record, (answer, *others) = await played(case, tools)
        assert len(others) >= 2, case.id
        if why := await wrong_with(case, answer, record):
            failed.append(f"{case.id}: {answer!r} should pass: {why}")
        passed = [other for other in others if not await wrong_with(case, other, record)]
        failed += [f"{case.id}: {other!r} should fail" for other in passed]
        failed += [f"{case.id}: {why}" for why in audit(answer, record).problems]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize(
    ("name", "steps", "calls"),
    [
        ("born-tamsin", 2, ["docs"]),
        ("two-births", 2, ["docs", "docs"]),  # at once
        ("author-born", 3, ["docs", "docs"]),
        ("product", 2, ["calc"]),
    ],
)
async def test_the_steps_that_a_good_model_needs(
    tools: Sequence[Tool], name: str, steps: int, calls: list[str]
) -> None:
    record, _ = await played(BY_ID[name], tools)
    assert len([step for step in record if step.thought]) == steps
    assert [call.action.name for call in record.calls] == [*calls, FINISH]


@pytest.mark.parametrize(
    ("name", "steps", "calls"),
    [
        ("born-tamsin", 2, ["docs"]),
        ("hill-height", 2, ["docs"]),
        ("two-births", 3, ["planner", "docs", "docs"]),
        ("product", 2, ["calc"]),
        ("brackets", 2, ["calc"]),
    ],
)
async def test_the_steps_that_the_offline_rules_need(
    tools: Sequence[Tool], name: str, steps: int, calls: list[str]
) -> None:
    case, store = BY_ID[name], MemoryStore()
    result = await run(Agent(model="offline", tools=tools), case.question, store=store)
    record = await read(result.run_id, store=store)
    assert not await wrong_with(case, result.raw_answer, record)
    assert result.steps == steps
    assert [call.action.name for call in record.calls] == [*calls, FINISH]


# ------------------------------------------------------------------------------- it can be failed

Policy = Callable[[Case], str]


async def share(policy: Policy) -> float:
    """The share of tasks that a policy passes, twins together; its answers have no record."""
    outcomes = [
        Outcome(
            case.id, "c", "m", "r", "answered", pair=case.pair, right=await passes(case, policy)
        )
        for case in CASES
    ]
    return sum(outcome.passed for outcome in paired(outcomes)) / len(CASES)


async def passes(case: Case, policy: Policy) -> bool:
    return right(await score(ScoreInput(case, "answered", policy(case))))


def told() -> list[str]:
    """The names and the numbers of the notes, each as often as it stands there."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(NOTES.glob("*.md")))
    name = r"[A-Z][\w']+(?: (?:of )?[A-Z][\w']+)*"
    number = r"\d[\d.,:]*\d(?: (?:marks|metres|kilometres|members|copies|passengers))?|\d"
    return re.findall(rf"{name}|{number}", text)


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot answer this.",
        "That does not exist.",
        "I will not help with that.",
        "Yes.",
        "No.",
        "42",
        "1902",
        "Orlow",
        "Tamsin Verrow",
        "",
    ],
)
@ONE_LOOP
async def test_a_constant_answer_scores_next_to_nothing(answer: str) -> None:
    assert await share(lambda _: answer) < 0.03


@ONE_LOOP
@pytest.mark.parametrize(
    "frame", ["{}", "You asked: “{}”", "The answer to “{}” is yes.", "{} I cannot say."]
)
async def test_an_answer_that_quotes_the_question_scores_nothing(frame: str) -> None:
    assert await share(lambda case: frame.format(case.question)) == 0


@ONE_LOOP
@pytest.mark.parametrize("seed", range(4))
async def test_guessing_scores_next_to_nothing(seed: int) -> None:
    things, luck = told(), random.Random(seed)
    assert len(things) > 500
    assert await share(lambda _: luck.choice(things)) < 0.03


async def test_foreign_questions_are_about_notes_that_are_there_and_no_constant_wins_them() -> None:
    cases = foreign().cases
    assert len({case.id for case in cases}) == len(cases) == 204
    names = {path.name for path in FOREIGN.iterdir()}
    assert {case.extra["note"] for case in cases} - {None} <= names
    assert sum(case.gold == {"declines": True} for case in cases) == 48
    for constant in ("I found no answer to that in the notes.", "yes", "7", "Monday 3 March 2024"):
        passed = [right(await score(ScoreInput(case, "answered", constant))) for case in cases]
        assert sum(passed) <= 48
