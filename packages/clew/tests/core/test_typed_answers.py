"""An agent's answer type is that of its results: mypy and pyright read this file too."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Never, assert_never, assert_type

import pytest

from clew import (
    Agent,
    Answered,
    Bound,
    Declined,
    Failed,
    Held,
    Interrupted,
    MemoryStore,
    PendingApproval,
    Refused,
    Result,
    Trajectory,
    batch,
    fork,
    resume,
    run,
    run_sync,
    stream,
)
from clew.evidence import Grounded
from clew.interfaces import Check
from clew.testing.models import ScriptedModel, finish


@dataclass
class Life:
    name: str
    born: int


ADA = Life("Ada", 1815)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def ada() -> Agent[Life]:
    return Agent(model=ScriptedModel([finish({"name": "Ada", "born": 1815})]), answer=Life)


async def test_every_way_to_run_an_agent_gives_its_type(store: MemoryStore) -> None:
    result = await run(ada(), "Who?", store=store, run_id="a")
    assert_type(result, Result[Life])
    again = await resume(ada(), "a", store=store)
    assert_type(again.unwrap(), Life)
    forked = await fork(ada(), "a", at=0, store=store)
    assert_type(forked.unwrap(), Life)
    (one,) = await batch(ada(), ["Who?"], store=store)
    assert_type(one.unwrap(), Life)
    async with stream(ada(), "Who?", store=store) as events:
        async for _ in events:
            pass
    assert_type(events.result, Result[Life] | None)
    assert [again.answer, forked.answer, one.answer] == [ADA] * 3
    assert events.result is not None
    assert events.result.answer == ADA


def test_the_twins_of_all_do_too(store: MemoryStore) -> None:
    result = run_sync(ada(), "Who?", store=store)
    assert_type(result, Result[Life])
    assert result.answer == ADA


def test_only_an_answered_run_has_an_answer_of_the_type(store: MemoryStore) -> None:
    result = run_sync(ada(), "Who?", store=store)
    life: Life = result.answer  # type: ignore[assignment] # pyright: ignore[reportAssignmentType] - proof
    assert life == ADA  # by luck: any other end has no Life, and a type checker says so above
    match result:
        case Answered(answer=answer):
            assert_type(answer, Life)
        case Declined(answer=words):
            assert_type(words, str)
        case Held(pending_approvals=waiting):
            assert_type(waiting, tuple[PendingApproval, ...])
        case Bound(limit=limit, answer=partial):
            assert_type(limit, str)
            assert_type(partial, Life | None)
        case Failed(answer=declared):
            assert_type(declared, Life | None)
            assert_type(result.unwrap(), Never)
        case Refused() | Interrupted():
            assert_type(result.unwrap(), Never)
        case _:
            assert_never(result)
    assert_type(result.unwrap(), Life)
    if result.status == "answered":
        assert_type(result.answer, Life)
    if result.ok:
        assert_type(result.unwrap(), Life)


def test_an_agent_without_an_answer_type_answers_text(store: MemoryStore) -> None:
    agent = Agent(model=ScriptedModel([finish("yes")]))
    assert_type(agent, Agent[str])
    assert_type(run_sync(agent, "Is it?", store=store).unwrap(), str)


def long_enough(answer: str, _trajectory: Trajectory) -> str | None:
    return None if len(answer) > 2 else "say more"


def is_born(answer: Life, _trajectory: Trajectory) -> str | None:
    return None if answer.born else "when?"


def test_checks_take_what_the_agent_answers(store: MemoryStore) -> None:
    texts = Agent(model=ScriptedModel([finish("yes")]), checks=[long_enough, Grounded()])
    assert_type(texts, Agent[str])
    lives = ada().replace(checks=[is_born])
    assert_type(lives, Agent[Life])
    made = Agent(model=ScriptedModel([finish(3)]), answer=Life, checks=[is_born, Grounded()])
    assert_type(made, Agent[Life])
    check: Check[Life] = is_born
    assert run_sync(lives.replace(checks=[check]), "Who?", store=store).ok


def test_whatever_stands_in_an_annotation_is_an_answer_type(store: MemoryStore) -> None:
    def asked(answer: object) -> ScriptedModel:
        return ScriptedModel([finish(answer)])

    number = run_sync(Agent(model=asked(None), answer=int | None), "How many?", store=store)
    assert_type(number.unwrap(), int | None)
    names = run_sync(Agent(model=asked(["Ada"]), answer=list[str]), "Who?", store=store)
    assert_type(names.unwrap(), list[str])
    side = run_sync(Agent(model=asked("left"), answer=Literal["left", "right"]), "?", store=store)
    assert_type(side.unwrap(), Literal["left", "right"])
    assert (number.answer, names.answer, side.answer) == (None, ["Ada"], "left")


def test_an_agent_with_another_answer_type_is_of_another_type() -> None:
    agent = Agent(model=ScriptedModel([finish(3)]))
    assert_type(agent.replace(answer=int), Agent[int])
    assert_type(ada().replace(tries=1), Agent[Life])
    made: Callable[[], Agent[Life]] = ada
    assert made().answer is Life
    named = Agent[Life](model=ScriptedModel([finish(3)]), answer=Life)
    assert_type(named, Agent[Life])
    assert named.answer is Life
