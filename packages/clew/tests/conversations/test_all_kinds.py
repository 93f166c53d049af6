"""Runs with every kind of part, written as messages of both forms."""

from dataclasses import dataclass
from typing import Any

import pytest

from clew import (
    Agent,
    Audio,
    ConfigError,
    File,
    Image,
    MemoryStore,
    ToolError,
    Verdict,
    read,
    run,
    tool,
)
from clew.conversations import answer_messages, to_anthropic, to_openai
from clew.guards import Provenance
from clew.interfaces import ModelInfo, Prompt, Reply
from clew.testing import ScriptedModel, act, acts, finish

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(16))
WAV = b"RIFF\x10\0\0\0WAVEfmt "
MP3 = b"ID3\x04" + bytes(12)


@dataclass
class City:
    """A city."""

    name: str


class Hears:
    """A model that takes all."""

    info = ModelInfo("hears:1", takes=frozenset({"image/", "audio/", "application/pdf"}))

    async def complete(self, prompt: Prompt, on_text: Any = None) -> Reply:
        del prompt, on_text
        return Reply("I heard.", model="hears:1")


@tool(effect="read")
def look(at: str) -> Image:
    """Look."""
    if at == "nothing":
        raise ToolError("nothing is there")
    return Image("image/png", PNG)


@tool(effect="unsafe")
def send(to: str) -> str:
    """Send."""
    return f"sent to {to}"


def ask_first(call: Any, _: Any) -> Verdict | None:
    return Verdict("hold", "ask") if call.action.name == "send" else None


async def test_a_question_of_all_kinds_is_written_in_both_forms() -> None:
    store = MemoryStore()
    parts: list[Any] = [
        "Hear these.", Audio("audio/wav", WAV), Audio("audio/mpeg", MP3),
        File("text/plain", text="two\nlines", name="note.txt"), Image("image/png", PNG),
    ]  # fmt: skip
    await run(Agent(Hears()), parts, run_id="r", store=store)
    record = await read("r", store=store)
    theirs = to_openai(record)[0]["content"]
    assert [part["type"] for part in theirs] == [
        "text", "input_audio", "input_audio", "file", "image_url",
    ]  # fmt: skip
    assert [part["input_audio"]["format"] for part in theirs[1:3]] == ["wav", "mp3"]
    others = to_anthropic(record)[0]["content"]
    assert [part["type"] for part in others] == ["text", "text", "text", "document", "image"]
    assert others[3]["source"]["data"] == "two\nlines"


async def test_calls_that_failed_wait_or_gave_pictures_are_written_so() -> None:
    store = MemoryStore()
    script = [
        acts(act("look", at="nothing"), act("look", at="sea"), act("send", to="Ada")),
        finish("x"),
    ]
    guards: list[Any] = [ask_first, Provenance("off")]
    agent = Agent(ScriptedModel(script), [look, send], guards=guards)
    held = await run(agent, "Look.", run_id="r", store=store)
    assert held.status == "held"
    record = await read("r", store=store)
    results = [each for each in to_openai(record) if each["role"] == "tool"]
    assert "nothing is there" in results[0]["content"]
    assert results[2]["content"] == "(the call has no result yet)"
    assert to_openai(record)[-1]["content"][0]["type"] == "image_url"
    blocks = to_anthropic(record)[-1]["content"]
    assert [block.get("is_error", False) for block in blocks] == [True, False, False]
    assert [part["type"] for part in blocks[1]["content"]] == ["text", "image"]


async def test_a_typed_answer_is_written_as_json() -> None:
    store = MemoryStore()
    agent = Agent(ScriptedModel([finish({"name": "Vienna"})]), answer=City)
    await run(agent, "Which?", run_id="r", store=store)
    record = await read("r", store=store)
    assert to_openai(record)[-1] == {"role": "assistant", "content": '{"name":"Vienna"}'}
    assert to_anthropic(record)[-1]["content"][0]["text"] == '{"name":"Vienna"}'


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
                ],
            },
            "a model writes nothing else",
        ),
        ({"role": "user", "content": 5}, "is no part of a message"),
        ({"role": "user", "content": [5]}, "is no part of a message"),
    ],
)
async def test_messages_that_no_model_writes_are_refused(
    message: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        await answer_messages(Agent(Hears()), [message], store=MemoryStore())


async def test_a_refusal_and_audio_are_read() -> None:
    store = MemoryStore()
    messages: list[dict[str, Any]] = [
        {
            "role": "user",
            "content": [
                {
                    "type": "input_audio",
                    "input_audio": {"data": "UklGRhAAAABXQVZFZm10IA==", "format": "wav"},
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]},
        {"role": "user", "content": "Why?"},
    ]
    result = await answer_messages(Agent(Hears()), messages, store=store)
    back = to_openai(await read(result.run_id, store=store))
    assert back[1]["content"] == "I will not."
    assert back[0]["content"][0]["type"] == "input_audio"
