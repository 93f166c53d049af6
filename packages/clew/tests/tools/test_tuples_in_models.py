"""Named tuples within models of pydantic: asked for by their names, and read so."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import pydantic
import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.interfaces import Json
from clew.testing import ScriptedModel, act, finish, say
from clew.tools.schema import problems
from clew.tools.types import from_json, schema_of


class Point(NamedTuple):
    """Where it is."""

    east: int
    north_of: int = 3


class Line(NamedTuple):
    """From where to where."""

    begin: Point
    end: Point
    name: str = ""


class Place(pydantic.BaseModel):
    """A place; a plain tuple stays one."""

    at: Point
    more: list[Point] = []
    size: tuple[int, int] = (1, 2)
    usual: Point = Point(1)


class Way(pydantic.BaseModel):
    """A model in a model, and a tuple in a tuple."""

    line: Line
    places: dict[str, Place] = {}


@dataclass
class Found:
    """A dataclass with a model."""

    place: Place


P1 = {"east": 1}
CASES: list[tuple[Any, Json, Any]] = [
    (Place, {"at": P1}, Place(at=Point(1))),
    (Place, {"at": P1, "more": [P1, {"east": 2, "north_of": 4}]}, None),
    (Place | int, {"at": P1}, Place(at=Point(1))),
    (list[Place], [{"at": P1}], [Place(at=Point(1))]),
    (Found, {"place": {"at": P1}}, Found(Place(at=Point(1)))),
    (Way, {"line": {"begin": P1, "end": P1}}, Way(line=Line(Point(1), Point(1)))),
    (Way, {"line": {"begin": P1, "end": P1}, "places": {"a": {"at": P1}}}, None),
]


@pytest.mark.parametrize(("kind", "value", "typed"), CASES, ids=range(len(CASES)))
async def test_they_are_objects_for_whoever_asks_and_reads(
    kind: Any, value: Json, typed: Any
) -> None:
    got: list[Any] = []

    def take(value: Any) -> str:
        """Take it."""
        got.append(value)
        return "taken"

    take.__annotations__["value"] = kind
    store = MemoryStore()
    script = [act("take", value=value), say("k")]
    agent = Agent(ScriptedModel(script), tools=[tool(effect="read")(take)], store=store)
    await run(agent, "Take it.", run_id="r")
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.text == "taken"
    assert typed is None or got == [typed]
    answered = await run(Agent(ScriptedModel([finish(value)]), answer=kind), "Which?")
    assert answered.status == "answered"
    assert answered.answer == got[0]


def test_the_schema_names_their_fields_and_leaves_plain_tuples() -> None:
    schema = schema_of(Place, "a place")
    assert schema["$defs"]["Point"] == {
        "type": "object",
        "properties": {"east": {"type": "integer"}, "north_of": {"type": "integer", "default": 3}},
        "required": ["east"],
        "additionalProperties": False,
    }
    assert schema["properties"]["size"]["type"] == "array"
    assert schema["properties"]["usual"]["default"] == {"east": 1, "north_of": 3}
    nested = schema_of(Way, "a way")["$defs"]["Line"]
    assert [*nested["properties"]] == ["begin", "end", "name"]


async def test_a_list_is_told_how_it_is_wanted() -> None:
    agent = Agent(ScriptedModel([finish({"at": [1, 2]}), finish({"at": P1})]), answer=Place)
    result = await run(agent, "Where?", store=(store := MemoryStore()), run_id="r")
    assert result.status == "answered"
    text = str([it.event for it in (await read("r", store=store)).entries])
    assert "answer.at" in text
    assert '{"answer":{"at":{"east":1' in text


def test_what_was_recorded_as_a_list_is_still_read() -> None:
    assert from_json(Place, {"at": [1, 2]}) == Place(at=Point(1, 2))


async def test_what_a_tool_gives_fits_its_own_schema() -> None:
    @tool(effect="read")
    def look() -> Place:
        """Look."""
        return Place(at=Point(1))

    store = MemoryStore()
    agent = Agent(ScriptedModel([act("look"), say("k")]), tools=[look], store=store)
    await run(agent, "Look.", run_id="r")
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.ok

    assert problems(msgspec.to_builtins(look.result), seen.content) == []
