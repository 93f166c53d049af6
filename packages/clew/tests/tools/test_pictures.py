"""Pictures in what a tool returns: shown as pictures wherever they stand, never told as text."""

import base64
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, cast

import msgspec
import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.core.contents import Audio, File, Image, Observation, RawCall, Reply
from clew.core.tools import Tool
from clew.guards import Provenance
from clew.models.openai.chat import openai_chat
from clew.testing.models import ScriptedModel, act, say
from clew.tools.fallback import with_fallback
from clew_testing.servers.openai_server import OpenAIServer, Say

BYTES = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 60
JPEG = b"\xff\xd8\xff" + bytes(range(256)) * 60
ONE, TWO = Image("image/png", BYTES, "the first"), Image("image/jpeg", JPEG)


@dataclass
class Page:
    text: str
    picture: Image


class Struct(msgspec.Struct):
    shown: list[Image]


class Named(NamedTuple):
    left: Image
    right: Image


class Placed(NamedTuple):
    picture: Image
    at: int


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
    assert (seen.ok, len(seen.attachments)) == (True, number)
    assert all(image.data in {BYTES, JPEG} for image in seen.attachments)
    assert len(seen.text) < 400
    assert "the first" in seen.text
    assert base64.b64encode(BYTES[:30]).decode() not in seen.text


@pytest.mark.parametrize("kind", [list[Image], dict[str, Image], tuple[Image, ...], Page, Typed,
                                  list[Page], Image | None, list[Image] | str, Struct, Placed],
    ids=repr,
)  # fmt: skip
async def test_a_declared_type_with_pictures_is_no_misfit(kind: Any) -> None:
    values: dict[Any, Any] = {
        Page: Page("see", ONE), Typed: {"image": ONE}, list[Page]: [Page("see", ONE)],
        dict[str, Image]: {"a": ONE}, Struct: Struct([ONE]), Image | None: ONE,
        Placed: Placed(ONE, 3),
    }  # fmt: skip

    def look() -> Any:
        """Look."""
        return values.get(kind, [ONE])

    look.__annotations__["return"] = kind
    seen = await observed(tool(effect="read")(look))
    assert (seen.ok, len(seen.attachments)) == (True, 1)


async def test_a_named_tuple_with_a_picture_keeps_its_names() -> None:
    @tool(effect="read")
    def look() -> Placed:
        """Look."""
        return Placed(ONE, 3)

    assert (await observed(look)).content == {"picture": "the first", "at": 3}


async def test_a_tool_made_by_hand_and_an_observation_may_hold_them_too() -> None:
    async def look(args: dict[str, Any], key: str) -> Any:
        return [ONE, {"then": TWO}]

    async def observe(args: dict[str, Any], key: str) -> Any:
        return Observation(content={"image": TWO}, attachments=(ONE,))

    for call in (look, observe):
        seen = await observed(Tool("look", "Look.", {"type": "object"}, call, effect="read"))
        assert (seen.ok, len(seen.attachments)) == (True, 2)


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
    assert (seen.ok, len(seen.attachments)) == (True, 2)


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
        (Image(None, data=b"x"), "the media type of the image is a value of the type NoneType"),  # type: ignore[arg-type] # what a user may give
        (Image("image/png"), "the image has no bytes: give its data"),
        (Image("image/png", JPEG), "the image is said to be image/png, and is image/jpeg"),
        (
            Audio("audio/wav", b"hello"),
            "the audio is said to be audio/wav, but its bytes are no recording that clew knows",
        ),
        (
            File("application/pdf", b"<html>"),
            "the file is said to be application/pdf, but its bytes are of no kind",
        ),
        (File("text/csv", b""), "the file has no bytes"),
        (
            File("application/pdf", b"%PDF-", name="half \ud83d"),
            "the name of the file is a text with",
        ),
        (Image("image/png", BYTES + bytes(20_000_000)), "bytes, and may have 20,000,000"),
        (Observation(content="", attachments=cast("Any", [ONE])), "attachments of the type list"),
        (Observation(content="", attachments=cast("Any", ("x",))), "an attachment of the type str"),
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
    assert told in seen.text.splitlines()[0]
    assert not seen.attachments
    assert len(seen.text.splitlines()) <= 1 + isinstance(value, list | dict)


async def test_a_bad_one_takes_nothing_else_with_it_and_no_effect() -> None:
    @tool(effect="unsafe")
    def book(hotel: str = "Ritz") -> Any:
        """Book a room."""
        return {"number": 77, "photo": ONE, "bill": File("application/pdf", b"<html>")}

    store = MemoryStore()
    model = ScriptedModel([act("book"), say("Booked.")], plan=None)
    agent = Agent(model=model, tools=[book], guards=[Provenance("off")])
    result = await run(agent, "Book.", store=store)
    [call] = (await read(result.run_id, store=store)).calls
    seen = call.observation
    assert seen is not None
    assert (seen.ok, seen.outcome, call.changed, seen.attachments[0].data) == (
        False,
        "done",
        True,
        BYTES,
    )
    told, rest = seen.text.split("\n")
    assert told.endswith(
        "the file is said to be application/pdf, but its bytes are of no kind that clew knows"
    )
    assert '"number":77' in rest


async def test_a_tool_that_makes_one_of_no_bytes_has_failed_with_the_line() -> None:
    @tool(effect="read")
    def look() -> Image:
        """Look at it."""
        return Image("image/png", cast("Any", "text"))

    agent = Agent(ScriptedModel([act("look"), say("Nothing.")]), [look], store=MemoryStore())
    record = await read((await run(agent, "Look.")).run_id, store=agent.store)
    (call,) = record.calls
    assert call.observation is not None
    assert "are of the type str: give the bytes of its file" in call.observation.text
