"""A field that is at its default is there wherever the value is read: msgspec leaves those of a
dataclass on its class, and its encoder then skips them.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pydantic
import pytest

from clew import Agent, MemoryStore, run_sync, sync, tool
from clew.core.values import Json
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Plain:
    name: str
    born: int = 5
    colour: Colour = Colour.RED
    price: Decimal = Decimal("1.50")
    more: list[int] = field(default_factory=lambda: [1])


@dataclass(frozen=True)
class Frozen:
    name: str
    born: int = 5


@dataclass(slots=True)
class Slots:
    name: str
    born: int = 5


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    name: str
    born: int = 5


@dataclass(slots=True)
class BelowSlots:
    born: int = 5


@dataclass
class Mixed(BelowSlots):
    name: str = "b"


@dataclass
class Nested:
    one: Frozen
    many: list[Frozen]
    named: dict[str, Frozen]
    other: Frozen = Frozen("o")


class Struct(msgspec.Struct):
    name: str
    born: int = 5
    of: Frozen | None = None


class Omits(msgspec.Struct, omit_defaults=True):
    name: str
    born: int = 5


class Pair(NamedTuple):
    of: Frozen
    born: int = 5


class Model(pydantic.BaseModel):
    name: str
    born: int = 5
    of: Frozen | None = None


class Aliased(pydantic.BaseModel):
    name: str = pydantic.Field(alias="called")
    born: int = 5


@pydantic.dataclasses.dataclass
class PydanticData:
    name: str
    born: int = 5


A: Json = {"name": "a"}
FULL: Json = {"name": "a", "born": 5}
CASES: list[tuple[Any, Json, Json]] = [
    (Plain, A, {**FULL, "colour": "red", "price": "1.50", "more": [1]}),
    (Frozen, A, FULL),
    (Slots, A, FULL),
    (FrozenSlots, A, FULL),
    (Mixed, {}, {"name": "b", "born": 5}),
    (
        Nested,
        {"one": A, "many": [A, {"name": "b", "born": 7}], "named": {"x": A}},
        {
            "one": FULL,
            "many": [FULL, {"name": "b", "born": 7}],
            "named": {"x": FULL},
            "other": {"name": "o", "born": 5},
        },
    ),
    (list[Frozen], [A, A], [FULL, FULL]),
    (tuple[Frozen, int], [A, 1], [FULL, 1]),
    (frozenset[Frozen], [A], [FULL]),
    (dict[int, Frozen], {"1": A}, {"1": FULL}),
    (Frozen | None, A, FULL),
    (Struct, {"name": "a", "of": A}, {**FULL, "of": FULL}),
    (Omits, A, A),
    (Pair, {"of": A}, {"of": FULL, "born": 5}),
    (Model, {"name": "a", "of": A}, {**FULL, "of": FULL}),
    (Aliased, {"called": "a"}, {"called": "a", "born": 5}),
    (PydanticData, A, FULL),
]
NAMES = [str(getattr(kind, "__name__", kind)) for kind, *_ in CASES]
every = pytest.mark.parametrize(("kind", "said", "full"), CASES, ids=NAMES)


def decoded(text: str) -> Json:
    return msgspec.json.decode(text)


@every
def test_of_an_answer(kind: Any, said: Json, full: Json) -> None:
    model = ScriptedModel([finish(said)], answer=kind)
    result = run_sync(Agent(model=model, answer=kind), "q", store=MemoryStore())
    assert result.to_json()["answer"] == full
    assert decoded(str(result)) == full
    assert result.raw_answer == said  # as recorded: old records are read as they are


@every
def test_of_a_fallback(kind: Any, said: Json, full: Json) -> None:
    fallback = Agent(model=ScriptedModel([]), answer=kind).decode(said)
    model = ScriptedModel([finish(said)], answer=kind)
    agent = Agent(model=model, answer=kind, checks=[refuses], tries=0, fallback=fallback)
    result = run_sync(agent, "q", store=MemoryStore())
    assert result.fallback
    assert result.to_json()["answer"] == full == result.raw_answer


async def refuses(_answer: Any, _trajectory: Any) -> str | None:
    """Refuse every answer."""
    return "no"


def through(function: Callable[..., Any], kind: Any, **args: Json) -> Json:
    """What the model reads of a tool that gives a value of the kind."""
    function.__annotations__ = {**dict.fromkeys(args, kind), "return": kind}
    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel([act(function.__name__, **args), finish("done")]),
        tools=[tool(effect="read")(function)],
        guards=[Provenance("off")],
    )
    result = run_sync(agent, "q", store=store)
    seen = sync.read(result.run_id, store=store).calls[0].observation
    assert seen is not None
    assert seen.ok, seen
    return decoded(seen.text)


@every
def test_of_an_argument_that_the_tool_returns(kind: Any, said: Json, full: Json) -> None:
    def echo(value: Any) -> Any:
        """Give it back."""
        return value

    assert through(echo, kind, value=said) == full


def test_nothing_is_mixed_up_in_a_set_and_what_its_type_changes_stays_as_recorded() -> None:
    said = [{"name": name, "born": 7} if name in "bd" else {"name": name} for name in "abcde"]
    agent = Agent(model=ScriptedModel([finish(said)], answer=set[Frozen]), answer=set[Frozen])
    items = run_sync(agent, "q", store=MemoryStore()).to_json()["answer"]
    assert all(one.get("born", 5) == (7 if one["name"] in "bd" else 5) for one in items)
    assert [one["name"] for one in items] == [*"abcde"]
