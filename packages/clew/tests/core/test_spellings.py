"""An effect that is written in another way is the same effect: its tool receives the same."""

import datetime as dt
import enum
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any

import msgspec
import pytest

from clew import Agent, MemoryStore, RunContext, Tool, fork, replay, run, tool
from clew.core.values import Json
from clew.testing.models import ScriptedModel, act, finish
from clew.tools.fallback import with_fallback
from clew.tools.process import process_tool

pytestmark = pytest.mark.anyio


class Size(enum.Enum):
    SMALL = "small"


@dataclass
class Place:
    """Where it goes."""

    town: str
    country: str = "GB"


class Parcel(msgspec.Struct):
    """What is sent."""

    weight: float = 1.0
    marks: tuple[str, ...] = ()


SENTINEL = object()


def post(
    to: str,
    text: str = "",
    amount: float = 1.0,
    count: int = 1,
    options: dict[str, Any] | None = None,
    tags: Sequence[str] = (),
    names: set[str] = set(),  # noqa: B006 - as people write it, and it is never changed
    price: Decimal = Decimal("1.0"),
    day: dt.date | None = None,
    at: dt.datetime | None = None,
    id: uuid.UUID | None = None,  # noqa: A002 - a name that models like
    size: Size = Size.SMALL,
    place: Place | None = None,
    places: list[Place] | None = None,
    parcels: list[Parcel] = [],  # noqa: B006 - as people write it, and it is never changed
    *,
    quiet: bool = False,
    odd: Annotated[Any, "Anything."] = SENTINEL,
    ctx: RunContext,
) -> str:
    """Send a parcel."""
    return "sent"


SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "in the same words": ({}, {}),
    "a text spelled out": ({}, {"text": ""}),
    "a text left out": ({"text": ""}, {}),
    "a number without its point": ({"amount": 2.5 * 2}, {"amount": 5}),
    "a default of another type": ({}, {"amount": 1}),
    "a whole number": ({}, {"count": 1}),
    "nothing, said": ({}, {"options": None}),
    "a number within": ({"options": {"x": 1}}, {"options": {"x": 1.0}}),
    "a number further within": ({"options": {"x": [{"y": 2}]}}, {"options": {"x": [{"y": 2.0}]}}),
    "the order of keys": ({"options": {"x": 1, "y": 2}}, {"options": {"y": 2, "x": 1}}),
    "an empty list": ({}, {"tags": []}),
    "an empty set": ({}, {"names": []}),
    "a list of what has a default": (
        {"places": [{"town": "Hull"}]},
        {"places": [{"town": "Hull", "country": "GB"}]},
    ),
    "an accent": ({"text": "Jos\u00e9"}, {"text": "Jose\u0301"}),
    "an accent in a key": ({"options": {"\u00e9": 1}}, {"options": {"e\u0301": 1}}),
    "an enum's default": ({}, {"size": "small"}),
    "a default within a dataclass": (
        {"place": {"town": "Hull"}},
        {"place": {"town": "Hull", "country": "GB"}},
    ),
    "a default within a struct": ({"parcels": [{}]}, {"parcels": [{"weight": 1, "marks": []}]}),
    "several at once": (
        {"text": "", "amount": 3},
        {"amount": 3.0, "count": 1, "quiet": False, "tags": []},
    ),
}

OTHER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another text": ({}, {"text": " "}),
    "another number": ({}, {"amount": 1.5}),
    "a number as text": ({"options": {"x": 1}}, {"options": {"x": "1"}}),
    "true for one": ({"options": {"x": 1}}, {"options": {"x": True}}),
    "nothing for what is left out": ({"options": {}}, {"options": {"x": None}}),
    "nothing for an empty text": ({"options": {"x": ""}}, {"options": {"x": None}}),
    "the order of a list": ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}),
    "capitals": ({"text": "a"}, {"text": "A"}),
    "a large number": ({"options": {"x": 2**53}}, {"options": {"x": 2**53 + 1}}),
    "another place": ({"place": {"town": "Hull"}}, {"place": {"town": "Hull", "country": "FR"}}),
    "a value for a default nobody can write": ({}, {"odd": None}),
}


def agent(send: Tool, args: dict[str, Json]) -> Agent:
    return Agent(ScriptedModel([act(send.name, **args), finish("Done.")]), tools=[send])


async def again(send: Tool, first: dict[str, Json], then: dict[str, Json]) -> str:
    """How a fork before a call ends that makes it in another way."""
    store = MemoryStore()
    done = await run(agent(send, first), "Send it.", store=store, run_id="r")
    assert done.status == "answered"
    whole = agent(send, then)
    ended = await fork(whole, "r", at=0, store=store, new_id="f")
    await replay(whole, "f", store=store)
    return ended.status


@pytest.mark.parametrize("name", SAME)
async def test_the_same_effect_is_held_however_it_is_written(name: str) -> None:
    first, then = SAME[name]
    assert await again(tool(post), {"to": "ada"} | first, {"to": "ada"} | then) == "held"


@pytest.mark.parametrize("name", OTHER)
async def test_another_effect_is_none(name: str) -> None:
    first, then = OTHER[name]
    assert await again(tool(post), {"to": "ada"} | first, {"to": "ada"} | then) == "answered"


def by_hand(**more: Any) -> Tool:
    """A tool without a function, as a server declares it."""
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "copies": {"type": "number", "default": 1},
            "place": {"$ref": "#/$defs/place"},
            "parcels": {"type": "array", "items": {"$ref": "#/$defs/place"}},
            "any": True,
        },
        "required": ["to"],
        "$defs": {
            "place": {
                "type": "object",
                "properties": {"town": {"type": "string"}, "country": {"default": "GB"}},
            }
        },
    }
    return Tool("ship", "Ship it.", schema, lambda args, key: "shipped", **more)


@pytest.mark.parametrize(
    "more",
    [
        {"copies": 1},
        {"copies": 1.0},
        {"to": "Jose\u0301"},
        {"place": {"town": "Hull", "country": "GB"}},
        {"parcels": [{"town": "Hull", "country": "GB"}, {"country": "GB"}]},
        {"any": [{"x": 2.0}]},
    ],
)
async def test_declared_defaults_count_for_a_tool_without_a_function(more: dict[str, Json]) -> None:
    base: dict[str, Json] = {
        "to": "Jos\u00e9",
        "place": {"town": "Hull"},
        "parcels": [{"town": "Hull"}, {}],
        "any": [{"x": 2}],
    }
    assert await again(by_hand(), base, base | more) == "held"
    assert await again(by_hand(), base, base | {"copies": 2}) == "answered"


def parcel(to: str, weight: float = 1.0) -> str:
    """Send it from a process of its own."""
    return f"sent {weight:g} to {to}"


async def test_a_tool_in_a_process_and_one_with_a_fallback_count_their_defaults() -> None:
    sends = process_tool(f"{__name__}:parcel")
    assert await again(sends, {"to": "ada"}, {"to": "ada", "weight": 1}) == "held"
    pair = with_fallback(tool(post), replace(tool(post), name="other"))
    assert await again(pair, {"to": "ada"}, {"to": "ada", "amount": 1}) == "held"


async def test_a_new_parameter_with_a_default_leaves_the_same_words_the_same() -> None:
    def send(to: str) -> str:
        """Send."""
        return to

    store = MemoryStore()
    await run(agent(tool(send), {"to": "ada"}), "Send it.", store=store, run_id="r")
    newer = replace(tool(post), name="send")
    held = await fork(agent(newer, {"to": "ada"}), "r", at=0, store=store)
    assert held.status == "held"
