"""What bounds nothing, or no record could hold, is one line when the agent is made."""

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

import pytest

from clew import Agent, ConfigError, Limits, MemoryStore, run, tool
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.testing.models import ScriptedModel, act, finish, say
from tests.core.scenarios import Point

MODEL = ScriptedModel([say("ok")])


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"steps": 0.5}, "limit steps is 0.5: give a whole number over 0"),
        ({"steps": True}, "limit steps is True: give a whole number over 0"),
        ({"tokens": "1000"}, "limit tokens is '1000': give a whole number over 0"),
        ({"faults": None}, "limit faults is None: give a whole number over 0"),
        ({"seconds": "60"}, "limit seconds is '60': give a number over 0"),
        ({"cost": True}, "limit cost is True: give a number over 0"),
        ({"calls_per_tool": {"add": 1.0}}, "limit calls_per_tool[add] is 1.0: give a whole number"),
        ({"calls_per_tool": 3}, "limit calls_per_tool is 3: give numbers by the names of tools"),
        ({"unknown": "ask"}, "limit unknown is 'ask': choose one of tell, hold"),
        ({"landing": "no"}, "limit landing is 'no': choose one of True, False"),
        ({"no_progress": True}, "limit no_progress is True: give auto, early, late, a NoProgress"),
    ],
)
def test_a_limit_that_is_no_such_number_is_refused(limits: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Limits(**limits)
    assert str(refused.value).startswith(says)


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Limits)])
@pytest.mark.parametrize("wrong", [-1, "many", 0.5, float("nan")])
def test_what_a_limit_asks_for_instead_of_a_wrong_number_is_what_it_takes(
    name: str, wrong: Any
) -> None:
    if not isinstance(getattr(Limits(), name), int | float) or name == "landing":
        return
    values: dict[str, Any] = {name: wrong}
    try:
        Limits(**values)
    except ConfigError as refused:
        told = str(refused)
    else:
        assert wrong == 0.5, "in seconds"
        return
    values[name] = 0
    try:
        Limits(**values)
    except ConfigError:
        assert told.endswith(" over 0")
    else:
        assert told.endswith(" from 0 on")


class SetTo:
    """A model of one's own, with a setting that JSON cannot carry."""

    def __init__(self, setting: Any) -> None:
        self.info = ModelInfo("own:model", params={"top": setting})

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        raise AssertionError(prompt, on_text)


class Loud(enum.Enum):
    A = "a"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"fallback": {1, 2}}, "fallback"),
        ({"fallback": object()}, "fallback"),
        ({"fallback": float("nan")}, "fallback"),
        ({"fallback": {1: "one"}}, "fallback"),
        ({"fallback": Point(1, 2)}, "fallback"),
        ({"fallback": "half \ud83d"}, "fallback"),
        ({"model": SetTo({1})}, "the model's settings"),
        ({"model": SetTo(object())}, "the model's settings"),
        ({"settings": {"seed": 1}}, "settings is {'seed': 1}"),
        ({"tries": "2"}, "tries is '2': give 0 or more"),
        ({"tries": 1.5}, "tries is 1.5: give 0 or more"),
    ],
)
def test_what_no_record_gives_back_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Agent(**{"model": MODEL, **options})
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


@dataclass(frozen=True)
class Board:
    """An answer with keys that JSON has not."""

    at: dict[tuple[int, int], str]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (dict[tuple[int, int], str], "dict[tuple[int, int], str]"),
        (list[dict[bool, str]], "dict[bool, str]"),
        (dict[Point, int], "Point"),
        (Board, "dict[tuple[int, int], str]"),
    ],
)
def test_an_answer_that_json_cannot_carry_is_refused_by_name(kind: Any, named: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Agent(model=MODEL, answer=kind)
    assert str(refused.value).startswith("the answer's type")
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "given", "answer"),
    [
        (dict[int, str], {"1": "one"}, {1: "one"}),
        (dict[float, int], {"0.5": 1}, {0.5: 1}),
        (dict[Loud, dict[int, str]], {"a": {"1": "one"}}, {Loud.A: {1: "one"}}),
        (set[int], [1, 2], {1, 2}),
    ],
)
async def test_keys_are_texts_in_json_and_what_they_are_in_the_answer(
    kind: Any, given: Any, answer: Any
) -> None:
    agent = Agent(model=ScriptedModel([finish(given)], answer=kind), answer=kind)
    assert (await run(agent, "Which?", store=MemoryStore())).answer == answer


async def test_a_key_that_is_none_of_its_kind_is_sent_back() -> None:
    model = ScriptedModel([finish({"one": "1"}), finish({"1": "one"})], answer=dict[int, str])
    found = await run(Agent(model=model, answer=dict[int, str]), "Which?", store=MemoryStore())
    assert (found.answer, found.steps) == ({1: "one"}, 2)


async def test_a_tool_takes_keys_as_an_answer_does() -> None:
    @tool(effect="pure")
    def seat(rows: dict[int, str]) -> str:
        """Seat people.

        Args:
            rows: Names by row.
        """
        return ", ".join(f"{name} in {row + 1}" for row, name in rows.items())

    model = ScriptedModel([act("seat", rows={"1": "Ada"}), say("done")], tools=[seat])
    store = MemoryStore()
    found = await run(Agent(model=model, tools=[seat]), "Seat them", store=store, run_id="run")
    assert found.ok
    assert b"Ada in 2" in (await store.read("run"))[2].body
