"""A picture a tool returned: kept once, shown to a model that sees, named to one that does not."""

import base64
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Image, Observation, Tool, open_store, read, replay, run, tool
from clew.models.openai.chat import openai_chat
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CALL = Say("I look.", calls=[("draw", "{}")])


@tool(effect="read")
async def draw() -> Image:
    """Draw a pixel."""
    return Image("image/png", PIXEL)


@tool(effect="read", name="draw")
async def draw_two() -> Observation:
    """Draw two pixels and say so."""
    return Observation(content="two pixels", attachments=(Image("image/png", PIXEL, "one"),) * 2)


async def play(script: list[Any], folder: Path, used: Tool = draw, codec: str = "native") -> Any:
    """The requests of a run, and its record read back from the disk."""
    store = open_store(folder / "runs.sqlite")
    with OpenAIServer(script, key="k") as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key="k")
        agent = Agent(model=model, tools=[used], codec=codec)
        found = await run(agent, "Draw!", store=store, run_id="run")
        await model.close()
        requests = [request.body["messages"] for request in server.requests]
    assert found.status == "answered"
    record = await read("run", store=store)
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
    lines = await store.read("run")
    await store.close()
    return requests, record, lines


async def test_a_model_that_sees_is_shown_the_picture_after_the_results(tmp_path: Path) -> None:
    requests, record, lines = await play([CALL, Say("A pixel.")], tmp_path)
    result, shown = requests[1][-2:]
    assert (result["role"], result["content"]) == ("tool", "an image (image/png, 70 bytes)")
    assert shown["role"] == "user"
    url = shown["content"][1]["image_url"]["url"]
    assert url == "data:image/png;base64," + base64.b64encode(PIXEL).decode()
    assert record.call("1.1").observation.attachments[0].data == PIXEL
    assert all(base64.b64encode(PIXEL)[:40] not in line.body for line in lines)


async def test_two_of_the_same_are_kept_once(tmp_path: Path) -> None:
    requests, record, _ = await play([CALL, Say("Two.")], tmp_path, draw_two)
    assert [block["type"] for block in requests[1][-1]["content"]] == [
        "text",
        "image_url",
        "image_url",
    ]
    blobs = {image.blob for image in record.call("1.1").observation.attachments}
    assert len(blobs) == 1


@pytest.mark.parametrize(
    "message", ["This model does not support image input.", "At most 0 image(s) may be provided."]
)
async def test_a_model_that_does_not_see_is_told_of_it(message: str, tmp_path: Path) -> None:
    script = [CALL, Fail(400, message), Say("I cannot see it.")]
    requests, _, _ = await play(script, tmp_path, draw_two)
    assert requests[-1][-1]["content"] == (
        "two pixels\n(not shown here: one)\n(not shown here: one)"
    )


async def test_in_text_formats_the_observation_carries_the_picture(tmp_path: Path) -> None:
    script = [Say("Thought: I look.\nAction: draw\nAction Input: {}"), Say("Final Answer: seen")]
    requests, _, _ = await play(script, tmp_path, codec="labelled")
    assert [block["type"] for block in requests[1][-1]["content"]] == ["text", "image_url"]


async def test_a_named_picture_without_words_is_named_by_its_type(tmp_path: Path) -> None:
    script = [CALL, Fail(400, "images are not supported"), Say("I cannot see it.")]
    requests, _, _ = await play(script, tmp_path)
    assert requests[-1][-1]["content"].endswith("(not shown here: an image (image/png))")
