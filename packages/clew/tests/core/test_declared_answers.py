"""A declared answer has the agent's type: checked when the agent is made, decoded wherever read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, assert_type

import msgspec
import pytest
from pydantic import BaseModel

from clew import (
    Agent,
    Bound,
    ConfigError,
    Failed,
    Limits,
    MemoryStore,
    Trajectory,
    delegate,
    read,
    replay,
    result_of,
    resume,
    run,
    run_sync,
    submit,
    tool,
)
from clew.testing.models import ScriptedModel, act, finish
from clew.workers import WorkerConfig, work


@dataclass
class Reply:
    text: str
    sure: bool = False


class Letter(msgspec.Struct, rename="camel"):
    to_whom: str
    pages: int | None = None


class Model(BaseModel):
    text: str
    parts: list[Reply] = []


class Fields(TypedDict):
    text: str
    note: NotRequired[str]


UNSURE = Reply("I cannot say.")


def never(_answer: object, _record: Trajectory) -> str:
    """No answer is acceptable."""
    return "not good enough"


@tool(effect="read")
def look() -> str:
    """Look around."""
    return "nothing"


def unsure(*script: Any, **settings: Any) -> Agent[Reply]:
    settings = {"checks": [never], "tries": 0, **settings}
    model = ScriptedModel(script or [finish({"text": "42", "sure": True})], plan=None)
    return Agent(model, [look], answer=Reply, fallback=UNSURE, **settings)


async def test_it_comes_back_as_the_type_that_it_has() -> None:
    store = MemoryStore()
    result = await run(unsure(), "How many?", store=store, run_id="r")
    assert isinstance(result, Failed)
    assert_type(result.answer, Reply | None)
    assert (result.answer, result.fallback) == (UNSURE, True)
    assert result.to_json()["answer"] == {"text": "I cannot say.", "sure": False}
    assert result.raw_answer == result.to_json()["raw_answer"] == result.to_json()["answer"]
    assert str(result) == '{"text":"I cannot say.","sure":false}'
    assert (await result_of(unsure(), "r", store=store)).answer == UNSURE
    assert (await resume(unsure(), "r", store=store)).answer == UNSURE
    await replay(unsure(), "r", store=store)
    stop = (await read("r", store=store)).stop
    assert stop is not None
    assert stop.answer == {"text": "I cannot say.", "sure": False}


async def test_at_a_limit_too_and_a_partial_answer_has_the_type_as_well() -> None:
    limits = Limits(steps=1, landing=False)
    result = await run(unsure(act("look"), limits=limits), "?", store=MemoryStore())
    assert isinstance(result, Bound)
    assert_type(result.answer, Reply | None)
    assert (result.answer, result.fallback, result.limit) == (UNSURE, True, "steps")
    partial = unsure(act("look"), finish({"text": "so far"}), checks=[], limits=Limits(steps=1))
    result = await run(partial, "?", store=MemoryStore())
    assert isinstance(result, Bound)
    assert (result.answer, result.fallback) == (Reply("so far"), False)
    without = await run(unsure(limits=limits).replace(fallback=None), "?", store=MemoryStore())
    assert (without.answer, without.raw_answer) == (None, None)


FIT: list[tuple[Any, Any]] = [
    (str, "?"),
    (int, 0),
    (float, 3),
    (bool, False),
    (Letter, Letter("nobody")),
    (Model, Model(text="?", parts=[UNSURE])),
    (Fields, {"text": "?"}),
    (list[Reply], []),
    (dict[str, Reply], {"a": UNSURE}),
    (tuple[int, str], (1, "a")),
    (Literal["yes", "no"], "no"),
    (int | None, 3),
    (Reply | None, UNSURE),
]


@pytest.mark.parametrize(("kind", "value"), FIT)
def test_any_type_of_answer_may_have_one(kind: Any, value: Any) -> None:
    limits = Limits(steps=1, landing=False)
    model = ScriptedModel([act("look")])
    agent = Agent(model, [look], answer=kind, fallback=value, limits=limits)
    result = run_sync(agent, "?", store=MemoryStore())
    assert (result.answer, result.fallback) == (value, True)
    assert type(result.answer) is type(value) or kind is float
    assert json.loads(json.dumps(result.to_json()))["answer"] == result.raw_answer


UNFIT: list[tuple[Any, Any, str]] = [
    (Reply, "I cannot say.", "which is no Reply"),
    (Reply, {"text": "its JSON only"}, "which is no Reply"),
    (Reply, Reply, "which is no Reply"),
    (Model, Model.model_construct(text=3), "which is no Model"),
    (str, 3, "which is no str"),
    (str, {"any": "JSON"}, "which is no str"),
    (list[int], (1, 2), r"which is no list\[int\]"),
    (float, float("nan"), "which is no float"),
    (Literal["yes", "no"], "perhaps", "which is no"),
]


@pytest.mark.parametrize(("kind", "value", "why"), UNFIT)
def test_what_is_no_answer_is_refused_when_the_agent_is_made(
    kind: Any, value: Any, why: str
) -> None:
    with pytest.raises(ConfigError, match=f"^fallback is .*{why}.*: give an answer of") as raised:
        Agent(ScriptedModel([]), answer=kind, fallback=value)
    assert raised.value.field == "fallback"
    assert "\n" not in str(raised.value)
    made = Agent(ScriptedModel([]), answer=kind)
    with pytest.raises(ConfigError, match=r"^fallback is "):
        made.replace(fallback=value)


async def test_workers_decode_it_too(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    run_id = await submit(unsure(), "How many?", store=store)
    await work(WorkerConfig(store=store, agents=[unsure()], until_idle=True, only=True))
    assert (await result_of(unsure(), run_id, store=store)).answer == UNSURE


async def test_a_parent_is_told_of_it_as_json() -> None:
    below = delegate(unsure(), name="helper", description="Answers.")
    parent = Agent(ScriptedModel([act("helper", task="?"), finish("so")], plan=None), [below])
    store = MemoryStore()
    await run(parent, "?", store=store, run_id="r")
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert 'declared for that case: {"text":"I cannot say.","sure":false}' in seen.content


def test_another_answer_type_needs_another_fallback() -> None:
    with pytest.raises(ConfigError, match="which is no int"):
        unsure().replace(answer=int, checks=[])
    other = unsure().replace(answer=int, fallback=7, checks=[])
    assert_type(other, Agent[int])
    made: Callable[[], Agent[Reply]] = unsure
    assert made().fallback == UNSURE


@pytest.mark.parametrize("value", [42, {"name": str}, [int], finish("a")], ids=repr)
def test_a_value_is_no_type_of_answers(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"^answer is .* \(.*\): give a type$"):
        Agent(ScriptedModel([finish("a")]), answer=value)
