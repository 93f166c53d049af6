"""Pictures in what a tool returns: shown as pictures wherever they stand, never told as text."""

import base64
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, cast

import msgspec
import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.core.events import Image, Observation, RawCall, Reply
from clew.core.interfaces import Tool
from clew.models.openai.chat import openai_chat
from clew.testing.models import ScriptedModel, say
from clew.tools.fallback import with_fallback
from clew_testing.servers.openai_server import OpenAIServer, Say

BYTES = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 60
ONE, TWO = Image("image/png", BYTES, "the first"), Image("image/jpeg", BYTES[::-1])


@dataclass
class Page:
    text: str
    picture: Image


class Struct(msgspec.Struct):
    shown: list[Image]


class Named(NamedTuple):
    left: Image
    right: Image


class Typed(TypedDict):
    image: Image


RETURNED: list[tuple[Any, int]] = [
    ([ONE, TWO], 2),
    ({"image": ONE}, 1),
    ((ONE, "and words"), 1),
    (["text", [ONE, [TWO]]], 2),
    ({"a": {"b": [{"c": ONE}]}, "n": 3}, 1),
    (OrderedDict(first=ONE, second=TWO), 2),
    (Page("see", ONE), 1),
    (Struct([ONE, TWO, ONE]), 3),
    ([Page("see", ONE), {"x": Struct([TWO])}], 2),
    (Named(ONE, TWO), 2),
    ([ONE] * 5, 5),
    (ONE, 1),
]


async def observed(made: Tool) -> Observation:
    """What a call of the tool came to."""
    store = MemoryStore()
    script: list[Any] = [
        Reply(calls=(RawCall(name=made.name, arguments="{}", id="a"),), finish="calls"),
        say("done"),
    ]
    result = await run(Agent(model=ScriptedModel(script), tools=[made]), "Look.", store=store)
    [call] = (await read(result.run_id, store=store)).calls
    assert call.observation is not None
    return call.observation


@pytest.mark.parametrize(("value", "number"), RETURNED, ids=map(str, range(len(RETURNED))))
async def test_pictures_are_taken_out_of_what_holds_them(value: Any, number: int) -> None:
    @tool(effect="read")
    def look() -> Any:
        """Look."""
        return value

    seen = await observed(look)
    assert (seen.ok, len(seen.images)) == (True, number)
    assert all(image.data in {BYTES, BYTES[::-1]} for image in seen.images)
    assert len(seen.text) < 400
    assert "the first" in seen.text
    assert base64.b64encode(BYTES[:30]).decode() not in seen.text


@pytest.mark.parametrize("kind", [list[Image], dict[str, Image], tuple[Image, ...], Page, Typed,
                                  list[Page], Image | None, list[Image] | str, Struct],
    ids=repr,
)  # fmt: skip
async def test_a_declared_type_with_pictures_is_no_misfit(kind: Any) -> None:
    values: dict[Any, Any] = {
        Page: Page("see", ONE), Typed: {"image": ONE}, list[Page]: [Page("see", ONE)],
        dict[str, Image]: {"a": ONE}, Struct: Struct([ONE]), Image | None: ONE,
    }  # fmt: skip

    def look() -> Any:
        """Look."""
        return values.get(kind, [ONE])

    look.__annotations__["return"] = kind
    seen = await observed(tool(effect="read")(look))
    assert (seen.ok, len(seen.images)) == (True, 1)


async def test_a_tool_made_by_hand_and_an_observation_may_hold_them_too() -> None:
    async def look(args: dict[str, Any], key: str) -> Any:
        return [ONE, {"then": TWO}]

    async def observe(args: dict[str, Any], key: str) -> Any:
        return Observation(content={"image": TWO}, images=(ONE,))

    for call in (look, observe):
        seen = await observed(Tool("look", "Look.", {"type": "object"}, call, effect="read"))
        assert (seen.ok, len(seen.images)) == (True, 2)


async def test_a_fallback_may_hold_them_too() -> None:
    @tool(effect="read")
    def look() -> list[Image]:
        """Look."""
        raise OSError

    @tool(effect="read")
    def other() -> list[Image]:
        """Look."""
        return [ONE, TWO]

    seen = await observed(with_fallback(look, other))
    assert (seen.ok, len(seen.images)) == (True, 2)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("value", [[ONE, TWO], {"image": ONE}])
async def test_what_goes_out_is_pictures_and_no_text_of_base64(value: Any) -> None:
    @tool(effect="read")
    def look() -> Any:
        """Look."""
        return value

    with OpenAIServer([Say("", [("look", "{}")]), Say("done")]) as server:
        model = openai_chat("m", base_url=server.base_url, api_key="any")
        await run(Agent(model=model, tools=[look]), "Look.", store=MemoryStore())
        await model.close()
    messages = server.requests[1].body["messages"]
    assert len([m for m in messages if m["role"] == "tool" and len(m["content"]) < 400]) == 1
    shown = [block for m in messages if isinstance(m["content"], list) for block in m["content"]]
    assert [block["type"] for block in shown].count("image_url") == len(value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Image("image/png", data="text"), "returned a picture whose data is str: give the bytes"),  # type: ignore[arg-type] # what a user may give
        (Image("image/png", data="aGVsbG8="), "whose data is str"),  # type: ignore[arg-type] # what a user may give
        ([Image("image/png", data=None)], "whose data is NoneType"),  # type: ignore[arg-type] # what a user may give
        ({"a": Image("image/png", data=[1, 2])}, "whose data is list"),  # type: ignore[arg-type] # what a user may give
        (Image("image/png", data=cast("Any", bytearray(b"x"))), "whose data is bytearray"),
        (Image(None, data=b"x"), "a picture without a media type"),  # type: ignore[arg-type] # what a user may give
        (Observation(content="x", trust="king"), "an observation whose trust is 'king'"),  # type: ignore[arg-type] # what a user may give
        (Observation(content="x", trust=""), "whose trust is ''"),  # type: ignore[arg-type] # what a user may give
        (Observation(content="x", trust=None), "whose trust is None"),  # type: ignore[arg-type] # what a user may give
        (Observation(content="x", trust=True), "whose trust is True"),  # type: ignore[arg-type] # what a user may give
    ],
)
async def test_what_is_no_picture_or_no_trust_is_refused_in_one_line(value: Any, told: str) -> None:
    @tool(effect="read")
    def look() -> Any:
        """Look."""
        return value

    seen = await observed(look)
    assert (seen.ok, seen.code) == (False, "bad_output")
    assert told in seen.text
    assert len(seen.text.splitlines()) == 1
