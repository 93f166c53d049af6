"""Prompts of several parts, the plan, limits, and questions to the person at the editor."""

import base64
from pathlib import Path

import acp
import pytest
from acp import RequestError

from clew import read
from clew_acp.content import _PIXEL
from tests.editors.editor import FILES, Editor, connect

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

PICTURE = base64.b64encode(_PIXEL).decode()


async def test_parts_become_attachments_and_are_told_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("as it is on the disk", "utf-8")
    editor = Editor(tmp_path, files={str(notes): "as it is in the editor"})
    saved = tmp_path / "saved.txt"
    saved.write_text("saved", "utf-8")
    async with connect(editor, "telling", FILES) as agent:
        session = await agent.new()
        with pytest.raises(RequestError, match="not base64"):
            await agent.ask(session, acp.image_block("no picture", "image/png"))
        with pytest.raises(RequestError, match="empty"):
            await agent.ask(session, "  ")
        await agent.ask(
            session,
            "Compare these.",
            acp.image_block(PICTURE, "image/png"),
            acp.resource_link_block("notes", notes.as_uri()),
            acp.resource_link_block("saved", saved.as_uri()),
            acp.resource_link_block("passwords", "file:///etc/passwd"),
            acp.resource_link_block("page", "https://example.com/a"),
            acp.resource_block(acp.embedded_text_resource("file:///a/b.py", "x = 1")),
            acp.resource_block(
                acp.embedded_blob_resource("file:///a/c.png", PICTURE, mime_type="image/png")
            ),
        )
        await agent.load(session)
    asked = (await read(session, store=str(tmp_path / "runs.sqlite"))).started
    texts = [part.text for part in asked.question]
    assert texts[0] == "Compare these."
    assert texts[2:4] == ["as it is in the editor", "saved"]
    assert texts[4] == "[passwords](file:///etc/passwd)"
    assert texts[5] == "[page](https://example.com/a)"
    assert texts[6:] == ["x = 1", "c.png"]
    assert [each.media_type for each in asked.attachments] == [
        "image/png", "text/plain", "text/plain", "text/plain", "image/png",
    ]  # fmt: skip
    again = [each["content"] for each in editor.told("user_message_chunk")]
    assert again[0]["text"] == "Compare these."
    assert again[1]["data"] == PICTURE


async def test_the_plan_is_told_and_a_limit_ends_the_turn(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    async with connect(editor, "planning") as agent:
        assert (await agent.ask(await agent.new(), "Who is older?")).stop_reason == "end_turn"
    (plan,) = editor.told("plan")
    assert [each["status"] for each in plan["entries"]] == ["pending"] * len(plan["entries"])
    assert any("Ada" in each["content"] for each in plan["entries"])
    limited = Editor(tmp_path)
    async with connect(limited, "limited") as agent:
        answered = await agent.ask(await agent.new(), "What is there?")
    assert answered.stop_reason == "max_turn_requests"
    assert "In short: a lighthouse." in limited.words()


async def test_the_next_prompt_answers_a_question(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    async with connect(editor, "asking") as agent:
        session = await agent.new()
        assert (await agent.ask(session, "Paint it.")).stop_reason == "end_turn"
        assert "Which colour?" in editor.words()
        assert editor.asked == []
        assert (await agent.ask(session, "Blue.")).stop_reason == "end_turn"
        assert editor.words().endswith("It is painted.")
    record = await read(session, store=str(tmp_path / "runs.sqlite"))
    assert (observation := record.call("1.1").observation) is not None
    assert (observation.text, observation.trust) == ("Blue.", "trusted")
