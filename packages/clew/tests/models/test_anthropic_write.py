"""What goes out to Anthropic: bodies that a strict server takes, each part of them encoded once."""

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ModelSettings
from clew.core.contents import Image
from clew.core.prompts import Part, Prompt
from clew.core.tools import Tool
from clew.models.anthropic.messages import anthropic_messages
from clew.models.anthropic.prompt import MARK as ENDS
from clew.models.anthropic.prompt import PromptStyle, body, declare, head, write
from clew.models.tool_names import NameRules, toolbox
from clew.support.errors import ConfigError
from clew_testing.servers.anthropic_rules import check
from clew_testing.servers.anthropic_server import Fail, Say, Turn
from tests.models.messages import KEY, QUERY, SEARCH, over, results, talk
from tests.models.support import ask, call, listener, tool

MARK = {"cache_control": {"type": "ephemeral"}}
ANY = msgspec.json.encode
NAMES = NameRules()


def texts(body: Any) -> list[tuple[str, list[str]]]:
    """The conversation as (role, what each block says or is)."""
    return [
        (message["role"], [block.get("text", block["type"]) for block in message["content"]])
        for message in body["messages"]
    ]


def unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [unmarked(each) for each in value]
    if isinstance(value, dict):
        return {key: unmarked(each) for key, each in value.items() if key != "cache_control"}
    return value


async def test_a_whole_conversation_goes_out_as_the_api_wants_it() -> None:
    calls = (call("search", id="a"), call("search", None, "b"))
    parts = (
        Part("assistant", "I look.", calls=calls),
        *results(calls),
        Part("assistant", "It is late."),
    )
    tail = (Part("user", "Two steps left."),)
    settings = ModelSettings(temperature=0.5, max_tokens=99)
    async with over([Say("Ok.")], settings=settings) as (model, server, _):
        await model.complete(talk(*parts, tail=tail))
    seen = server.requests[0]
    assert unmarked(seen.body) == {
        "model": "scripted",
        "max_tokens": 99,
        "temperature": 0.5,
        "tools": [{"name": "search", "description": "About search.", "input_schema": QUERY}],
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What is it?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "search", "input": {"query": "x"}},
                    {"type": "tool_use", "id": "b", "name": "search", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "found"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "found"},
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "It is late."}]},
            {"role": "user", "content": [{"type": "text", "text": "Two steps left."}]},
        ],
    }
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "application/json"


async def test_a_part_is_encoded_once_and_its_bytes_stay_the_same() -> None:
    prompt = ask(tools=(SEARCH,))
    async with over([Say("One."), Say("Two.")], settings=ModelSettings(cache="off")) as (
        model,
        server,
        _,
    ):
        await model.complete(prompt)
        kept = [dict(part.encoded) for part in prompt]
        more = (Part("assistant", "One."), Part("user", "Go."))
        await model.complete(Prompt(prompt.head, more, (), prompt.tools))
    assert all(len(encoded) == 1 for encoded in kept)
    assert [dict(part.encoded) for part in prompt] == kept
    first, second = (request.raw for request in server.requests)
    assert second.startswith(first.rstrip(b"]}"))


async def test_what_may_be_kept_is_marked_four_times_at_most() -> None:
    calls = (call("search", id="a"),)
    parts: list[Part] = []
    async with over(lambda _: Say("Ok.")) as (model, server, _):
        for number in range(3):
            await model.complete(talk(*parts, tail=(Part("user", f"{3 - number} left."),)))
            parts += [Part("assistant", f"{number}", calls=calls), *results(calls)]
    assert [seen.raw.count(b"cache_control") for seen in server.requests] == [3, 4, 4]
    last = server.requests[-1].body
    assert last["tools"][-1].keys() >= MARK.keys()
    assert last["system"][-1].keys() >= MARK.keys()
    marked = [
        block.get("tool_use_id")
        for message in last["messages"]
        for block in message["content"]
        if "cache_control" in block
    ]
    assert marked == ["a", "a_2"]  # where the request before ended, and this one but for its tail


async def test_the_marks_can_be_left_out() -> None:
    async with over([Say("Ok.")], settings=ModelSettings(cache="off")) as (model, server, _):
        await model.complete(talk())
    assert b"cache_control" not in server.requests[0].raw


async def test_sides_take_turns_the_user_first_and_last() -> None:
    parts = (
        Part("assistant", "One."),
        Part("assistant", "Two."),
        Part("user", "  \n"),
        Part("user", "a"),
        Part("user", "b"),
        Part("assistant", ""),
        Part("user", "c"),
        Part("assistant", "Three. \n"),
    )
    async with over([Say("Ok."), Say("Ok.")]) as (model, server, _):
        await model.complete(Prompt((Part("system", " "), Part("system", "Be.")), parts))
        await model.complete(Prompt((), ()))
    assert texts(server.requests[0].body) == [
        ("user", ["Go on."]),
        ("assistant", ["One."]),
        ("user", ["Go on."]),
        ("assistant", ["Two."]),
        ("user", ["a", "b", "c"]),
        ("assistant", ["Three. \n"]),
        ("user", ["Go on."]),
    ]
    assert [block["text"] for block in server.requests[0].body["system"]] == ["Be."]
    assert texts(server.requests[1].body) == [("user", ["Go on."])]


async def test_ids_of_others_become_legal_and_unique() -> None:
    ids = ["call_0", "call_0", "functions.search:0", "functions_search_0", "x" * 70, ""]
    parts: list[Part] = []
    for each in ids:
        calls = (call("search", id=each), call("search", id=f"{each}+"))
        parts += [Part("assistant", "", calls=calls), *results(calls)]
    async with over([Say("Ok."), Say("Ok.")]) as (model, server, _):
        for _ in range(2):
            await model.complete(talk(*parts))
    first, second = (request.raw for request in server.requests)
    assert first == second
    sent = [
        block["id"]
        for message in server.requests[0].body["messages"]
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    assert sent[0] == "call_0"
    assert len(set(sent)) == 12


async def test_results_without_text_and_pictures_after_results() -> None:
    calls = (call("search", id="a"), call("search", id="b"))
    picture = Image("image/png", b"\x89PNG", "a dot")
    odd = Image("image/tiff", b"II*", "a scan")
    parts = (
        Part("assistant", "", calls=calls),
        *results(calls, "  "),
        Part("user", "Shown by search:", attachments=(picture, odd)),
        Part("user", "", attachments=(picture,)),
    )
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(talk(*parts))
    content = unmarked(server.requests[0].body["messages"][-1]["content"])
    shown = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(b"\x89PNG").decode(),
        },
    }
    assert content == [
        {"type": "tool_result", "tool_use_id": "a"},
        {"type": "tool_result", "tool_use_id": "b"},
        {"type": "text", "text": "Shown by search:\n(not shown here: a scan)"},
        shown,
        shown,
    ]


async def test_pictures_that_are_refused_are_named_from_then_on() -> None:
    prompt = ask()
    seen = Part("user", "Look:", attachments=(Image("image/png", b"\x89PNG"),))
    script: list[Turn] = [
        Fail(400, "messages.1.content.1.image.source: image exceeds 5 MB maximum"),
        Say("Ok."),
        Say("Ok."),
    ]
    async with over(script) as (model, server, waits):
        for _ in range(2):
            await model.complete(Prompt(prompt.head, (seen,)))
    said = [texts(request.body)[-1][1][-1] for request in server.requests]
    assert said == ["image", *["Look:\n(not shown here: an image (image/png))"] * 2]
    assert waits == []


@pytest.mark.parametrize(
    ("calls", "settings", "expected"),
    [
        ("auto", {}, None),
        ("none", {}, {"type": "none"}),
        ("required", {}, {"type": "any"}),
        ("required", {"extra": {"thinking": {"type": "adaptive"}}}, None),
        ("required", {"effort": "none"}, {"type": "any"}),
        ("none", {"extra": {"thinking": {"type": "adaptive"}}}, {"type": "none"}),
    ],
)
async def test_calls_become_the_tool_choice(calls: Any, settings: Any, expected: Any) -> None:
    async with over([Say("Ok.")], settings=ModelSettings(**settings)) as (model, server, _):
        await model.complete(talk(calls=calls))
    assert server.requests[0].body.get("tool_choice") == expected
    assert len(server.requests[0].body["tools"]) == 1


async def test_a_model_that_cannot_be_made_to_call_is_asked() -> None:
    refused = Fail(400, 'tool_choice: type "any" is not supported for this model.')
    async with over([refused, Say("Ok."), Say("Ok.")]) as (model, server, _):
        await model.complete(talk(calls="required"))
        await model.complete(talk(calls="none"))
    assert [seen.body.get("tool_choice") for seen in server.requests] == [
        {"type": "any"},
        None,
        {"type": "none"},
    ]


async def test_without_tools_no_key_speaks_of_them() -> None:
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(calls="none"))
    assert server.requests[0].body.keys() == {"model", "max_tokens", "system", "messages"}


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        ({}, 16_000),
        ({"max_tokens": 1}, 1),
        ({"reasoning_tokens": 20_000}, 36_000),
    ],
)
async def test_how_long_a_reply_may_be(settings: Any, tokens: int) -> None:
    async with over([Say("Ok.")], settings=ModelSettings(**settings)) as (model, server, _):
        await model.complete(ask())
    assert server.requests[0].body["max_tokens"] == tokens


async def test_a_model_that_writes_less_is_asked_for_less() -> None:
    async with over([Say("Ok."), Say("Ok.")], most=8192) as (model, server, _):
        await model.complete(ask())
        await model.complete(ask())
    assert [seen.body["max_tokens"] for seen in server.requests] == [16_000, 4096, 4096]


async def test_stop_sequences_of_codec_and_parameters_go_out_together() -> None:
    async with over([Say("Ok.")], settings=ModelSettings(stop=("END",))) as (model, server, _):
        await model.complete(ask(stop=("\nObservation", "END", "\n\n")))
    assert server.requests[0].body["stop_sequences"] == ["END", "\nObservation"]


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("stop_sequences: not supported by this model", "stop_sequences"),
        ("system.0.cache_control: Extra inputs are not permitted", "system"),
        ("output_config.format: structured outputs are not available", "output_config"),
    ],
)
async def test_what_a_run_can_do_without_is_left_out_when_refused(message: str, key: str) -> None:
    form = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    script: list[Turn] = [Fail(400, message), Say("Ok."), Say("Ok.")]
    async with over(script) as (model, server, waits):
        for _ in range(2):
            await model.complete(ask(stop=("END",), reply_schema=form))
    first, *later = (ANY(seen.body.get(key)) for seen in server.requests)
    assert later[0] == later[1] != first
    assert waits == []


async def test_a_refusal_that_stays_is_told() -> None:
    script: list[Turn] = [Fail(400, "stop_sequences: no")] * 2
    async with over(script) as (model, server, _):
        with pytest.raises(Exception, match=r"refused the request \(400\): stop_sequences: no"):
            await model.complete(ask(stop=("END",)))
    assert len(server.requests) == 2


def test_parameters_that_the_adapter_writes_are_refused() -> None:
    with pytest.raises(ConfigError, match="cache_control, messages, stream are written by the"):
        anthropic_messages(
            "m",
            api_key="k",
            settings=ModelSettings(extra={"stream": 1, "messages": [], "cache_control": 1}),
        )


async def test_illegal_names_are_made_legal_and_come_back_as_they_were() -> None:
    tools = (tool("web.search"), tool("web_search"), tool("läs"))
    said = Say("", calls=[("web_search_2", "{}"), ("web_search", "{}"), ("l_s", "{}")])
    history = Part("assistant", "", calls=(call("web.search", id="a"), call("no.such", id="b")))
    async with over([said]) as (model, server, _):
        reply = await model.complete(talk(history, *results(history.calls), tools=tools))
    sent = [block["name"] for block in server.requests[0].body["messages"][1]["content"]]
    assert sent == ["web_search_2", "no_such"]
    assert [each.name for each in reply.calls] == ["web.search", "web_search", "läs"]


async def unused(args: dict[str, Any], key: str) -> str:
    raise AssertionError("the adapter calls no tools")


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "anyOf": [{"required": ["a"]}]}, "'t' has anyOf at the top of its"),
        ({"type": "object", "properties": {"ä": {}}}, "'t' has the property 'ä', which"),
        ({"type": "object", "properties": {"x" * 65: {}}}, "rename it to 1 to 64 letters"),
    ],
)
async def test_a_tool_that_cannot_be_declared_is_found_before_the_first_call(
    schema: Any, said: str
) -> None:
    async with over([Say("Ok.")]) as (model, server, _):
        with pytest.raises(ConfigError, match=said):
            await model.complete(ask(tools=(Tool("t", "…", schema, unused),)))
    assert server.requests == []


async def test_a_schema_without_its_type_gets_it() -> None:
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(tools=(Tool("t", "…", {"properties": {}}, unused),)))
    assert server.requests[0].body["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {},
    }


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": 1.50}', {"a": 1.5}),
        ("", {}),
        ("[1]", {"unreadable": "[1]"}),
        ('{"a": ', {"unreadable": '{"a": '}),
    ],
)
async def test_arguments_are_an_object_whatever_was_said(arguments: str, sent: Any) -> None:
    history = Part("assistant", "", calls=(call("search", arguments),))
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(talk(history, *results(history.calls)))
    assert server.requests[0].body["messages"][1]["content"][0]["input"] == sent


PARTS = st.lists(
    st.one_of(
        st.builds(Part, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=9)),
        st.builds(
            lambda text, ids: Part(
                "assistant", text, calls=tuple(call("search", id=each) for each in ids)
            ),
            st.text(max_size=9),
            st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True),
        ),
    ),
    max_size=8,
)


@given(PARTS)
def test_whatever_was_said_is_taken(parts: list[Part]) -> None:
    whole = [each for part in parts for each in (part, *results(part.calls))]
    box = toolbox((SEARCH,), NAMES, declare)
    written = write(Prompt((), whole), PromptStyle(("anthropic", "m"), box))
    sent = msgspec.json.decode(body(head("m", {}, 9), written, box, {}, mark=ENDS))
    check(sent)
    said = [part.text for part in parts if part.text.strip() and part.role != "system"]
    blocks = [block for message in sent["messages"] for block in message["content"]]
    assert [b["text"] for b in blocks if b["type"] == "text" and b["text"] != "Go on."] == said
    assert sum(b["type"] == "tool_use" for b in blocks) == sum(len(part.calls) for part in parts)


async def test_text_of_any_script_arrives_whole() -> None:
    text = 'Ünïcode, 日本語, emoji 🧶, "quotes", \\ and \n newlines, \x00 and \u2028'
    async with over([Say(text), Say(text)], piece=7) as (model, server, _):
        plain = await model.complete(ask(text))
        streamed = await model.complete(ask(text), listener([]))
    assert server.requests[0].body["messages"][0]["content"][0]["text"] == text
    assert plain.text == streamed.text == text
