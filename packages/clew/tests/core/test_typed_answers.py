"""An agent's answer type is that of its results: mypy and pyright read this file too."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, assert_type

import pytest

from clew import Agent, MemoryStore, Result, batch, fork, resume, run, run_sync, stream
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
    assert result.answer.born == ADA.born
    again = await resume(ada(), "a", store=store)
    assert_type(again.answer, Life)
    forked = await fork(ada(), "a", at=0, store=store)
    assert_type(forked.answer, Life)
    (one,) = await batch(ada(), ["Who?"], store=store)
    assert_type(one.answer, Life)
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


def test_whatever_stands_in_an_annotation_is_an_answer_type(store: MemoryStore) -> None:
    def asked(answer: object) -> ScriptedModel:
        return ScriptedModel([finish(answer)])

    number = run_sync(Agent(model=asked(None), answer=int | None), "How many?", store=store)
    assert_type(number.answer, int | None)
    names = run_sync(Agent(model=asked(["Ada"]), answer=list[str]), "Who?", store=store)
    assert_type(names.answer, list[str])
    side = run_sync(Agent(model=asked("left"), answer=Literal["left", "right"]), "?", store=store)
    assert_type(side.answer, Literal["left", "right"])
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
