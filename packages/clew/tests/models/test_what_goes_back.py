"""What a provider demands back goes back, whatever was repaired in the reply that it came with."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, ModelSettings, run
from clew.core.prompts import Part, Prompt
from clew.core.tools import Retry, Tool
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.gemini.prompt import STAND_IN
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.doors import DOORS, DoorServer, ThinkingServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Fail, Say
from clew_testing.servers.openai_server import OpenAIServer
from tests.models.door_talk import clock, look
from tests.models.support import KEY, call, tool

MENDED: dict[str, list[tuple[str, str | None]]] = {
    "no arguments": [("clock", None)],
    "empty arguments": [("clock", "")],
    "beside a whole one": [("look", '{"name": "a"}'), ("clock", "")],
    "twice": [("clock", ""), ("clock", None)],
}
SPELLED = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'


async def _requests(
    serve: Any, make: Any, said: Say, model_name: str = "scripted", **options: Any
) -> list[Any]:
    """The bodies of a run whose model says this, and then answers."""
    with serve([said, Say("Noon.")], key=KEY) as server:
        given = {"base_url": server.base_url, "api_key": KEY, "retries": Retry(times=0)} | options
        model = make(model_name, **given)
        done = await run(Agent(model=model, tools=[clock, look]), "When?", store=MemoryStore())
        await model.close()
        assert done.answer == "Noon."
        return [seen.body for seen in server.requests]


@pytest.mark.parametrize("how", MENDED)
async def test_responses_reasoning_goes_back_with_a_mended_call(how: str) -> None:
    said = Say("", MENDED[how], reasoning="First the clock.")
    first, then = await _requests(OpenAIServer, openai_responses, said)
    kinds = [item.get("type") for item in then["input"][len(first["input"]) :]]
    assert kinds[0] == "reasoning"
    assert kinds.count("function_call") == len(MENDED[how])


@pytest.mark.parametrize("others", [[], [("look", '{"name": "a"}')], [("clock", None)]])
async def test_a_signature_goes_back_with_a_mended_call(others: Any) -> None:
    said = Say("", [("clock", None), *others], reasoning="First the clock.")
    _, then = await _requests(GeminiServer, google_gemini, said, "gemini-3-pro")
    [turn] = [content for content in then["contents"] if content["role"] == "model"]
    signed = [part.get("thoughtSignature") for part in turn["parts"] if "functionCall" in part]
    assert signed[0] not in {None, STAND_IN}


@pytest.mark.parametrize("text", [SPELLED, f"I look.\n{SPELLED}"])
async def test_signed_thinking_goes_back_before_a_call_that_stood_in_the_text(text: str) -> None:
    said = Say(text, reasoning="First the clock.")
    thinking = ModelSettings(reasoning_tokens=2000)
    _, then = await _requests(AnthropicServer, anthropic_messages, said, settings=thinking)
    [turn] = [one for one in then["messages"] if one["role"] == "assistant"]
    assert turn["content"][0]["type"] == "thinking"
    assert turn["content"][-1]["type"] == "tool_use"


@pytest.mark.parametrize("how", MENDED)
async def test_unsigned_thinking_goes_back_to_the_door_that_sent_it(how: str) -> None:
    said = Say("", MENDED[how], reasoning="First the clock.")
    _, then = await _requests(ThinkingServer, anthropic_messages, said)
    [turn] = [one for one in then["messages"] if one["role"] == "assistant"]
    assert turn["content"][0]["thinking"] == "First the clock."


async def test_anthropic_itself_is_spared_unsigned_thinking() -> None:
    """A conversation that a door began goes on at the service, under the same name."""
    with ThinkingServer([Say("", [("search", "{}")], reasoning="Hm.")], key=KEY) as server:
        model = anthropic_messages("scripted", base_url=server.base_url, api_key=KEY)
        reply = await model.complete(Prompt((Part("user", "?"),), (), (), (tool("search"),)))
        await model.close()
    said = Part("assistant", "", calls=reply.calls, wire=reply.wire)
    found = Part("tool", "found", call_id=reply.calls[0].id, name="search")
    prompt = Prompt((Part("user", "?"),), (said, found), (), (tool("search"),))
    refusal = Fail(400, "messages.1.content.0.thinking.signature: Field required")
    with ThinkingServer([refusal, Say("Ok.")], key=KEY) as server:
        model = anthropic_messages("scripted", base_url=server.base_url, api_key=KEY)
        await model.complete(prompt)
        await model.close()
    kinds = [
        [block["type"] for block in seen.body["messages"][1]["content"]]
        for seen in server.requests[:2]
    ]
    assert kinds == [["thinking", "tool_use"], ["tool_use"]]


DEEP: dict[str, Any] = {"type": "object", "properties": {"inner": {"$ref": "#/$defs/deep"}}}
ODD: dict[str, Any] = {
    "a reference": {"$ref": "#/$defs/name", "description": "A name."},
    "a reference to nothing": {"$ref": "#/$defs/nothing"},
    "a reference elsewhere": {"$ref": "https://example.org/schema.json"},
    "a circle": {"$ref": "#/$defs/deep"},
    "or null": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
    "a choice": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "two types": {"type": ["null", "integer"], "minimum": 3},
    "values": {"enum": ["a", "b"], "default": "a"},
    "mixed values": {"enum": ["a", 1, None]},
    "a list": {"type": "array", "items": {"type": "string", "format": "uri"}, "uniqueItems": True},
    "a list of anything": {"type": "array"},
    "patterns of names": {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
    "true": True,
    "a property named like a keyword": {"type": "object", "properties": {"pattern": {}}},
    "all of": {"allOf": [{"type": "string"}, {"pattern": "a"}]},
}


@pytest.mark.parametrize("how", ODD)
async def test_a_schema_is_told_in_a_few_keywords_where_others_are_refused(how: str) -> None:
    parameters = {
        "type": "object",
        "properties": {"it": ODD[how]},
        "required": ["it"],
        "$defs": {"name": {"type": "string", "pattern": "x"}, "deep": DEEP},
    }
    odd = Tool("search", "Search.", parameters, tool("search").call)
    made = call("search", '{"it": 1}')
    parts = (
        Part("assistant", "", calls=(made,)),
        Part("tool", "a", call_id=made.id, name="search"),
    )
    with DoorServer(DOORS["a few keywords"], [Say("Ok.")], key=KEY) as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key=KEY)
        reply = await model.complete(Prompt((Part("user", "?"),), parts, (), (odd,)))
        await model.close()
    assert reply.adapted is not None
    assert set(reply.adapted.what) == {"patterns", "schemas"}
    sent = server.requests[-1].body["tools"][0]["function"]["parameters"]
    assert sent["required"] == ["it"]
    assert "it" in sent["properties"]
