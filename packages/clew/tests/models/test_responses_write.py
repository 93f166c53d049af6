"""The Responses API, the way out: what a strict server takes, and what comes back in its place."""

from typing import Any

import msgspec
import pytest

from clew import ModelSettings
from clew.core.contents import Image, RawCall, Reply, Wire
from clew.core.prompts import Part, Prompt
from clew.models.openai.responses import openai_responses
from clew.models.openai.responses_reply import ResponsesReplyBuilder
from clew.models.tool_names import toolbox
from clew.support.errors import ConfigError, ModelError
from clew_testing.servers.openai_server import Fail, Say, Turn
from tests.models.support import KEY, ask, call, few, listener, over, tool

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is it?"}
TOOLS = (tool("search"),)
BOTH = pytest.mark.parametrize("streamed", [False, True])
TWO = [("search", '{"query": "x"}'), ("search", '{"query":  "y"}')]


def responses(script: Any, **options: Any) -> Any:
    return over(script, make=openai_responses, **options)


def told(reply: Reply) -> tuple[Part, ...]:
    """What a reply becomes in the next prompt, with a result for each of its calls."""
    said = Part("assistant", reply.text.strip(), calls=reply.calls, wire=reply.wire)
    return (said, *(Part("tool", "found", call_id=each.id) for each in reply.calls))


def prompt(*parts: Part, **more: Any) -> Prompt:
    head = (Part("system", "Be brief."), Part("user", "What is it?"))
    given: dict[str, Any] = {"tools": TOOLS} | more
    return Prompt(head, parts, **given)


async def test_a_whole_conversation_goes_out_as_the_api_wants_it() -> None:
    parts = (
        Part("assistant", "", calls=(call("search"), call("search", None, "call_2"))),
        Part("tool", "found", call_id="call_1", name="search"),
        Part("tool", "nothing", call_id="call_2", name="search"),
        Part("assistant", "It is late."),
    )
    given = prompt(*parts, tail=(Part("user", "Two steps left."),))
    extra = {"include": ["x"], "text": {"verbosity": "low"}}
    settings = ModelSettings(effort="low", extra=extra)
    async with responses([Say("Ok.")], settings=settings) as (model, server, _):
        await model.complete(given)
    body = server.requests[0].body
    assert server.requests[0].path == "/v1/responses"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    inputs, tools = body.pop("input"), body.pop("tools")
    assert body == {
        "model": "scripted",
        "store": False,
        "include": ["x", "reasoning.encrypted_content"],
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low"},
    }
    made = {"type": "function_call", "name": "search"}
    output = {"type": "function_call_output"}
    assert inputs == [
        SYSTEM,
        USER,
        {**made, "call_id": "call_1", "arguments": '{"query": "x"}'},
        {**made, "call_id": "call_2", "arguments": "{}"},
        {**output, "call_id": "call_1", "output": "found"},
        {**output, "call_id": "call_2", "output": "nothing"},
        {"role": "assistant", "content": "It is late."},
        {"role": "user", "content": "Two steps left."},
    ]
    assert (tools[0]["name"], tools[0]["strict"], tools[0]["type"]) == ("search", False, "function")


@BOTH
async def test_what_it_thought_goes_back_sealed_whole_and_in_its_place(streamed: bool) -> None:
    def watch() -> Any:
        return listener([]) if streamed else None

    script = [
        Say(" Looking.", calls=TWO, reasoning="First this."),
        Say(calls=TWO[:1], reasoning="Then that."),
        Say("Fine.", reasoning="Done."),
        Say("Again.", reasoning="Once more."),
    ]
    async with responses(script) as (model, server, _):
        parts: tuple[Part, ...] = ()
        for _turn in script:
            reply = await model.complete(prompt(*parts), watch())
            stored = msgspec.json.decode(msgspec.json.encode(reply), type=Reply)
            assert stored == reply  # as it comes back from a record
            parts += (*told(stored), *(() if reply.calls else (Part("user", "And now?"),)))
    kinds = [item.get("type", item.get("role")) for item in server.requests[3].body["input"]]
    assert kinds[2:] == [
        *("reasoning", "message", "function_call", "reasoning", "function_call"),
        *("function_call_output", "function_call_output"),
        *("reasoning", "function_call", "function_call_output"),
        *("reasoning", "message", "user"),
    ]
    first = server.requests[3].body["input"]
    assert first[3]["content"][0]["text"] == " Looking."
    assert first[3]["id"] == "msg_0"
    assert [first[place]["id"] for place in (2, 4, 5, 6)] == [
        "rs_0_0",
        "fc_0_0",
        "rs_0_1",
        "fc_0_1",
    ]
    assert first[6]["arguments"] == '{"query":  "y"}'


async def test_what_is_kept_is_no_longer_than_it_has_to_be() -> None:
    script = [Say("Hm.", calls=TWO[:1], reasoning="So."), Say("Hm.", calls=TWO[:1]), Say("Hm.")]
    async with responses(script) as (model, _, _):
        sealed = await model.complete(prompt())
        plain = await model.complete(prompt())
        answer = await model.complete(prompt())
    assert sealed.wire is not None
    reasoning, message, made = sealed.wire.items
    assert reasoning.keys() == {"type", "id", "summary", "encrypted_content"}
    assert message == {"type": "message", "id": "msg_0"}
    assert made == {"type": "function_call", "id": "fc_0_0"}
    assert (plain.wire, answer.wire) == (None, None)
    assert sealed.reasoning == "So."


async def test_the_phase_of_a_message_is_kept_without_an_id() -> None:
    async with responses([Say("Hm.", more={"phase": "commentary"}), Say("Ok.")]) as found:
        model, server, _ = found
        reply = await model.complete(prompt())
        await model.complete(prompt(*told(reply)))
    sent = server.requests[1].body["input"][2]
    assert (sent["phase"], "id" in sent) == ("commentary", False)
    assert sent["content"] == "Hm."


@pytest.mark.parametrize("other", ["model", "provider", "calls", "kind", "items"])
async def test_another_model_gets_text_and_calls_only(other: str) -> None:
    async with responses([Say("Hm.", calls=TWO[:1], reasoning="So."), Say("Ok.")]) as found:
        model, server, _ = found
        reply = await model.complete(prompt())
        assert reply.wire is not None
        wire = {
            "model": Wire("openai-responses", "else", reply.wire.items),
            "provider": Wire("azure-responses", "scripted", reply.wire.items),
            "calls": Wire("openai-responses", "scripted", reply.wire.items[:1]),
            "kind": Wire("openai-responses", "scripted", "of another kind"),
            "items": Wire("openai-responses", "scripted", [{"id": "fc_1"}]),
        }[other]
        said, *results = told(reply)
        await model.complete(
            prompt(Part("assistant", "Hm.", calls=said.calls, wire=wire), *results)
        )
    sent = server.requests[1].body["input"]
    assert sent[2] == {"role": "assistant", "content": "Hm."}
    assert sent[3].keys() == {"type", "call_id", "name", "arguments"}


async def test_a_part_is_encoded_once_and_its_bytes_stay_the_same() -> None:
    given = prompt(Part("assistant", "Hm."))
    async with responses([Say("Ok."), Say("Ok.")]) as (model, server, _):
        await model.complete(given)
        first = [dict(part.encoded) for part in given]
        await model.complete(given, listener([]))
        assert [part.encoded for part in given] == first
    assert [list(each) for each in first] == [["openai-responses:scripted/responses"]] * 3
    assert server.requests[0].raw[:-1] in server.requests[1].raw


@pytest.mark.parametrize(
    ("calls", "expected"), [("auto", None), ("none", "none"), ("required",) * 2]
)
async def test_calls_become_the_tool_choice(calls: Any, expected: str | None) -> None:
    async with responses([Say("Ok."), Say("Ok.")]) as (model, server, _):
        await model.complete(prompt(calls=calls))
        await model.complete(prompt(calls=calls, tools=()))
    with_tools, without = (request.body for request in server.requests)
    assert with_tools.get("tool_choice") == expected
    assert "tools" in with_tools
    assert not {"tools", "tool_choice"} & without.keys()


async def test_names_and_ids_are_made_legal_and_names_come_back() -> None:
    long = "x" * 65
    parts = (
        Part("assistant", "", calls=(RawCall(name="web.search", arguments="{}", id=long),)),
        Part("tool", "found", call_id=long),
    )
    said = Say(calls=[("web_search", "{}")])
    async with responses([said]) as (model, server, _):
        reply = await model.complete(prompt(*parts, tools=(tool("web.search"),)))
    made, result = server.requests[0].body["input"][2:]
    assert (made["name"], reply.calls[0].name) == ("web_search", "web.search")
    assert made["call_id"] == result["call_id"] != long


async def test_pictures_are_shown_or_named_where_the_model_does_not_see() -> None:
    shown = Part("user", "Look:", attachments=(Image("image/png", b"png", "a cat"),))
    refusal = Fail(400, "Invalid type 'input_image' for this model.")
    async with responses([Say("A cat."), refusal, Say("Ok.")]) as (model, server, _):
        await model.complete(prompt(shown))
        await model.complete(prompt(shown))
    first, _, last = (request.body["input"][2]["content"] for request in server.requests)
    assert first == [
        {"type": "input_text", "text": "Look:"},
        {"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
    ]
    assert last == "Look:\n(not shown here: a cat)"


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


async def test_a_form_is_asked_for_and_given_up_step_by_step() -> None:
    refusal = Fail(400, "Invalid schema for text.format 'reply'.")
    script = [Say("{}"), refusal, Say("{}"), refusal, Say("{}")]
    async with responses(script, settings=ModelSettings(extra={"text": {"verbosity": "low"}})) as (
        model,
        server,
        _,
    ):
        for _ in range(3):
            await model.complete(ask("As JSON.", reply_schema=CLOSED))
    texts = [request.body["text"] for request in server.requests]
    assert texts[0]["format"] == {
        "type": "json_schema",
        "name": "reply",
        "strict": True,
        "schema": CLOSED,
    }
    assert [text.get("format", {}).get("type") for text in texts[1:]] == [
        "json_schema",
        "json_object",
        "json_object",
        None,
    ]
    assert all(text["verbosity"] == "low" for text in texts)


async def test_the_users_own_form_wins() -> None:
    own = {"text": {"format": {"type": "text"}}}
    async with responses([Say("Ok.")], settings=ModelSettings(extra=own)) as (model, server, _):
        await model.complete(ask(reply_schema=CLOSED))
    assert server.requests[0].body["text"] == own["text"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"extra": {"store": True, "input": []}}, "input, store are written by the adapter"),
        ({"stop": ["END"]}, "openai-responses:m takes no stop: leave it out"),
    ],
)
def test_parameters_that_cannot_be_are_refused(settings: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        openai_responses("m", api_key=KEY, settings=ModelSettings(**settings))


async def test_stop_sequences_stay_here() -> None:
    async with responses([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(stop=("END",)))
    assert "stop" not in server.requests[0].body


async def test_where_nothing_is_sealed_nothing_goes_back() -> None:
    script: list[Turn] = [
        Fail(400, "Encrypted content is not supported with this model."),
        Say("Hm.", calls=TWO[:1], reasoning="So."),
        Say("Ok."),
    ]
    async with responses(script) as (model, server, waits):
        reply = await model.complete(prompt())
        await model.complete(prompt(*told(reply)))
    assert ["include" in request.body for request in server.requests] == [True, False, False]
    assert reply.wire is None
    assert server.requests[2].body["input"][2] == {"role": "assistant", "content": "Hm."}
    assert waits == []


async def test_what_is_not_taken_back_is_left_out_from_then_on() -> None:
    """The service changed its keys, or the record was altered: the run goes on without."""
    async with responses([Say("Hm.", calls=TWO, reasoning="So."), Say("Ok.")]) as found:
        model, server, _ = found
        reply = await model.complete(prompt())
        assert reply.wire is not None
        altered = msgspec.json.decode(msgspec.json.encode(reply.wire.items))
        altered[0]["encrypted_content"] += "x"
        said, *results = told(reply)
        wire = Wire("openai-responses", "scripted", altered)
        parts = (Part("assistant", said.text, calls=said.calls, wire=wire), *results)
        assert (await model.complete(prompt(*parts))).text == "Ok."
    assert len(server.requests) == 3
    assert [item.get("type") for item in server.requests[2].body["input"]].count("reasoning") == 0


async def test_other_refusals_are_told() -> None:
    async with responses([Fail(400, "no")], retries=few(0)) as (model, _, _):
        with pytest.raises(ModelError, match=r"openai-responses:scripted refused .*no"):
            await model.complete(prompt())


def test_items_this_adapter_does_not_know_go_back_verbatim() -> None:
    draft = ResponsesReplyBuilder(("openai-responses", "m"), toolbox((), None, None))  # type: ignore[arg-type] # no tools
    odd = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x", "created_by": None}
    said = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Hi."}]}
    trailing = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "y"}
    output = [odd | {"status": "completed"}, said, trailing]
    draft.take(msgspec.json.encode({"status": "completed", "output": output}), complete=True)
    wire = draft.reply(0).wire
    assert wire is not None
    assert wire.items == [
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "x", "status": "completed"},
        {"type": "message"},
    ]


def test_items_of_other_kinds_may_use_the_same_keys_in_other_senses() -> None:
    """A search for tools has an object for arguments, and is no call of ours."""
    draft = ResponsesReplyBuilder(("openai-responses", "m"), toolbox((), None, None))  # type: ignore[arg-type] # no tools
    found = {
        "type": "tool_search_call",
        "id": "ts_1",
        "call_id": None,
        "name": ["a"],
        "arguments": {"paths": ["weather"]},
        "content": "x",
        "status": "completed",
    }
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}
    output = {"status": "completed", "output": [found, message]}
    draft.take(msgspec.json.encode(output), complete=True)
    reply = draft.reply(0)
    assert (reply.text, reply.calls, reply.finish) == ("Hi.", (), "stop")
    assert reply.wire is not None
    assert reply.wire.items[0] == {key: it for key, it in found.items() if it is not None}
