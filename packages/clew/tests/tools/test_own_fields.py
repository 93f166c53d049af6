"""Fields that a dataclass sets itself (`init=False`): no model may, in arguments or in answers."""

from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import pydantic
import pytest

from clew import Agent, Answered, ConfigError, Limits, MemoryStore, read, run, tool
from clew.interfaces import Json
from clew.testing import ScriptedModel, act, say

T = TypeVar("T")


@dataclass
class Order:
    """An order."""

    item: str
    price: int = field(default=5, init=False)
    words: list[str] = field(default_factory=list[str], init=False)

    def __post_init__(self) -> None:
        """Its price follows from its item."""
        self.price = len(self.item)


@dataclass
class Box(Generic[T]):
    """Of anything."""

    inside: T
    sealed: bool = field(default=True, init=False)


class Pair(NamedTuple):
    """Two."""

    one: Order
    other: Order


@dataclass
class Endless:
    """An order without a default."""

    item: str
    price: int = field(init=False)


GOOD: dict[str, Json] = {"item": "tea"}
BAD: dict[str, Json] = {"item": "tea", "price": 0}
CASES: list[tuple[Any, Json, Json, Any]] = [
    (Order, GOOD, BAD, Order("tea")),
    (list[Order], [GOOD], [BAD], [Order("tea")]),
    (dict[str, Order | None], {"a": GOOD}, {"a": BAD}, {"a": Order("tea")}),
    (Box[int], {"inside": 1}, {"inside": 1, "sealed": False}, Box(1)),
    (Box[Order], {"inside": GOOD}, {"inside": BAD}, Box(Order("tea"))),
    (Pair, {"one": GOOD, "other": GOOD}, {"one": GOOD, "other": BAD}, Pair(*[Order("tea")] * 2)),
]


@pytest.mark.parametrize(("kind", "good", "bad", "value"), CASES, ids=range(len(CASES)))
async def test_a_model_cannot_set_them(kind: Any, good: Json, bad: Json, value: Any) -> None:
    got: list[Any] = []

    def place(order: Any) -> str:
        """Place it."""
        got.append(order)
        return "placed"

    place.__annotations__["order"] = kind
    placing = tool(effect="read")(place)
    script = [act("place", order=bad), act("place", order=good), say("k")]
    agent = Agent(ScriptedModel(script), tools=[placing], store=MemoryStore())
    await run(agent, "Order.", run_id="r")
    calls = (await read("r", store=agent.store)).calls
    assert [it.observation and it.observation.code for it in calls] == ["invalid_arguments", ""]
    assert got == [value]


@pytest.mark.parametrize(("kind", "good", "bad", "value"), CASES, ids=range(len(CASES)))
async def test_an_answer_has_them_as_its_class_does(
    kind: Any, good: Json, bad: Json, value: Any
) -> None:
    script = [act("finish", answer=bad), act("finish", answer=good)]
    agent = Agent(ScriptedModel(script), answer=kind, store=MemoryStore())
    result = await run(agent, "Order.", run_id="r")
    assert isinstance(result, Answered)
    assert result.answer == value
    assert len((await read("r", store=agent.store)).steps) == 2
    script = [act("finish", answer=bad)] * 5
    bound = agent.replace(model=ScriptedModel(script), fallback=value, limits=Limits(steps=3))
    assert (await run(bound, "Order.")).answer == value


def test_one_without_a_default_is_refused() -> None:
    with pytest.raises(ConfigError, match="the field price of Endless is set by itself"):
        Agent(ScriptedModel([]), answer=Endless)


def test_another_value_of_one_is_no_answer_that_could_be_read_back() -> None:
    order = Order("tea")
    order.price = 1
    with pytest.raises(ConfigError, match=r"init=False\) has another value"):
        Agent(ScriptedModel([]), answer=Order, fallback=order)


@dataclass
class Place:
    """A place."""

    street_name: str
    number: int | None = None


class Trip(pydantic.BaseModel):
    """A trip."""

    to: Place


async def test_a_dataclass_alone_and_in_a_model_is_one_type() -> None:
    def travel(to: Place, trip: Trip) -> str:
        """Travel."""
        return f"{to.street_name} {trip.to.number}"

    script = [
        act("travel", to={"street_name": "a"}, trip={"to": {"street_name": "b", "number": 2}}),
        say("k"),
    ]
    agent = Agent(ScriptedModel(script), tools=[tool(effect="read")(travel)], store=MemoryStore())
    await run(agent, "Go.", run_id="r")
    seen = (await read("r", store=agent.store)).call("1.1").observation
    assert seen is not None
    assert seen.text == "a 2"
