"""Named tuples are asked for, read and recorded by their field names; `object` is any JSON."""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, assert_type

import msgspec
import pytest

from clew import (
    Agent,
    ConfigError,
    Limits,
    MemoryStore,
    Result,
    read,
    replay,
    run,
    run_sync,
    tool,
)
from clew.testing.models import ScriptedModel, act, finish
from clew.tools.process import process_tool

T = TypeVar("T")


class Box(NamedTuple, Generic[T]):
    kept: T


class Boxes(NamedTuple, Generic[T]):
    all: list[Box[T]]
    last: Box[T] | None = None


class Place(NamedTuple):
    """A place on the map."""

    east: float
    north: float
    name: str = "somewhere"


class Way(NamedTuple):
    stops: list[Place]
    before: "Way | None" = None


class Town:
    class Place(NamedTuple):
        street: str
        town: str


@dataclass
class Trip:
    ways: dict[str, Way]
    home: Place | None = None
    legs: tuple[int, Place] | None = None


Pair = namedtuple("Pair", "one other")  # noqa: PYI024 - without types, as older code has them

ULM = Place(9.99, 48.4, "Ulm")
WAY = Way([ULM, Place(1, 2)], Way([]))

ULM_JSON = {"east": 9.99, "north": 48.4, "name": "Ulm"}
WAY_JSON = {
    "stops": [ULM_JSON, {"east": 1, "north": 2, "name": "somewhere"}],
    "before": {"stops": [], "before": None},
}


@tool(effect="read")
def far(place: Place, since: Place = ULM) -> Way:
    """Look how far it is."""
    assert isinstance(place, Place)
    return Way([place, since], Way([]))


def moved(place: Place) -> Place:
    """Move a place."""
    return place._replace(east=place.east + 1)


def asked(kind: Any, value: Any) -> Agent[Any]:
    return Agent(ScriptedModel([finish(value)] * 3), answer=kind, tries=0)


ANSWERS: dict[str, tuple[Any, Any, Any]] = {
    "by itself": (Place, ULM_JSON, ULM),
    "with a default": (Place, {"east": 1.5, "north": 2.5}, Place(1.5, 2.5)),
    "in itself": (Way, WAY_JSON, WAY),
    "in a list": (list[Place], [ULM_JSON], [ULM]),
    "in a tuple": (tuple[Place, int], [ULM_JSON, 3], (ULM, 3)),
    "or None": (Place | None, ULM_JSON, ULM),
    "and None": (Place | None, None, None),
    "or an object": (Place | dict[str, int], {"east": 1}, {"east": 1}),
    "described": (Annotated[Place, "where"], ULM_JSON, ULM),
    "in a dataclass": (
        Trip,
        {"ways": {"a": WAY_JSON}, "home": ULM_JSON, "legs": [2, ULM_JSON]},
        Trip({"a": WAY}, ULM, (2, ULM)),
    ),
    "without types": (Pair, {"one": 1, "other": [2]}, Pair(1, [2])),
    "of a type": (Box[int], {"kept": 1}, Box(1)),
    "of a type, in another": (
        Boxes[str],
        {"all": [{"kept": "a"}], "last": None},
        Boxes([Box("a")]),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_is_asked_for_by_field_names(name: str) -> None:
    kind, value, answer = ANSWERS[name]
    store = MemoryStore()
    result = await run(asked(kind, value), "Where?", store=store, run_id="r")
    assert (result.status, result.answer, type(result.answer)) == (
        "answered",
        answer,
        type(answer),
    )
    await replay(asked(kind, value), "r", store=store)
    limits = Limits(steps=1, landing=False)
    if answer is not None:
        model = ScriptedModel([act("far", place=ULM_JSON)])
        unsure = Agent(model, [far], answer=kind, fallback=answer, limits=limits)
        declared = await run(unsure, "Where?", store=store)
        assert (declared.answer, declared.fallback) == (answer, True)


def test_a_model_is_shown_an_object() -> None:
    spec = asked(Place, ULM_JSON).engine.prompt_spec
    assert spec.answer["$defs"]["Place"] == {
        "description": "A place on the map.",
        "type": "object",
        "properties": {
            "east": {"type": "number"},
            "north": {"type": "number"},
            "name": {"type": "string", "default": "somewhere"},
        },
        "required": ["east", "north"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([9.99, 48.4], r"\[9.99,48.4\] is a list, an object is required"),
        ({"east": 1.0}, "north: missing"),
        ({"east": 1.0, "north": 2.0, "west": 3.0}, "west: unknown field"),
        ({"east": 1.0, "north": "2"}, 'north: "2" is a string, a number is required'),
    ],
)
def test_what_does_not_fit_is_sent_back_by_field(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        asked(Place, value).decode(value)


async def test_tools_take_and_return_them_by_field_names() -> None:
    script = [act("far", place=ULM_JSON), finish("far")]
    store = MemoryStore()
    await run(Agent(ScriptedModel(script), [far]), "How far?", store=store, run_id="r")
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.content == {
        "stops": [ULM_JSON, ULM_JSON],
        "before": {"stops": [], "before": None},
    }
    assert far.parameters["properties"]["since"]["default"] == ULM_JSON
    assert far.result is not None
    assert far.result["$defs"]["Way"]["properties"].keys() == {"stops", "before"}


async def test_processes_do_too() -> None:
    mover = process_tool(moved, effect="pure")
    script = [act("moved", place=ULM_JSON), finish("moved")]
    store = MemoryStore()
    await run(Agent(ScriptedModel(script), [mover]), "?", store=store, run_id="r")
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.content == {**ULM_JSON, "east": 10.99}


def test_two_of_a_name_are_two() -> None:
    kind = msgspec.defstruct("Both", [("one", Place), ("other", Town.Place)])
    value = {"one": ULM_JSON, "other": {"street": "Weg", "town": "Ulm"}}
    answer: Any = asked(kind, value).decode(value)
    assert (answer.one, answer.other.street) == (ULM, "Weg")


ANY: list[tuple[Any, Any]] = [
    (object, {"a": [1]}),
    (Any, [1]),
    (dict[str, object], {"a": [1], "b": None}),
    (dict[str, Any], {"a": 1}),
    (Mapping[str, object], {"a": {"b": 1}}),
    (Sequence[object], [1, "b", None]),
    (list[object], [[1]]),
    (object | None, None),
    (dict[str, list[object]], {"a": [1]}),
]


@pytest.mark.parametrize(("kind", "value"), ANY)
async def test_object_is_any_json_wherever_it_stands(kind: Any, value: Any) -> None:
    def same(it: Any) -> Any:
        """Give it back."""
        return it

    same.__annotations__ = {"it": kind, "return": kind}
    store = MemoryStore()
    script = [act("same", it=value), finish(value)]
    agent = Agent(ScriptedModel(script), [tool(effect="pure")(same)], answer=kind)
    result = await run(agent, "?", store=store, run_id="r")
    assert (result.status, result.answer) == ("answered", value)
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.content) == (True, value)


def test_a_type_checker_knows_them() -> None:
    agent = Agent(ScriptedModel([finish(ULM_JSON)]), answer=Place)
    assert_type(agent, Agent[Place])
    result = run_sync(agent, "Where?", store=MemoryStore())
    assert_type(result, Result[Place])
    assert result.unwrap().name == "Ulm"


def test_what_json_cannot_tell_apart_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(ConfigError, match="more than one"):
        asked(Place | Way, ULM_JSON)
