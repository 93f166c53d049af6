"""What goes out to Gemini: bodies that a strict server takes, each part of them encoded once."""

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ModelSettings
from clew.core.contents import Image, RawCall, Wire
from clew.core.prompts import Part, Prompt, Role
from clew.models.gemini.model import fits, google_gemini
from clew.models.gemini.prompt import (
    BEGIN,
    GO_ON,
    NAMES,
    STAND_IN,
    RequestWriter,
    contents,
    declare,
    pieces,
)
from clew.models.tool_names import toolbox
from clew.support.errors import ConfigError, ModelError
from clew_testing.servers.gemini_rules import GeminiRefusal, check
from clew_testing.servers.http_server import Fail, Say, Turn
from tests.models.gemini_support import KEY, MODEL, over, step
from tests.models.support import ask, call, listener, tool

TOOLS = (tool("search"),)
GO = {"role": "user", "parts": [{"text": "Go."}]}


async def test_a_whole_conversation_goes_out_as_the_api_wants_it() -> None:
    parts = (
        Part("assistant", "", calls=(call("search"), call("search", None, "call_2"))),
        Part("tool", "found", call_id="call_1", name="search"),
        Part("tool", "nothing", call_id="call_2", name="search"),
        Part("assistant", "It is late."),
    )
    head = (Part("system", "Be brief."), Part("system", "Be kind."), Part("user", "What is it?"))
    prompt = Prompt(head, parts, (Part("user", "Two steps left."),), TOOLS)
    extra = {"safetySettings": [], "thinkingConfig": {"includeThoughts": False}}
    settings = ModelSettings(temperature=0.5, effort="low", extra=extra)
    async with over([Say("Ok.")], settings=settings) as (model, server, _):
        await model.complete(prompt)
    seen = server.requests[0]
    args = {"query": "x"}
    assert seen.body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "What is it?"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "search", "args": args, "id": "call_1"},
                        "thoughtSignature": STAND_IN,
                    },
                    {"functionCall": {"name": "search", "args": {}, "id": "call_2"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "search",
                            "response": {"output": text},
                            "id": id_,
                        }
                    }
                    for text, id_ in (("found", "call_1"), ("nothing", "call_2"))
                ],
            },
            {"role": "model", "parts": [{"text": "It is late."}]},
            {"role": "user", "parts": [{"text": "Two steps left."}]},
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "search",
                        "description": "About search.",
                        "parametersJsonSchema": TOOLS[0].parameters,
                    }
                ]
            }
        ],
        "generationConfig": {
            "temperature": 0.5,
            "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": False},
        },
        "safetySettings": [],
    }
    assert seen.headers["x-goog-api-key"] == KEY
    assert "google-genai-sdk" in seen.headers["user-agent"]
    assert seen.path.endswith(f"/models/{MODEL}:generateContent")


async def test_a_part_is_encoded_once_and_its_bytes_stay_the_same() -> None:
    prompt = ask(tools=TOOLS)
    async with over([Say("One."), Say("Two.")]) as (model, server, _):
        await model.complete(prompt)
        kept = [dict(part.encoded) for part in prompt]
        longer = Prompt(prompt.head, (Part("assistant", "One."), Part("user", "And?")), (), TOOLS)
        await model.complete(longer)
    assert all(len(encoded) == 1 for encoded in kept)
    assert [dict(part.encoded) for part in prompt] == kept
    first, second = (request.raw for request in server.requests)
    assert second.startswith(first.partition(b'],"tools"')[0])


async def test_text_of_any_script_arrives_whole() -> None:
    text = 'Ünïcode, 日本語, emoji 🧶, "quotes", \\ and \n newlines, \x00 and \u2028'
    async with over([Say(text), Say(text)], piece=7) as (model, server, _):
        plain = await model.complete(ask(text))
        streamed = await model.complete(ask(text), listener([]))
    assert server.requests[0].body["contents"][0]["parts"][0]["text"] == text
    assert plain.text == streamed.text == text


@pytest.mark.parametrize(("calls", "mode"), [("auto", None), ("none", "NONE"), ("required", "ANY")])
async def test_calls_become_the_mode_of_calling(calls: str, mode: str | None) -> None:
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(tools=TOOLS, calls=calls))
    body = server.requests[0].body
    wanted = None if mode is None else {"functionCallingConfig": {"mode": mode}}
    assert body.get("toolConfig") == wanted
    assert len(body["tools"]) == 1


async def test_without_tools_no_key_speaks_of_them() -> None:
    async with over([Say("Ok.")], model="gemini-2.0-flash") as (model, server, _):
        await model.complete(ask(calls="none"))
    assert server.requests[0].body.keys() == {"systemInstruction", "contents"}


async def test_a_tool_is_declared_with_its_examples_and_without_arguments_has_no_schema() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    bare = tool("now")
    object.__setattr__(bare, "parameters", closed)
    free = tool("free")
    object.__setattr__(free, "parameters", {"type": "object"})
    shown = tool("search", examples=({"query": "clew"},))
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(tools=(shown, bare, free)))
    declared = server.requests[0].body["tools"][0]["functionDeclarations"]
    said = 'About search.\nExample arguments: {"query":"clew"}'
    assert declared[0]["description"] == said
    assert [each.get("parametersJsonSchema") for each in declared[1:]] == [None, {"type": "object"}]


async def test_illegal_names_are_made_legal_and_come_back_as_they_were() -> None:
    tools = tuple(map(tool, ["web search", "web_search", "läs", "2nd", "x" * 70, "web.search"]))
    said = Say("", calls=[("web_search_2", "{}"), ("web_search", "{}"), ("l_s", "{}")])
    history = (
        Part("assistant", "", calls=(call("web search", id="a"), call("no:such", id="b"))),
        Part("tool", "found", call_id="a", name="web search"),
        Part("tool", "unknown tool", call_id="b", name="no:such"),
    )
    async with over([said]) as (model, server, _):
        reply = await model.complete(Prompt((Part("user", "Go."),), history, (), tools))
    body = server.requests[0].body
    names = [each["name"] for each in body["tools"][0]["functionDeclarations"]]
    assert names == ["web_search_2", "web_search", "l_s", "_2nd", "x" * 64, "web.search"]
    sent = body["contents"][1]["parts"], body["contents"][2]["parts"]
    assert [part["functionCall"]["name"] for part in sent[0]] == ["web_search_2", "no_such"]
    assert [part["functionResponse"]["name"] for part in sent[1]] == ["web_search_2", "no_such"]
    assert [each.name for each in reply.calls] == ["web search", "web_search", "läs"]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True))
def test_aliases_are_legal_unique_and_reversible(names: list[str]) -> None:
    box = toolbox(tuple(map(tool, names)), NAMES, declare)
    functions = msgspec.json.decode(box.declared)
    check({"contents": [GO], "tools": [{"functionDeclarations": functions}]}, MODEL)
    aliases = [each["name"] for each in functions]
    assert [box.name(alias) for alias in aliases] == names
    assert [box.alias(name) for name in names] == aliases


texts = st.text(max_size=5)
images = st.lists(st.builds(Image, st.just("image/png"), st.binary(min_size=1)), max_size=2)


@st.composite
def conversations(draw: st.DrawFn) -> list[Part]:
    """Parts in any order, but that the results of calls stand behind them."""
    parts: list[Part] = []
    roles: list[Role] = ["system", "user", "assistant"]
    for role in draw(st.lists(st.sampled_from(roles), max_size=6)):
        calls: tuple[RawCall, ...] = ()
        if role == "assistant":
            names = draw(st.lists(st.sampled_from(["search", "a b"]), max_size=2))
            calls = tuple(call(name, id=f"{len(parts)}_{n}") for n, name in enumerate(names))
        shown = tuple(draw(images)) if role == "user" else ()
        parts.append(Part(role, draw(texts), calls=calls, attachments=shown))
        parts += [Part("tool", draw(texts), call_id=each.id, name=each.name) for each in calls]
    return parts


@given(conversations(), st.booleans())
def test_any_conversation_alternates_and_has_each_result_behind_its_call(
    parts: list[Part], sees: bool
) -> None:
    box = toolbox(TOOLS, NAMES, declare)
    said = contents(
        (
            "model" if part.role == "assistant" else "user",
            pieces(part, box, None, RequestWriter(sees=sees)),
        )
        for part in parts
    )
    check({"contents": msgspec.json.decode(b"[" + said + b"]")}, MODEL)


async def test_a_conversation_may_begin_and_end_with_the_model() -> None:
    async with over([Say("."), Say(".")]) as (model, server, _):
        await model.complete(Prompt((Part("system", "S."),), (Part("assistant", "Hm."),)))
        await model.complete(Prompt((Part("system", "S."),), (Part("assistant", ""),)))
    first, second = (request.body["contents"] for request in server.requests)
    assert [content["parts"][0]["text"] for content in first] == [BEGIN, "Hm.", GO_ON]
    assert second == [{"role": "user", "parts": [{"text": BEGIN}]}]


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"n": 1.0, "big": 12345678901234567890123, "e": 1e-9}', None),
        ("", b"{}"),
        (None, b"{}"),
        ("[1]", b'{"unreadable":"[1]"}'),
        ('{"que', b'{"unreadable":"{\\"que"}'),
    ],
)
async def test_arguments_go_out_sign_by_sign_and_always_as_an_object(
    arguments: str | None, sent: bytes | None
) -> None:
    parts = (
        Part("assistant", "", calls=(RawCall(name="search", arguments=arguments, id="1"),)),
        Part("tool", "ok", call_id="1", name="search"),
    )
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(Prompt((Part("user", "Go."),), parts, (), TOOLS))
    wanted = (arguments or "").encode() if sent is None else sent
    assert b'"args":' + wanted in server.requests[0].raw


async def test_pictures_are_shown_beside_the_results() -> None:
    image = Image("image/png", b"\x89PNG", "a chart")
    parts = (
        Part("assistant", "", calls=(call("draw", id="1"),)),
        Part("tool", "drawn", call_id="1", name="draw"),
        Part("user", "Shown by draw:", attachments=(image, Image("image/jpeg", b"\xff"))),
    )
    prompt = Prompt((Part("user", "Go."),), parts, (), (tool("draw"),))
    refusal = Fail(400, "Image input modality is not enabled for models/m")
    async with over([Say("Nice."), refusal, Say("Ok.")]) as (model, server, waits):
        await model.complete(prompt)
        await model.complete(prompt)
    shown, *_, named = (request.body["contents"][2]["parts"][1:] for request in server.requests)
    data = base64.b64encode(b"\x89PNG").decode()
    assert shown[:2] == [
        {"text": "Shown by draw:"},
        {"inlineData": {"mimeType": "image/png", "data": data}},
    ]
    assert named == [
        {
            "text": "Shown by draw:\n(not shown here: a chart)\n"
            "(not shown here: an image (image/jpeg))"
        }
    ]
    assert waits == []


async def test_stop_sequences_of_codec_and_parameters_go_out_together() -> None:
    async with over([Say("Ok.")], settings=ModelSettings(stop=("END",))) as (model, server, _):
        await model.complete(ask(stop=("\nObservation", "END")))
        with pytest.raises(ConfigError, match="6 stop sequences, of which the API takes 5"):
            await model.complete(ask(stop=tuple("abcde")))
    config = server.requests[0].body["generationConfig"]
    assert config["stopSequences"] == ["\nObservation", "END"]
    assert len(server.requests) == 1


def test_parameters_that_the_adapter_writes_are_refused() -> None:
    extra = {"response_mime_type": "text/plain", "toolConfig": {}, "topK": 1}
    with pytest.raises(ConfigError, match="response_mime_type, toolConfig are written by the"):
        google_gemini("m", api_key="k", settings=ModelSettings(extra=extra))


@pytest.mark.parametrize("name", ["", "a b", "x?key=y", "../files"])
def test_a_name_that_cannot_be_a_models_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no model's name"):
        google_gemini(name, api_key="k")


# ---------------------------------------------------------------- what only this model can read


@pytest.mark.parametrize("streamed", [False, True])
async def test_signatures_go_back_on_the_very_parts_they_came_with(streamed: bool) -> None:
    """Over three steps, the server itself checks each signature against its call."""
    script = [
        Say("First. ", calls=[("search", '{"n": 1.0}'), ("search", '{"n": 2}')]),
        Say("", calls=[("search", '{ "n":\n3 }')], reasoning="Hm."),
        Say(" It is 42. "),
        Say("Still 42."),
    ]
    show = listener([]) if streamed else None
    parts: tuple[Part, ...] = ()
    async with over(script) as (model, server, waits):
        for results in (("a", "b"), ("c",)):
            reply = await model.complete(Prompt((Part("user", "Go."),), parts, (), TOOLS), show)
            assert reply.wire is not None
            parts += step(reply, *results)
        final = await model.complete(
            Prompt((Part("user", "Go."),), parts, (), TOOLS, calls="none"), show
        )
        parts += (*step(final), Part("user", "Sure?"))
        await model.complete(Prompt((Part("user", "Go."),), parts, (), TOOLS), show)
    assert len(server.requests) == 4
    assert waits == []
    first, second, third = (
        content["parts"]
        for content in server.requests[3].body["contents"]
        if content["role"] == "model"
    )
    assert ["thoughtSignature" in part for part in first] == [False, True, False]
    assert first[0] == {"text": "First. "}
    assert list(second[0]["functionCall"]["args"].items()) == [("n", 3)]
    assert "thoughtSignature" in third[-1]
    assert "".join(part["text"] for part in third) == " It is 42. "
    assert b"Hm." not in server.requests[2].raw  # thinking without a signature is for people


async def test_an_altered_signature_is_refused_and_replaced_from_then_on() -> None:
    """They go stale between sessions too: the run goes on with the stand-in."""
    async with over(lambda _: Say("Ok.")) as (model, server, waits):
        wire = Wire("google", MODEL, [{"call": True, "thoughtSignature": "QUJD"}])
        parts = (
            Part("assistant", "", calls=(call("search", id="1"),), wire=wire),
            Part("tool", "ok", call_id="1", name="search"),
        )
        prompt = Prompt((Part("user", "Go."),), parts, (), TOOLS)
        for _ in range(2):
            assert (await model.complete(prompt)).text == "Ok."
    sent = [
        request.body["contents"][1]["parts"][0]["thoughtSignature"] for request in server.requests
    ]
    assert sent == ["QUJD", STAND_IN, STAND_IN]
    assert waits == []


@pytest.mark.parametrize(
    ("name", "sent"), [("gemini-3-pro", STAND_IN), ("gemini-2.5-flash", None), ("gemma-4", None)]
)
async def test_a_call_without_a_signature_gets_the_stand_in_where_one_is_asked_for(
    name: str, sent: str | None
) -> None:
    wire = Wire("google", "another", [{"call": True, "thoughtSignature": "QUJD"}])
    parts = (
        Part("assistant", "Hm.", calls=(call("search", id="1"), call("search", id="2")), wire=wire),
        Part("tool", "a", call_id="1", name="search"),
        Part("tool", "b", call_id="2", name="search"),
    )
    async with over([Say("Ok.")], model=name) as (model, server, _):
        await model.complete(Prompt((Part("user", "Go."),), parts, (), TOOLS))
    made = server.requests[0].body["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in made] == [None, sent, None]


async def test_a_stand_in_that_is_refused_is_left_out() -> None:
    parts = (
        Part("assistant", "", calls=(call("search", id="1"),)),
        Part("tool", "a", call_id="1", name="search"),
    )
    prompt = Prompt((Part("user", "Go."),), parts, (), TOOLS)
    refusal = Fail(400, "Thought signature is not valid")
    async with over([refusal, Say("Ok.")], model="tuned") as (model, server, _):
        assert (await model.complete(prompt)).text == "Ok."
    sent = [(STAND_IN.encode() in one.raw, b"functionCall" in one.raw) for one in server.requests]
    assert sent == [(True, True), (False, True), (False, False)]  # at last, as text


SIGNED = {"call": True, "thoughtSignature": "QUJD"}


@pytest.mark.parametrize(
    "items",
    [
        "of another kind",
        [],
        [{"call": True}, SIGNED],
        [{"text": "Other words."}, SIGNED],
        [{"text": 2}, SIGNED],
        [{"text": 3}],
    ],
)
def test_a_wire_that_does_not_fit_what_is_said_counts_for_nothing(items: Any) -> None:
    part = Part("assistant", "Hm.", calls=(call("search"),), wire=Wire("google", "m", items))
    box = toolbox(TOOLS, NAMES, declare)
    said = msgspec.json.decode(b"[" + pieces(part, box, part.wire, RequestWriter()) + b"]")
    assert [part.get("thoughtSignature") for part in said] == [None, STAND_IN]
    assert said[0] == {"text": "Hm."}


def test_other_parts_of_the_models_own_go_back_verbatim_and_in_order() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
    thought = {"text": "Hm", "thought": True, "thoughtSignature": "QUJD"}
    wire = Wire("google", "m", [thought, {"text": 3}, code, {"text": 3, "x": 1}, {"call": True}])
    part = Part("assistant", "abcdef", calls=(call("search"),), wire=wire)
    said = msgspec.json.decode(
        b"[" + pieces(part, toolbox(TOOLS, NAMES, declare), wire, RequestWriter()) + b"]"
    )
    assert said[:4] == [thought, {"text": "abc"}, code, {"text": "def", "x": 1}]
    assert said[4]["functionCall"]["args"] == {"query": "x"}


# ---------------------------------------------------------------- forms, and what is refused

FORM = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_a_form_is_asked_for_with_its_schema() -> None:
    async with over([Say('{"n": 1}'), Say('{"n": 2}')]) as (model, server, _):
        await model.complete(ask(reply_schema=FORM))
        await model.complete(ask(reply_schema={"type": "object", "not": {}}))
    first, second = (request.body["generationConfig"] for request in server.requests)
    assert first["responseMimeType"] == "application/json"
    assert first["responseJsonSchema"] == FORM
    assert second["responseMimeType"] == "application/json"
    assert "responseJsonSchema" not in second


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (FORM | {"additionalProperties": False, "$defs": {"a": {"type": "string"}}}, True),
        ({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}, True),
        ({"type": "object", "properties": {"pattern": {"type": "string"}}}, True),
        ({"type": "object", "additionalProperties": {"const": 1}}, False),
        ({"type": "array", "prefixItems": [{"type": "string", "minLength": 1}]}, False),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}}, False),
        ({"allOf": [FORM]}, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": FORM}}, True),
        ({"type": "array", "items": {"$ref": "#/$defs/a", "title": "A"}}, False),
    ],
)
def test_which_schemas_fit(schema: dict[str, Any], expected: bool) -> None:
    assert fits(msgspec.json.encode(schema)) == expected
    body = {
        "contents": [GO],
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        },
    }
    try:
        check(body, MODEL)
    except GeminiRefusal:
        assert not expected
    else:
        assert expected


async def test_a_form_beside_tools_is_left_out_where_both_are_too_much() -> None:
    async with over(lambda _: Say("Ok."), model="gemini-2.5-flash") as (model, server, waits):
        await model.complete(ask(reply_schema=FORM, tools=TOOLS, calls="none"))
        await model.complete(ask(reply_schema=FORM, tools=TOOLS, calls="none"))
        await model.complete(ask(reply_schema=FORM))
    asked = ["responseMimeType" in request.body["generationConfig"] for request in server.requests]
    assert asked == [True, False, False, True]
    assert waits == []


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("response_json_schema has too many states for serving", "responseJsonSchema"),
        ("JSON mode is not enabled for this model", "responseMimeType"),
        ("stop_sequences are not supported", "stopSequences"),
        ("Thinking_config.include_thoughts is only enabled when thinking is", "thinkingConfig"),
    ],
)
async def test_what_a_run_can_do_without_is_left_out_when_refused(message: str, key: str) -> None:
    async with over([Fail(400, message), Say("Ok."), Say("Ok.")]) as (model, server, waits):
        for _ in range(2):
            assert (await model.complete(ask(stop=("END",), reply_schema=FORM))).text == "Ok."
    asked = [key in request.body["generationConfig"] for request in server.requests]
    assert asked == [True, False, False]
    assert waits == []


async def test_ids_are_left_out_where_they_are_unknown() -> None:
    parts = (
        Part("assistant", "", calls=(call("search", id="1"),)),
        Part("tool", "a", call_id="1", name="search"),
    )
    said = "Invalid JSON payload received. Unknown name \"id\" at 'contents[1].parts[0]'"
    script: list[Turn] = [Fail(400, said), Say("Ok.")]
    async with over(script) as (model, server, _):
        await model.complete(Prompt((Part("user", "Go."),), parts, (), TOOLS))
    assert [b'"id":"1"' in request.raw for request in server.requests] == [True, False]


async def test_what_is_refused_without_a_way_around_is_told_at_once() -> None:
    said = ["stop_sequences", "thought signature", "response_schema", "image", "thinking", "odd"]
    async with over(
        [Fail(400, each) for each in said], settings=ModelSettings(extra={"thinkingConfig": {}})
    ) as (
        model,
        server,
        _,
    ):
        for number, each in enumerate(said, start=1):
            with pytest.raises(ModelError, match=rf"refused the request \(400\): {each}"):
                await model.complete(ask())
            assert len(server.requests) == number
