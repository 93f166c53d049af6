"""A declared answer comes back as the value that it is, or is refused when the agent is made."""

import datetime as dt
import decimal
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pydantic
import pytest

from clew import Agent, ConfigError, Failed, MemoryStore, run
from clew.testing import ScriptedModel, finish

pytestmark = pytest.mark.anyio

DAY = dt.date(2024, 1, 31)


@dataclass
class Letter:
    """One whose `made` nobody gives."""

    to: str = "Ada"
    made: str = field(default="by hand", init=False)
    more: object = None


class Model(pydantic.BaseModel):
    when: dt.date
    more: Any = None


class Struct(msgspec.Struct):
    more: object = None


KEPT: list[tuple[Any, Any]] = [
    (dict[str, Any], {"a": 1, "b": [1.5, None, "x"], "c": {"d": True}}),
    (dict[str, dt.date], {"day": DAY}),
    (dict[int, str], {1: "a"}),
    (tuple[int, str], (1, "a")),
    (set[int], {1, 2}),
    (float, 1),
    (decimal.Decimal, decimal.Decimal("1.50")),
    (int | None, 3),
    (object, "text"),
    (Letter, Letter(more=[1])),
    (Model, Model(when=DAY, more={"a": [1]})),
    (Struct, Struct({"a": 1})),
]
LOST: list[tuple[Any, Any, str]] = [
    (dict[str, object], {"day": DAY}, "type date is read back as str"),
    (Any, {"day": DAY}, "type date is read back as str"),
    (Any, [1, {"pair": (1, 2)}], "type tuple is read back as list"),
    (Any, {1: "a"}, "type int is read back as str"),
    (list[object], [{1}], "type set is read back as list"),
    (Letter, Letter(more=DAY), "type date is read back as str"),
    (Model, Model(when=DAY, more=DAY), "type date is read back as str"),
    (Struct, Struct(DAY), "type date is read back as str"),
    (object, b"x", "a bytes is not accepted in place of object"),
]


@pytest.mark.parametrize(("kind", "value"), KEPT)
async def test_it_comes_back_as_the_value_that_it_is(kind: Any, value: Any) -> None:
    agent = Agent(
        ScriptedModel([finish("?")]), answer=kind, fallback=value, tries=0,
        checks=[lambda _, __: "no"],
    )  # fmt: skip
    result = await run(agent, "?", store=MemoryStore())
    assert isinstance(result, Failed)
    assert result.answer == value
    assert type(result.answer) is type(value) or kind is float
    if isinstance(value, Letter):
        assert result.to_json()["raw_answer"] == {"to": "Ada", "more": [1]}


@pytest.mark.parametrize(("kind", "value", "why"), LOST)
def test_what_would_be_another_value_is_refused_in_one_line(
    kind: Any, value: Any, why: str
) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        Agent(ScriptedModel([]), answer=kind, fallback=value)
    assert caught.value.field == "fallback"
    assert "\n" not in str(caught.value)
