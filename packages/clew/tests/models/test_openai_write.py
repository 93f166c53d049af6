"""What goes out: bodies that a strict server takes, each part of them encoded once."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ModelSettings
from clew.core.contents import Wire
from clew.core.prompts import Part, Prompt
from clew.models.openai.chat import openai_chat
from clew.models.openai.chat_prompt import NAMES, declare, message
from clew.models.tool_names import toolbox
from clew.support.errors import ConfigError
from clew_testing.servers.openai_rules import check
from clew_testing.servers.openai_server import Fail, Say, Turn
from tests.models.support import KEY, ask, call, few, listener, over, tool

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is it?"}


async def test_a_whole_conversation_goes_out_as_the_api_wants_it() -> None:
    parts = (
        Part("assistant", "", calls=(call("search"), call("search", None, "call_2"))),
        Part("tool", "found", call_id="call_1", name="search"),
        Part("tool", "nothing", call_id="call_2", name="search"),
        Part("assistant", "It is late."),
    )
    head = (Part("system", "Be brief."), Part("user", "What is it?"))
    prompt = Prompt(head, parts, (Part("user", "Two steps left."),), (tool("search"),))
    async with over([Say("Ok.")], settings=ModelSettings(temperature=0.5, seed=7)) as (
        model,
        server,
        _,
    ):
        await model.complete(prompt)
    body = server.requests[0].body
    assert body["model"] == "scripted"
    assert body["temperature"] == 0.5
    assert body["seed"] == 7
    assert body.keys() == {"model", "messages", "tools", "temperature", "seed"}
    function = {"name": "search", "arguments": '{"query": "x"}'}
    bare = {"name": "search", "arguments": "{}"}
    assert body["messages"] == [
        SYSTEM,
        USER,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": function},
                {"id": "call_2", "type": "function", "function": bare},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "found"},
        {"role": "tool", "tool_call_id": "call_2", "content": "nothing"},
        {"role": "assistant", "content": "It is late."},
        {"role": "user", "content": "Two steps left."},
    ]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_part_is_encoded_once_and_its_bytes_stay_the_same() -> None:
    prompt = ask(tools=(tool("search"),))
    async with over([Say("One."), Say("Two.")]) as (model, server, _):
        await model.complete(prompt)
        kept = [dict(part.encoded) for part in prompt]
        longer = Prompt((*prompt.head, Part("assistant", "One.")), (), (), prompt.tools)
        await model.complete(longer)
    assert all(len(encoded) == 1 for encoded in kept)
    assert [dict(part.encoded) for part in prompt] == kept
    first, second = (request.raw for request in server.requests)
    assert second.startswith(first.partition(b"]")[0])


async def test_text_of_any_script_arrives_whole() -> None:
    text = 'Ünïcode, 日本語, emoji 🧶, "quotes", \\ and \n newlines, \x00 and \u2028'
    async with over([Say(text), Say(text)], piece=7) as (model, server, _):
        plain = await model.complete(ask(text))
        streamed = await model.complete(ask(text), listener([]))
    assert server.requests[0].body["messages"][1]["content"] == text
    assert plain.text == streamed.text == text


@pytest.mark.parametrize(
    ("calls", "expected"), [("auto", None), ("none", "none"), ("required", "required")]
)
async def test_calls_become_the_tool_choice(calls: str, expected: str | None) -> None:
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(tools=(tool("search"),), calls=calls))
    assert server.requests[0].body.get("tool_choice") == expected
    assert len(server.requests[0].body["tools"]) == 1


async def test_without_tools_no_key_speaks_of_them() -> None:
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(calls="none"))
    assert server.requests[0].body.keys() == {"model", "messages"}


async def test_a_tool_is_declared_with_its_examples() -> None:
    shown = tool("search", examples=({"query": "clew"},))
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask(tools=(shown,)))
    function = server.requests[0].body["tools"][0]["function"]
    assert function["name"] == "search"
    assert function["description"] == 'About search.\nExample arguments: {"query":"clew"}'
    assert function["parameters"] == shown.parameters


async def test_illegal_names_are_made_legal_and_come_back_as_they_were() -> None:
    tools = tuple(map(tool, ["web.search", "web_search", "web search", "läs", "x" * 70]))
    said = Say("", calls=[("web_search_2", "{}"), ("web_search", "{}"), ("l_s", "{}")])
    history = (
        Part("assistant", "", calls=(call("web.search", id="a"), call("no.such", id="b"))),
        Part("tool", "found", call_id="a", name="web.search"),
        Part("tool", "unknown tool", call_id="b", name="no.such"),
    )
    async with over([said]) as (model, server, _):
        reply = await model.complete(Prompt((Part("user", "Go."),), history, (), tools))
    body = server.requests[0].body
    names = [each["function"]["name"] for each in body["tools"]]
    assert names == ["web_search_2", "web_search", "web_search_3", "l_s", "x" * 64]
    sent = [each["function"]["name"] for each in body["messages"][1]["tool_calls"]]
    assert sent == ["web_search_2", "no_such"]
    assert [each.name for each in reply.calls] == ["web.search", "web_search", "läs"]


async def test_an_alias_that_depends_on_the_other_tools_is_not_remembered_for_others() -> None:
    part = Part("assistant", "", calls=(call("a.b", id="1"),))
    result = Part("tool", "ok", call_id="1", name="a.b")
    async with over([Say("."), Say(".")]) as (model, server, _):
        for tools in ((tool("a.b"),), (tool("a_b"), tool("a.b"))):
            await model.complete(Prompt((Part("user", "Go."),), (part, result), (), tools))
    sent = [
        request.body["messages"][1]["tool_calls"][0]["function"]["name"]
        for request in server.requests
    ]
    assert sent == ["a_b", "a_b_2"]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True))
def test_aliases_are_legal_unique_and_reversible(names: list[str]) -> None:
    box = toolbox(tuple(map(tool, names)), NAMES, declare)
    user = {"role": "user", "content": "Go."}
    functions = msgspec.json.decode(box.declared)
    check({"model": "m", "messages": [user], "tools": functions})
    aliases = [each["function"]["name"] for each in functions]
    assert [box.name(alias) for alias in aliases] == names
    assert [box.alias(name) for name in names] == aliases


@given(st.text(), st.booleans())
def test_every_part_decodes_to_what_it_said(text: str, calls: bool) -> None:
    made = (call("search"),) if calls else ()
    part = Part("assistant", text, calls=made)
    said = msgspec.json.decode(message(part, toolbox((), NAMES, declare), None, sees=True))
    assert (said["content"] or "") == text
    assert ("tool_calls" in said) == calls


async def test_stop_sequences_of_codec_and_parameters_go_out_together() -> None:
    async with over([Say("Ok.")], settings=ModelSettings(stop=("END",))) as (model, server, _):
        await model.complete(ask(stop=("\nObservation", "END")))
        with pytest.raises(ConfigError, match="5 stop sequences, of which the API takes 4"):
            await model.complete(ask(stop=("a", "b", "c", "d")))
    assert server.requests[0].body["stop"] == ["\nObservation", "END"]
    assert len(server.requests) == 1


def test_parameters_that_the_adapter_writes_are_refused() -> None:
    with pytest.raises(ConfigError, match="messages, stream are written by the adapter"):
        openai_chat(
            "m",
            api_key="k",
            settings=ModelSettings(extra={"stream": True, "messages": [], "user": "x"}),
        )


REASONED = {"reasoning_content": "First …", "reasoning_details": [{"index": 0}]}


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_else_the_model_sent_goes_back_to_it_verbatim(streamed: bool) -> None:
    said = Say("Hm.", calls=[("search", "{}")], more=REASONED)
    async with over([said, Say("Ok.")]) as (model, server, _):
        reply = await model.complete(
            ask(tools=(tool("search"),)), listener([]) if streamed else None
        )
        assert reply.wire == Wire("openai", "scripted", {"message": REASONED})
        parts = (
            Part("assistant", reply.text, calls=reply.calls, wire=reply.wire),
            Part("tool", "found", call_id="call_0", name="search"),
        )
        await model.complete(Prompt((Part("user", "Go."),), parts, (), (tool("search"),)))
    sent = server.requests[1].body["messages"][1]
    assert {key: sent[key] for key in REASONED} == REASONED
    assert sent["content"] == "Hm."
    assert sent["tool_calls"][0]["id"] == "call_0"


@pytest.mark.parametrize(
    "wire",
    [
        Wire("openai", "other", {"message": {"x": 1}}),
        Wire("groq", "scripted", {"message": {"x": 1}}),
        Wire("openai", "scripted", "of another kind"),
    ],
)
async def test_the_wire_of_another_model_stays_here(wire: Wire) -> None:
    part = Part("assistant", "Hm.", wire=wire)
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(Prompt((Part("user", "Go."),), (part,)))
    assert server.requests[0].body["messages"][1] == {"role": "assistant", "content": "Hm."}


@pytest.mark.parametrize(
    "message",
    [
        "property 'messages.1.assistant.reasoning_content' is unsupported",
        "messages.1.signature: Extra inputs are not permitted",
    ],
)
async def test_a_wire_that_is_refused_is_left_out_from_then_on(message: str) -> None:
    wire = Wire(
        "openai",
        "scripted",
        {"message": {"reasoning_content": "Hm."}, "calls": [{"signature": "s"}]},
    )
    parts = (
        Part("assistant", "", calls=(call("search", id="1"), call("search", id="2")), wire=wire),
        Part("tool", "a", call_id="1", name="search"),
        Part("tool", "b", call_id="2", name="search"),
    )
    prompt = Prompt((Part("user", "Go."),), parts, (), (tool("search"),))
    script: list[Turn] = [Fail(400, message), Say("Ok."), Say("Ok.")]
    async with over(script) as (model, server, waits):
        await model.complete(prompt)
        await model.complete(prompt)
    first, *later = (request.body["messages"][1] for request in server.requests)
    assert first["reasoning_content"] == "Hm."
    assert [each.get("signature") for each in first["tool_calls"]] == ["s", None]
    assert all("reasoning_content" not in sent for sent in later)
    assert all("signature" not in sent["tool_calls"][0] for sent in later)
    assert waits == []


@pytest.mark.parametrize(
    ("fail", "key"),
    [
        (
            Fail(400, "Unknown parameter: 'stream_options'.", param="stream_options"),
            "stream_options",
        ),
        (Fail(422, "Extra inputs are not permitted", param="stream_options"), "stream_options"),
        (Fail(400, "Unsupported parameter: 'stop' is not supported with this model."), "stop"),
    ],
)
async def test_what_a_run_can_do_without_is_left_out_when_refused(fail: Fail, key: str) -> None:
    async with over([fail, Say("Ok."), Say("Ok.")]) as (model, server, waits):
        for _ in range(2):
            reply = await model.complete(ask(stop=("END",)), listener([]))
            assert reply.text == "Ok."
            assert reply.usage.estimated == (key == "stream_options")
    assert [key in request.body for request in server.requests] == [True, False, False]
    assert waits == []


async def test_many_sets_of_tools_do_not_pile_up() -> None:
    async with over(lambda _: Say("Ok."), retries=few(0)) as (model, server, _):
        sets = [(tool(f"tool_{number}"),) for number in range(70)]
        for tools in sets + sets[:1]:
            await model.complete(ask(tools=tools))
    names = [request.body["tools"][0]["function"]["name"] for request in server.requests]
    assert names == [f"tool_{number}" for number in range(70)] + ["tool_0"]


@pytest.mark.parametrize(
    ("provider", "given", "kept"),
    [
        ("openai", "call_" + "x" * 24, True),
        ("openai", "x" * 41, False),
        ("mistral", "abcDEF123", True),
        ("mistral", "call_1_1", False),
    ],
)
async def test_ids_from_elsewhere_become_what_the_provider_takes(
    provider: str, given: str, kept: bool
) -> None:
    parts = (
        Part("assistant", "", calls=(call("search", id=given), call("search", id="other"))),
        Part("tool", "a", call_id=given, name="search"),
        Part("tool", "b", call_id="other", name="search"),
    )
    prompt = Prompt((Part("user", "Go."),), parts, (), (tool("search"),))
    async with over([Say("Ok.")], provider=provider) as (model, server, _):
        await model.complete(prompt)
    _, said, *results = server.requests[0].body["messages"]
    ids = [made["id"] for made in said["tool_calls"]]
    assert ids == [result["tool_call_id"] for result in results]
    assert (ids[0] == given) == kept
    assert all(len(each) <= 40 for each in ids)
    assert provider != "mistral" or all(len(each) == 9 for each in ids)
