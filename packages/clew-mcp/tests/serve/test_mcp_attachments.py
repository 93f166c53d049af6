"""Pictures, recordings and files that go with the question of a call."""

import base64
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from clew import Agent, Audio, File, Image, MemoryStore, read
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.testing import ScriptedModel, finish, say
from clew_mcp.serve import ServedAgent, server
from tests.serve.served import ERAS, Letters, Person, keeper, words, writer

eras = pytest.mark.parametrize("era", ERAS)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WAV = b"RIFF\x00\x00\x00\x00WAVEfmt "
PDF = b"%PDF-1.4 a bill"


def attached(kind: str, data: bytes, **more: Any) -> dict[str, Any]:
    return {"mimeType": kind, "data": base64.b64encode(data).decode(), **more}


ATTACHED = [
    attached("image/png", PNG, text="a stamp"),
    attached("audio/wav", WAV),
    attached("application/pdf", PDF, name="bill.pdf"),
    attached("text/plain", "grüß dich".encode(), name="note.txt"),
]


@eras
async def test_they_go_to_the_model_as_what_they_are(era: str) -> None:
    store = MemoryStore()
    async with Client(server([keeper([finish("12")])], store=store), mode=era) as client:
        arguments = {"question": "What is due?", "attachments": ATTACHED}
        result = await client.call_tool("keeper", arguments)
        (listed,) = (await client.list_resources()).resources
        (schema,) = [each.input_schema for each in (await client.list_tools()).tools]
    assert words(result) == "12"
    assert listed.title == "What is due?"
    assert [*schema["properties"]] == ["question", "attachments"]
    started = (await read(result.structured_content["run_id"], store=store)).started
    assert [(type(it), it.media_type, it.data, it.text) for it in started.attachments] == [
        (Image, "image/png", PNG, "a stamp"),
        (Audio, "audio/wav", WAV, ""),
        (File, "application/pdf", PDF, ""),
        (File, "text/plain", b"", "grüß dich"),
    ]
    assert started.trust == "untrusted"


@eras
async def test_a_held_call_goes_on_with_the_question_that_has_them(era: str) -> None:
    letters = Letters()
    served, person = writer(letters), Person(allow=True)
    async with Client(
        server([served], store=MemoryStore()), mode=era, elicitation_callback=person
    ) as client:
        arguments = {"question": "Write.", "attachments": ATTACHED[:1]}
        assert words(await client.call_tool("keeper", arguments)) == "It is sent."
    assert letters.sent == ["Dear Ada"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a.png", "attachments: Expected `array`, got `str`"),
        ([{"mimeType": "image/png"}], "attachments: Object missing required field `data`"),
        ([attached("image/png", PNG, path="/etc/passwd")], "unknown field `path`"),
        ([{"mimeType": "image/png", "data": "no base64!"}], "attachments[0] has data that is no"),
        ([attached("image/png", b"")], "the image in the question has no bytes: give its data"),
        (
            [ATTACHED[0], attached("image/gif", PNG)],
            "the image in the question is said to be image/gif, and is",
        ),
        (
            [attached("image/png", PNG + bytes(21_000_000))],
            "and may have 20,000,000: make it smaller",
        ),
        (ATTACHED * 6, "24 attachments are too many: give at most 20"),
        (
            [attached("text/plain", PNG)],
            "attachments[0] is said to be text/plain, and is image/png",
        ),
        (
            [attached("text/plain", b"a\0b")],
            "attachments[0] is said to be text/plain, and has a NUL",
        ),
    ],
    ids=range(10),
)
async def test_bad_ones_are_told_in_a_line_and_begin_no_run(given: Any, told: str) -> None:
    store = MemoryStore()
    async with Client(server([keeper()], store=store)) as client:
        arguments = {"question": "What is due?", "attachments": given}
        result = await client.call_tool("keeper", arguments)
    assert result.is_error
    assert told in words(result)
    assert "\n" not in words(result)
    assert await store.runs() == []


class Blind:
    """A model that takes text alone."""

    def __init__(self) -> None:
        self._script = ScriptedModel([say("12")])
        self.info: ModelInfo = replace(self._script.info, takes=frozenset())

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return await self._script.complete(prompt, on_text)


async def test_a_picture_for_a_blind_model_is_told_unless_words_stand_for_it() -> None:
    served = ServedAgent("keeper", Agent(Blind()))
    async with Client(server([served], store=MemoryStore())) as client:
        bare = {"question": "What?", "attachments": [attached("image/png", PNG)]}
        refused = await client.call_tool("keeper", bare)
        told = await client.call_tool("keeper", bare | {"attachments": ATTACHED[:1]})
    assert words(refused) == (
        "scripted:test takes no pictures of the type image/png: give it a text, or ask another "
        "model"
    )
    assert words(told) == "12"
