"""What a type says to pydantic is kept: as an answer's type, and as a parameter of a tool."""

import datetime as dt
import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType

import annotated_types
import msgspec
import pydantic
import pytest
import typing_extensions
from pydantic import BaseModel, Field

import clew
from clew import Agent, ConfigError, MemoryStore, Trajectory, run, tool
from clew.core.values import Json
from clew.support import pydantic_classes
from clew.testing import ScriptedModel, act, finish
from clew.tools import pydantic_types
from clew.tools.finish import decode_answer


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


@dataclass
class Box:
    size: Annotated[int, Field(ge=1)]


@dataclass
class Chain:
    size: int = Field(default=1, ge=1)
    again: "Chain | None" = None
    words: list[str] = field(default_factory=list[str])


@pydantic.dataclasses.dataclass
class Crate:
    size: int


class Row(NamedTuple):
    size: Annotated[int, Field(ge=1)]


class Form(typing_extensions.TypedDict):
    size: Annotated[int, Field(ge=1)]


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Road:
    plate: str


@dataclass
class Sea:
    ship: str


@dataclass
class Way:
    by: Road | Sea
    log: Path | None = None


class Plain:
    pass


class Box1(msgspec.Struct):
    size: int


class Box2(msgspec.Struct):
    length: int


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
Bounded = Annotated[int, Field(ge=1)]
Size = NewType("Size", Bounded)  # pyright: ignore[reportGeneralTypeIssues] # what pydantic allows
Sizes = typing_extensions.TypeAliasType("Sizes", list[Bounded])
CAT, DOG = {"kind": "cat", "lives": 9}, {"kind": "dog", "name": "Rex"}

KINDS: dict[str, tuple[Any, list[Json], list[Json], Any]] = {
    "a bound": (Bounded, [3, 1], [0, "3", 2.5, None, True], 3),
    "of annotated_types": (Annotated[int, annotated_types.Lt(9)], [3], [9], 3),
    "in a list": (list[Bounded], [[1, 2], []], [[0], [1, 0], 1], [1, 2]),
    "in a dict": (dict[str, Annotated[float, Field(gt=0)]], [{"a": 1.5}], [{"a": 0}], {"a": 1.5}),
    "in a tuple": (tuple[Bounded, str], [[1, "a"]], [[0, "a"], [1]], (1, "a")),
    "or nothing": (Bounded | None, [3, None], [0], 3),  # pyright: ignore[reportOperatorIssue] # Python takes it
    "by pydantic's names": (pydantic.PositiveInt, [3], [0], 3),
    "a short text": (Annotated[str, pydantic.StringConstraints(max_length=3)], ["abc"], ["abcd"],
                     "abc"),
    "a pattern": (Annotated[str, Field(pattern="^a+$")], ["aa"], ["b"], "aa"),
    "changed by a validator": (Annotated[int, pydantic.AfterValidator(lambda it: it * 2)], [3],
                               ["3"], 6),
    "discriminated": (Pet, [CAT, DOG], [{"kind": "cow"}, {**CAT, "name": "Tom"}, {}],
                      Cat(kind="cat", lives=9)),
    "a list of discriminated": (list[Pet], [[DOG, CAT]], [[{}]],
                                [Dog(kind="dog", name="Rex"), Cat(kind="cat", lives=9)]),
    "discriminated or nothing": (
        Pet | None,  # pyright: ignore[reportOperatorIssue] # Python takes it
        [DOG, None], [3], Dog(kind="dog", name="Rex")),
    "a bare union": (Cat | Dog, [DOG], [{"kind": "cow"}], Dog(kind="dog", name="Rex")),
    "a model or a number": (Cat | int, [3, CAT], ["3"], 3),
    "in a dataclass": (Box, [{"size": 1}], [{"size": 0}, {"size": 1, "more": 1}], Box(1)),
    "a default in a dataclass": (Chain, [{"size": 2, "again": {}}], [{"size": 0}, {"again": 1}],
                                 Chain(2, Chain(1))),
    "in a NamedTuple": (Row, [{"size": 1}], [{"size": 0}, [1]], Row(1)),
    "in a TypedDict": (Form, [{"size": 1}], [{"size": 0}, {}], {"size": 1}),
    "a pydantic dataclass": (Crate, [{"size": 1}], [{"size": "1"}], Crate(1)),
    "a NewType": (Size, [3], [0], 3),
    "an alias": (Sizes, [[3]], [[0]], [3]),
    "a type of pydantic's": (pydantic.SecretStr, ["x"], [3], pydantic.SecretStr("x")),
    "beside an enum": (Annotated[Colour, Field(description="Its colour")], ["red"], ["blue"],
                       Colour.RED),
    "a bounded decimal": (Annotated[Decimal, Field(ge=1)], ["1.5", 1.5], [0.5], Decimal("1.5")),
    "a path": (Path, ["a/b"], [3, None], Path("a/b")),
    "an address": (IPv4Address, ["10.0.0.1"], ["10.0.0.256", "a"], IPv4Address("10.0.0.1")),
    "a fraction": (Fraction, ["1/2"], ["x"], Fraction(1, 2)),
    "a path or nothing": (Path | None, ["a", None], [3], Path("a")),
    "a path or a number": (Path | int, ["a", 3], [None], Path("a")),
    "in a list of them": (list[Path], [["a"]], [[3]], [Path("a")]),
    "under names": (dict[str, Path], [{"a": "b"}], [{"a": 3}], {"a": Path("b")}),
    "a number that is named": (Literal[1, True, 1.5], [1.5], [2], 1.5),  # pyright: ignore[reportInvalidTypeForm] # Python takes it
    "plain dataclasses": (Road | Sea, [{"ship": "Elbe"}, {"plate": "x"}],
                          [{}, {"ship": 3}, {"ship": "a", "more": 1}], Sea("Elbe")),
    "a list of plain dataclasses": (list[Road | Sea], [[{"plate": "x"}]], [[{}]], [Road("x")]),
    "in a dataclass's field": (Way, [{"by": {"ship": "Elbe"}, "log": "a"}], [{"by": {}}],
                               Way(Sea("Elbe"), Path("a"))),
    "a time": (Annotated[dt.time, Field(description="When")], ["10:00"], ["25:00"],
               dt.time(10)),
}  # fmt: skip


async def answered(kind: Any, value: Json) -> list[Any]:
    agent = Agent(ScriptedModel([finish(value)] * 4), answer=kind)
    result = await run(agent, "Which?", store=MemoryStore())
    return [result.answer] if result.status == "answered" else []


async def in_place(kind: Any, value: Json) -> list[Any]:
    """The answer that stands in for none, as a value of its type."""
    if not (read := await answered(kind, value)):
        return []
    agent = Agent(
        ScriptedModel([finish(value)]),
        answer=kind,
        fallback=read[0],
        tries=0,
        checks=[nothing_will_do],
    )
    return [(await run(agent, "Which?", store=MemoryStore())).answer]


def nothing_will_do(_answer: Any, _trajectory: Trajectory) -> str:
    return "none will do"


async def returned(kind: Any, value: Json) -> list[Any]:
    """What a tool returns, told to the model and read back."""
    if not (read := await answered(kind, value)):
        return []

    def make() -> Any:
        """Make it."""
        return read[0]

    make.__annotations__["return"] = kind
    agent = Agent(ScriptedModel([act("make"), finish("x")]), tools=[tool(make)])
    store = MemoryStore()
    run_id = (await run(agent, "Which?", store=store)).run_id
    seen = (await clew.read(run_id, store=store)).calls[0].observation
    assert seen is not None
    assert seen.ok, seen.content
    return [decode_answer(kind, seen.content)]


async def called(kind: Any, value: Json) -> list[Any]:
    seen: list[Any] = []

    async def take(it: Any) -> str:
        """Take it."""
        seen.append(it)
        return "Taken."

    take.__annotations__["it"] = kind
    agent = Agent(ScriptedModel([act("take", it=value), finish("x")]), tools=[tool(take)])
    await run(agent, "Which?", store=MemoryStore())
    return seen


@pytest.mark.parametrize("door", [answered, called], ids=["an answer", "a parameter"])
@pytest.mark.parametrize("name", KINDS)
async def test_a_type_that_pydantic_reads_is_kept(name: str, door: Callable[..., Any]) -> None:
    kind, right, wrong, first = KINDS[name]
    found = [await door(kind, value) for value in right]
    assert found[0] == [first]
    assert type(found[0][0]) is type(first)
    assert all(len(one) == 1 for one in found)
    assert [await door(kind, value) for value in wrong] == [[]] * len(wrong)


@pytest.mark.parametrize("door", [in_place, returned], ids=["a fallback", "a result"])
@pytest.mark.parametrize(
    "name", ["a path", "a fraction", "a path or a number", "in a list of them", "plain dataclasses",
             "a list of plain dataclasses", "in a dataclass's field"],
)  # fmt: skip
async def test_its_values_go_out_as_they_came_in(name: str, door: Callable[..., Any]) -> None:
    kind, (value, *_), _wrong, read = KINDS[name]
    assert await door(kind, value) == [read]


def test_a_rejection_by_the_whole_model_is_its_words() -> None:
    class Invoice(pydantic.BaseModel):
        lines: list[str]

        @pydantic.model_validator(mode="after")
        def has_lines(self) -> "Invoice":
            if not self.lines:
                message = "an invoice has lines"
                raise ValueError(message)
            return self

    with pytest.raises(ValueError, match=r"^value: an invoice has lines$"):
        decode_answer(Invoice, {"lines": []})


def test_what_is_said_of_such_a_type_is_in_its_schema() -> None:
    def take(
        one: Annotated[int, Field(ge=1, description="Its own words")],
        two: Annotated[int, Field(ge=2), "A bare text"],
        three: Annotated[int, Field(ge=3), msgspec.Meta(description="Of msgspec", examples=[7])],
        four: Bounded = 4,
        pet: Pet | None = None,
    ) -> Bounded:
        """Take it.

        Args:
            one: Not these.
            four: The docstring's.
        """
        return one + two + three + four + (pet is None)

    made = tool(take)
    shown = made.parameters["properties"]
    assert shown["one"] == {"description": "Its own words", "minimum": 1, "type": "integer"}
    assert shown["two"] == {"description": "A bare text", "minimum": 2, "type": "integer"}
    assert shown["three"]["description"] == "Of msgspec"
    assert shown["three"]["examples"] == [7]
    assert shown["four"]["description"] == "The docstring's."
    assert shown["four"]["default"] == 4
    assert set(made.parameters["$defs"]) == {"Cat", "Dog"}
    assert made.parameters["$defs"]["Cat"]["additionalProperties"] is False
    assert made.result == {"minimum": 1, "type": "integer"}


def test_without_pydantic_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydantic_types, "installed", lambda _: False)  # annotated_types is alone
    with pytest.raises(ConfigError, match=r"needs pydantic: run pip install"):
        Agent(ScriptedModel([]), answer=Annotated[int, annotated_types.Gt(1)]).engine.prompt_spec  # noqa: B018 - made there


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Plain, "neither msgspec nor pydantic reads Plain: make Plain a dataclass"),
        (Callable[[], int], "neither msgspec nor pydantic reads Callable"),
        (Box1 | Box2, r"write class Box1\(msgspec.Struct, tag=True\)"),
        (Box1 | Path, "; make Box1 a dataclass"),
        (bytes | Path, "pydantic reads bytes otherwise; write msgspec Structs with tag=True"),
    ],
)
def test_a_type_that_nobody_reads_is_refused_with_what_to_do(kind: Any, message: str) -> None:
    def take(it: Any) -> str:
        """Take it."""
        return str(it)

    take.__annotations__["it"] = kind
    with pytest.raises(ConfigError, match=message) as error:
        tool(take)
    assert "\n" not in str(error.value)
    with pytest.raises(ConfigError, match=message):
        Agent(ScriptedModel([]), answer=kind)


@pytest.mark.parametrize("kind", [Path, Road | Sea])
def test_without_pydantic_it_is_told_for_types_that_msgspec_refuses(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pydantic_types, "installed", lambda _: False)
    monkeypatch.setattr(pydantic_classes, "installed", lambda _: False)
    pydantic_classes.adapter_of.cache_clear()
    with pytest.raises(ConfigError, match=r"pydantic may(?: read it)?: run pip install .*, or "):
        Agent(ScriptedModel([]), answer=kind)
