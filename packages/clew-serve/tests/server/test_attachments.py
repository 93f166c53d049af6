"""Pictures, recordings and files that go with what a person says over HTTP."""

import base64
from typing import Any

import pytest

from clew import Audio, File, Image, read
from clew.testing import finish
from tests.server.site import ADA, agent, site

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


def attached(kind: str, data: bytes, **more: Any) -> dict[str, Any]:
    return {"media_type": kind, "data": base64.b64encode(data).decode(), **more}


ATTACHED = [
    attached("image/png", PNG, text="a stamp"),
    attached("audio/wav", b"RIFF\x00\x00\x00\x00WAVEfmt ", text="hello"),
    attached("application/pdf", b"%PDF-1.4 a bill", text="a bill", name="bill.pdf"),
    attached("text/plain", "grüß dich".encode(), name="note.txt"),
]


async def test_they_are_on_record_as_what_they_are_with_a_question_and_with_words() -> None:
    async with site(agents={"reader": agent([finish("12"), finish("13")])}) as here:
        ada = here.by(ADA)
        run = await ada.begin("reader", "What is due?", attachments=ATTACHED)
        await ada.until_stop(run)
        words = {"say": "And now?", "attachments": ATTACHED[3:]}
        await ada.post(f"/api/runs/{run}/words", words)
        state = await ada.until_stop(run)
    record = await read(run, store="runs.sqlite")
    assert (state["answer"], state["title"]) == ("13", "What is due?")
    assert [type(each) for each in record.started.attachments] == [Image, Audio, File, File]
    assert [each.text for each in record.attachments] == [
        "a stamp", "hello", "a bill", "grüß dich", "grüß dich",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"media_type": "image/png", "data": "no base64!"},
        {"media_type": "text/plain", "data": "/w=="},
        {"media_type": "image/png", "data": "", "blob": "0123"},
        {"media_type": "image/png"},
        attached("text/plain", b"one", text="another"),  # of which one would be dropped
        {"data": ""},
    ],
)
async def test_what_is_none_is_refused_in_a_line(wrong: dict[str, Any]) -> None:
    async with site(agents={"reader": agent([finish("12")])}) as here:
        body = {"agent": "reader", "question": "What?", "attachments": [wrong]}
        answer = await here.by(ADA).ask("POST", "/api/runs", body)
        many = {**body, "attachments": ATTACHED[3:] * 21}
        more = await here.by(ADA).ask("POST", "/api/runs", many)
        assert (await here.by(ADA).get("/api/runs"))["runs"] == []
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    assert (more.status_code, more.json()["error"]) == (422, "invalid")
