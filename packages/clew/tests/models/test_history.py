"""Repairs of a conversation: chosen by the complaint, made once, recorded, and at last as text."""

import itertools
from typing import Any

import pytest

from clew import Agent, MemoryStore, ModelError, replay, resume, run
from clew.core.events import Thought
from clew.core.journal import load
from clew.core.prompts import Part, Prompt
from clew.core.tools import Retry, Tool
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew_testing.servers.doors import DOORS, NO_TOOLS, Door, DoorServer
from clew_testing.servers.http_server import Fail, ReceivedRequest, Say, Turn
from clew_testing.servers.openai_server import OpenAIServer
from tests.models.door_talk import clock, look, shot
from tests.models.support import KEY, call, over, tool

TOOLS = (tool("search"),)
LOOKED = Say("", [("look", '{"name": "a"}')])


def spoken(*more: Part) -> Prompt:
    """A conversation with a step of two calls behind which somebody said something."""
    parts = (
        Part("assistant", "I look.", calls=(call("search", id="look:0"), call("search", id="b"))),
        Part("tool", "found", call_id="look:0", name="search"),
        Part("tool", "nothing", call_id="b", name="search"),
        Part("user", "NOTE: two steps are left."),
        *more,
    )
    return Prompt((Part("system", "Be brief."), Part("user", "What is it?")), parts, (), TOOLS)


def roles(seen: ReceivedRequest) -> str:
    return "".join(message["role"][0] for message in seen.body["messages"])


WORDINGS = {
    "Unexpected role 'user' after role 'tool'": "suattau",
    "Expected last role User or Tool for serving but got assistant": "suattau",
    "Conversation roles must alternate user/assistant/user/assistant/...": "suattau",
    "messages: roles must alternate between 'user' and 'assistant'": "suattau",
    "invalid_request_message_order": "suattau",
    "Invalid order of messages": "suattau",
    "System message must be at the beginning.": "suattau",
    "A conversation must start with a user message": "suattau",
    "No user query found in messages.": "suattau",
    "This model only supports single tool-calls at once!": "suatatu",
    "parallel tool calls are not supported by this model": "suatatu",
    "multiple tool calls in one message are not allowed": "suatatu",
    "System role not supported": "uattau",
    "Developer instruction is not enabled for models/x": "uattau",
    "system prompt is not supported by this model": "uattau",
}


@pytest.mark.parametrize("said", WORDINGS)
async def test_a_complaint_about_roles_is_answered_by_its_repair(said: str) -> None:
    async with over([Fail(400, said), Say("Ok.")]) as (model, server, _):
        assert (await model.complete(spoken())).text == "Ok."
    assert roles(server.requests[0]) == "suattu"
    assert roles(server.requests[1]) == WORDINGS[said]


IDS = [
    "Tool call id was look:0 but must be a-z, A-Z, 0-9, with a length of 9.",
    "Invalid 'messages[2].tool_calls[0].id': string does not match pattern.",
    "messages.2.tool_call_id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "Invalid 'input[2].call_id': string too long.",
    "toolUseId failed to satisfy constraint: Member must satisfy regular expression pattern",
    "tool_use.id: invalid characters",
]


@pytest.mark.parametrize("said", IDS)
async def test_a_complaint_about_the_shape_of_ids_is_answered(said: str) -> None:
    async with over([Fail(400, said), Say("Ok.")]) as (model, server, _):
        await model.complete(spoken())
    sent = server.requests[1].body["messages"]
    ids = [one["id"] for one in sent[2]["tool_calls"]]
    assert all(len(one) == 9 and one.isalnum() for one in ids)
    assert ids == [sent[3]["tool_call_id"], sent[4]["tool_call_id"]]


@pytest.mark.parametrize(
    "said",
    [
        "Duplicate function_call_output for call_id 'look:0'.",
        "Duplicate 'call_id': look:0",
        "Duplicate item found with id fc_1. Remove duplicate items from your input and try again.",
        "messages.3.content.0: `tool_use` ids must be unique",
        "tool call look:0 is already used",
        "tool_call_id look:0 appears more than once",
    ],
)
async def test_ids_that_come_twice_are_told_apart(said: str) -> None:
    again = (
        Part("assistant", "", calls=(call("search", id="look:0"),)),
        Part("tool", "found again", call_id="look:0", name="search"),
    )
    async with over([Fail(400, said), Say("Ok.")]) as (model, server, _):
        await model.complete(spoken(*again))
    before, after = (seen.body["messages"] for seen in server.requests)
    assert [one["id"] for one in before[6]["tool_calls"]] == ["look:0"]
    assert [one["id"] for one in after[2]["tool_calls"]] == ["look:0", "b"]
    assert (
        [one["id"] for one in after[6]["tool_calls"]] == [after[7]["tool_call_id"]] == ["look:0_2"]
    )


@pytest.mark.parametrize("streamed", [False, True])
async def test_responses_never_sends_an_id_twice(streamed: bool) -> None:
    """The service refuses it: a chat model's ids begin anew with each step."""
    again = (
        Part("assistant", "", calls=(call("search", id="look:0"),)),
        Part("tool", "found again", call_id="look:0", name="search"),
    )
    hear = (lambda _: False) if streamed else None
    async with over([Say("Ok.")], make=openai_responses) as (model, server, _):
        await model.complete(spoken(*again), hear)
    sent = server.requests[0].body["input"]
    assert [one["call_id"] for one in sent if one.get("type") == "function_call_output"] == [
        "look:0",
        "b",
        "look:0_2",
    ]


REASONING = [
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant message at index 2",
    "Missing `reasoning_content` field in the assistant message at message index 2.",
    "messages[2]: reasoning_content is required in thinking mode",
    "reasoning_content cannot be empty",
]


@pytest.mark.parametrize("said", REASONING)
async def test_reasoning_that_is_demanded_has_a_stand_in(said: str) -> None:
    async with over([Fail(400, said), Say("Ok.")]) as (model, server, _):
        await model.complete(spoken())
    assert server.requests[1].body["messages"][2]["reasoning_content"] == " "


@pytest.mark.parametrize(
    "said",
    [
        "messages: something about this conversation is wrong",
        "tool_result blocks are not where they should be",
        "Bad Request",
        "Provider returned error",
        "Request contains an invalid argument.",
        "",
        "Please ensure that function response turn comes immediately after a function call turn.",
        "assistant prefill is not possible",
        "invalid chat history",
        "The thought of step 3 is not known here",
    ],
)
async def test_what_nobody_knows_is_answered_by_sending_earlier_steps_as_text(said: str) -> None:
    prompt = spoken()
    async with over([Fail(400, said), Say("Ok."), Say("Ok.")]) as (model, server, _):
        reply = await model.complete(prompt)
        await model.complete(prompt)
    assert [roles(seen) for seen in server.requests] == ["suattu", "su", "su"]
    told = server.requests[1].body["messages"][1]["content"]
    assert all(word in told for word in ("What is it?", "I look.", "search", "found", "two steps"))
    assert server.requests[1].body["tools"] == server.requests[0].body["tools"]
    assert reply.adapted is not None
    assert reply.adapted.what == ("text",)


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided",
        "The model `x` does not exist",
        "this message was flagged by our content policy",
        "messages were blocked by the safety system",
        "Unknown model: x",
        "billing: no credits for this conversation",
        "max_tokens: 100 is too small for this message",
        "temperature must be at most 1",
        "top_p is not for this role",
    ],
)
async def test_a_refusal_for_something_else_is_told_at_once(said: str) -> None:
    async with over([Fail(400, said)]) as (model, server, _):
        with pytest.raises(ModelError, match="refused the request"):
            await model.complete(spoken())
    assert len(server.requests) == 1


async def test_one_that_always_complains_is_asked_a_bounded_number_of_times() -> None:
    def never(body: Any) -> Fail:
        return Fail(400, "the messages of this conversation are not in order")

    async with over(never) as (model, server, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(spoken())
        first = len(server.requests)
        with pytest.raises(ModelError):
            await model.complete(spoken())
    said = str(caught.value)
    assert first <= 3
    assert len(server.requests) == 2 * first  # what did not help is not kept
    assert "not in order" in said
    assert "earlier steps are sent as text" in said
    assert "another model" in said
    assert "fork" in said


SCHEMAS = [
    "Invalid schema for function 'search': '\\\\p{L}+' is not a 'regex'.",
    "Invalid JSON schema: regex lookaround is not supported. Found at $.properties.x.pattern.",
    "JSON schema conversion failed: Pattern must start with '^' and end with '$'",
    "tools.0.custom.input_schema: JSON schema is invalid",
    "invalid_function_parameters",
    "failed to parse grammar",
    "Unknown name \"pattern\" at 'tools[0].function_declarations[0].parameters'",
    "In context=('properties', 'query'), schema must have a 'type' key.",
    "unsupported regular expression in tools",
    "the schema's pattern is not supported",
]


@pytest.mark.parametrize("said", SCHEMAS)
async def test_a_schema_that_is_refused_goes_out_with_less(said: str) -> None:
    parameters = {
        "type": "object",
        "properties": {"pattern": {"type": "string", "pattern": r"\p{L}+", "format": "email"}},
        "required": ["pattern"],
    }
    odd = Tool("search", "Search.", parameters, TOOLS[0].call)
    prompt = Prompt((Part("user", "?"),), (), (), (odd,))
    async with over([Fail(400, said), Fail(400, said), Fail(400, said), Say("Ok.")]) as (
        model, server, _,
    ):  # fmt: skip
        assert (await model.complete(prompt)).text == "Ok."
    sent = [one.body["tools"][0]["function"] for one in server.requests]
    assert sent[0]["parameters"] == parameters
    assert sent[1]["parameters"]["properties"] == {"pattern": {"type": "string"}}
    assert sent[2]["parameters"]["required"] == ["pattern"]
    assert sent[3]["parameters"] == {"type": "object", "properties": {}}
    assert "p{L}" in sent[3]["description"]


@pytest.mark.parametrize(
    "said",
    [
        "registry.ollama.ai/library/gemma:latest does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "No endpoints found that support tool use",
        "tools is not supported in this model",
        "Function calling is not enabled for models/gemma-3",
        "This model does not support function calling",
        "tool calling is not supported",
        "`tools` is not supported with this model",
        "tool use is unsupported",
        "Unrecognized request argument supplied: tools",
    ],
)
async def test_a_server_that_takes_no_tools_names_the_codec(said: str) -> None:
    async with over([Fail(404 if "endpoints" in said else 400, said)]) as (model, server, _):
        with pytest.raises(ModelError, match=r"takes no tools .*codec='labelled'") as caught:
            await model.complete(spoken())
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "said",
    [
        "invalid tool generation: additionalProperties is not supported",
        "tool look: additionalProperties is not supported. Tool definitions are checked.",
        "tools.0: minLength is not supported; tools.1: maxItems is not supported",
        "tools.0.function.parameters: anyOf is not supported\ntools.1 was not looked at",
        "tools[0]: oneOf are not supported",
        "function call declarations: $ref is not supported",
        "tool 'look': patternProperties is not supported by this model: tools keep it out",
        "Unsupported keyword in tool: uniqueItems",
        "tools.0: prefixItems not supported",
        "tool look: exclusiveMinimum is unsupported",
    ],
)
async def test_a_word_of_schemas_that_is_not_supported_leaves_the_tools(said: str) -> None:
    async with over([Fail(400, said), Say("Ok.")]) as (model, server, _):
        assert (await model.complete(spoken())).text == "Ok."
    assert all(one.body["tools"] for one in server.requests)


async def test_the_codec_that_it_names_does() -> None:
    said = "Thought: I look.\nAction: clock\nAction Input: {}"
    with DoorServer(NO_TOOLS, [Say(said), Say("Final Answer: noon")], key=KEY) as server:
        model = _model(server)
        with pytest.raises(ModelError, match="codec='labelled'"):
            await run(Agent(model=model, tools=[clock]), "When?", store=MemoryStore())
        who = Agent(model=model, tools=[clock], codec="labelled")
        assert (await run(who, "When?", store=MemoryStore())).answer == "noon"
        await model.close()


def _model(server: Any, **options: Any) -> Any:
    given = {"base_url": server.base_url, "api_key": KEY, "retries": Retry(times=0)} | options
    return openai_chat("scripted", **given)


PAST = ("mistral", "deepseek", "kimi", "unique ids", "vllm with mistral's template", "gemini")


@pytest.mark.parametrize("name", PAST)
async def test_a_repair_is_recorded_and_known_in_another_process(name: str) -> None:
    door, store = DOORS[name], MemoryStore()
    script = [LOOKED, LOOKED, Say("A."), LOOKED, Say("B."), LOOKED, Say("C.")]
    with DoorServer(door, script, key=KEY) as server:
        refused: list[int] = []
        for turn in range(3):
            before, model = len(server.requests), _model(server)
            who = Agent(model=model, tools=[look, shot])
            if turn:
                await resume(who, "run", say="And?", store=store)
            else:
                await run(who, "What?", store=store, run_id="run")
            asked = len(server.requests) - before
            refused.append(asked - (2 if turn else 3))
            await model.close()
        who = Agent(model=_model(server), tools=[look, shot])
        record = await load(store, "run")
        assert (await replay(who, "run", store=store)).trajectory.entries == record.entries
    adapted = [one.event.reply.adapted for one in record.entries if isinstance(one.event, Thought)]
    assert refused[2] == 0
    last = adapted[-1]
    if sum(refused):
        assert last is not None
        assert last.model == "openai:scripted"


@pytest.mark.parametrize("name", ["mistral", "kimi", "unique ids", "vllm with mistral's template"])
async def test_a_repaired_prompt_only_grows_at_its_end(name: str) -> None:
    """So that the provider's cache of prefixes stays good: it is given up once for a repair."""
    script = [Say("", [("look", f'{{"name": "{number}"}}')]) for number in range(12)]
    with DoorServer(DOORS[name], [*script, Say("Done.")], key=KEY) as server:
        model = _model(server)
        await run(Agent(model=model, tools=[look]), "What?", store=MemoryStore())
        await model.close()
    sent = [seen.body["messages"] for seen in server.requests]
    breaks = [one[: len(before)] != before for before, one in itertools.pairwise(sent)]
    assert sum(breaks) <= len(sent) - 13  # as many as were refused


@pytest.mark.parametrize(
    "calls",
    [
        [("clock", None)],
        [("clock", "")],
        [("clock", " ")],
        [("clock", "\n")],
        [("clock", None), ("look", '{"name": "a"}')],
        [("look", '{"name": "\\ud800"}')],
        [("clock", "{}"), ("clock", "")],
    ],
)
@pytest.mark.parametrize("name", ["deepseek", "kimi", "gemini"])
async def test_what_must_go_back_goes_back_with_a_repaired_call(name: str, calls: Any) -> None:
    thinks = Say("", calls, reasoning="First the clock.")
    with DoorServer(DOORS[name], [thinks, Say("Noon.")], key=KEY) as server:
        model = _model(server)
        done = await run(Agent(model=model, tools=[look, clock]), "When?", store=MemoryStore())
        await model.close()
    assert done.answer == "Noon."
    assert len(server.requests) == 2  # nothing was refused
    said = server.requests[1].body["messages"][2]
    if name == "gemini":
        assert said["tool_calls"][0]["extra_content"]
    assert said["reasoning_content"] == "First the clock."


async def test_an_error_500_of_a_template_is_no_failure_of_the_server() -> None:
    door = Door(
        "x", DOORS["vllm with mistral's template"].rules, 500, DOORS["llama's template"].error
    )
    with DoorServer(door, [Say("Ok.")], key=KEY) as server:
        model = _model(server)
        assert (await model.complete(spoken())).text == "Ok."
        await model.close()
    assert len(server.requests) == 2


async def test_two_runs_of_one_model_are_told_apart() -> None:
    """What was refused of one conversation says nothing about another."""
    other = Prompt((Part("system", "Be brief."), Part("user", "And?")), (), (), TOOLS)
    async with over([Fail(400, "Bad Request"), Say("Ok."), Say("Ok.")]) as (model, server, _):
        first, second = await model.complete(spoken()), await model.complete(other)
    assert first.adapted is not None
    assert second.adapted is None
    assert [roles(seen) for seen in server.requests] == ["suattu", "su", "su"]


async def test_another_models_repairs_are_not_taken_over() -> None:
    store = MemoryStore()
    with DoorServer(DOORS["mistral"], [LOOKED, Say("A.")], key=KEY) as strict:
        model = _model(strict)
        await run(Agent(model=model, tools=[look]), "What?", store=store, run_id="run")
        await model.close()
    with OpenAIServer([Say("B.")], key=KEY) as plain:
        model = _model(plain, provider="vllm")
        who = Agent(model=model, tools=[look])
        await resume(who, "run", say="And?", store=store, accept_change=True)
        await model.close()
    assert plain.requests[0].body["messages"][2]["tool_calls"][0]["id"] == "call_0"


SAID: Any = {
    "the model begins": (["assistant"], "uau"),
    "the model begins behind the system prompt": (["system", "assistant", "user"], "suau"),
    "the model follows itself": (["user", "assistant", "assistant", "user"], "uauau"),
    "a system message in the middle": (["system", "user", "assistant", "system", "user"], "suau"),
    "two system messages": (["system", "system", "user"], "su"),
    "the model has the last word": (["system", "user", "assistant"], "suau"),
    "a system prompt only": (["system"], "s"),
}


@pytest.mark.parametrize("how", SAID)
async def test_whatever_was_said_it_is_in_turns(how: str) -> None:
    parts, expected = SAID[how]
    prompt = Prompt((), [Part(role, f"{role}.") for role in parts])
    refusal = Fail(400, "Conversation roles must alternate user/assistant/user/assistant/...")
    async with over([refusal, Say("Ok.")]) as (model, server, _):
        await model.complete(prompt)
    assert roles(server.requests[1]) == expected


@pytest.mark.parametrize(("parts", "expected"), [(["system"], "u"), (["user"], "u")])
async def test_without_a_system_role(parts: Any, expected: str) -> None:
    prompt = Prompt(tuple(Part(role, f"{role}.") for role in parts), [])
    async with over([Fail(400, "System role not supported"), Say("Ok.")]) as (model, server, _):
        await model.complete(prompt)
    assert roles(server.requests[1]) == expected


async def test_calls_of_their_own_are_told_apart_one_by_one() -> None:
    """Ids and single calls together, and neither turns nor text."""
    script: list[Turn] = [
        Fail(400, "This model only supports single tool-calls at once!"),
        Fail(400, "Tool call id was look:0 but must be a-z, A-Z, 0-9, with a length of 9."),
        Say("Ok."),
    ]
    async with over(script) as (model, server, _):
        await model.complete(spoken())
    assert roles(server.requests[-1]) == "suatatu"
    sent = server.requests[-1].body["messages"]
    assert [one["tool_calls"][0]["id"] for one in (sent[2], sent[4])] == [
        sent[3]["tool_call_id"],
        sent[5]["tool_call_id"],
    ]


async def test_a_step_that_said_nothing_is_told_as_that() -> None:
    prompt = spoken(Part("assistant", ""), Part("user", "And?"))
    async with over([Fail(400, "Bad Request"), Say("Ok.")]) as (model, server, _):
        await model.complete(prompt)
    assert "[you said nothing]" in server.requests[1].body["messages"][1]["content"]
