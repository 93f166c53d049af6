"""Replies held to a schema: what is asked for, and what is done where it is refused."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, Limits, MemoryStore, ModelSettings, run
from clew import tool as make_tool
from clew.models.openai.chat import openai_chat
from clew.models.openai.response_schema import fit
from clew.models.openai.responses import openai_responses
from clew.support.errors import ConfigError, ModelError
from clew_testing.servers.openai_schemas import complaint
from clew_testing.servers.openai_server import Fail, Say
from tests.models.support import ask, over, tool

TEXT: dict[str, Any] = {"type": "string"}


@make_tool
def look() -> str:
    """Look."""
    return "fog"


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def deep(levels: int) -> dict[str, Any]:
    return closed(a=deep(levels - 1)) if levels else TEXT


STRICT = [
    closed(),
    closed(a=TEXT, b={"type": ["integer", "null"], "minimum": 1, "maximum": 9}),
    closed(a={"type": "array", "items": closed(b={"type": "string", "enum": ["x", "y"]})}),
    closed(a={"anyOf": [TEXT, {"type": "null"}], "description": "Maybe."}),
    closed(a={"$ref": "#/$defs/one"}) | {"$defs": {"one": closed(b={"$ref": "#"})}},
    closed(a={"type": "string", "format": "date-time"}, b={"type": "string", "const": "x"}),
    deep(9),
]
LOOSE = [
    {"type": "object"},
    {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
    closed(a=TEXT) | {"additionalProperties": True},
    closed(a=TEXT) | {"required": ["a", "b"]},
    closed(a={}),
    closed(a={"enum": ["x"]}),
    closed(a={"type": "array"}),
    closed(a={"type": "string", "minLength": 1}),
    closed(a={"type": "string", "format": "uri"}),
    closed(a={"type": "string", "default": "x"}),
    closed(a={"type": "text"}),
    closed(a={"$ref": "#", "description": "This one."}),
    closed(a={"allOf": [TEXT]}),
    closed(a={"type": "array", "items": closed() | {"additionalProperties": True}}),
    closed() | {"$defs": {"one": {}}},
    deep(10),
]
DEFINED = {"one": closed(a=TEXT), "two": TEXT}
OBJECTS: list[dict[str, Any]] = [
    {"anyOf": [closed(), closed(a=TEXT)]},
    {"anyOf": [{"$ref": "#/$defs/one"}, closed()], "$defs": DEFINED},
]
OTHER: list[dict[str, Any]] = [
    TEXT,
    {},
    {"anyOf": [closed(), TEXT]},
    {"anyOf": [{"$ref": "#/$defs/two"}], "$defs": DEFINED},
    {"$ref": "#/$defs/three", "$defs": DEFINED},
    {"$ref": "#/$defs/any", "$defs": {"any": True}},
    {"anyOf": [True, closed()]},
    {"$ref": "#/$defs/own", "$defs": {"own": closed() | {"$defs": DEFINED}}},
]


def how(schema: Any) -> str:
    return fit(msgspec.json.encode(schema))[0]


def test_which_schemas_can_be_held_to() -> None:
    assert [how(schema) for schema in STRICT] == ["strict"] * len(STRICT)
    assert [how(schema) for schema in LOOSE] == ["object"] * len(LOOSE)
    assert [how(schema) for schema in OBJECTS] == ["objects"] * len(OBJECTS)
    assert [how(schema) for schema in OTHER] == ["other"] * len(OTHER)
    assert how(closed(a=TEXT) | {"anyOf": [closed()]}) == "object"


def test_a_schema_that_is_one_of_its_definitions_is_sent_as_that() -> None:
    kind, sent = fit(msgspec.json.encode({"$ref": "#/$defs/one", "$defs": DEFINED}))
    assert (kind, msgspec.json.decode(sent)) == ("strict", {**DEFINED["one"], "$defs": DEFINED})


def test_which_are_too_large() -> None:
    wide = closed(**{f"p{number}": TEXT for number in range(5001)})
    many = closed(a={"type": "integer", "enum": list(range(1001))})
    long = closed(a={"type": "string", "const": "x" * 120_001})
    assert [how(schema) for schema in (wide, many, long)] == ["object"] * 3


def schemas() -> st.SearchStrategy[Any]:
    plain = st.sampled_from(
        [TEXT, {"type": "null"}, {"type": ["number", "null"]}, {}, {"$ref": "#"}]
    )
    odd = st.sampled_from([{}, {}, {}, {"minLength": 1}, {"title": "T"}, {"format": "date"}])

    def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        objects = st.dictionaries(st.sampled_from("abc"), inner).map(lambda found: closed(**found))
        arrays = inner.map(lambda found: {"type": "array", "items": found})
        unions = st.lists(inner, min_size=1, max_size=2).map(lambda found: {"anyOf": found})
        return st.builds(lambda one, more: one | more, objects | arrays | unions, odd)

    return st.recursive(plain, wider, max_leaves=8)


@given(schemas())
def test_the_server_agrees_on_what_is_strict(inner: Any) -> None:
    schema = closed(a=inner)
    assert (how(schema) == "strict") == (complaint(schema, strict=True) == "")


@pytest.mark.parametrize(
    ("provider", "schema", "strict"),
    [
        ("openai", STRICT[1], True),
        ("openai", LOOSE[1], False),
        ("vllm", LOOSE[1], False),
        ("openai", OBJECTS[0], None),
    ],
)
async def test_the_form_is_asked_for(provider: str, schema: Any, strict: bool | None) -> None:
    async with over([Say("{}"), Say("Ok.")], provider=provider) as (model, server, _):
        assert (await model.complete(ask("Reply in JSON.", reply_schema=schema))).text == "{}"
        await model.complete(ask())
    first, second = (request.body for request in server.requests)
    named = {"name": "reply", "strict": strict, "schema": schema}
    expected = {"type": "json_schema", "json_schema": named}
    assert first["response_format"] == ({"type": "json_object"} if strict is None else expected)
    assert "response_format" not in second


@dataclass(frozen=True)
class Light:
    name: str
    seen: list[int]


@pytest.mark.parametrize(
    ("kind", "text", "answer", "asked"),
    [
        (Light, '{"name": "Ar-Men", "seen": [1, 2]}', Light("Ar-Men", [1, 2]), "json_schema"),
        (int, "42", 42, None),
        (list[str], '["a"]', ["a"], None),
    ],
)
async def test_a_typed_answer_is_held_to_its_schema_in_the_landing(
    kind: Any, text: str, answer: Any, asked: str | None
) -> None:
    async with over([Say(calls=[("look", "{}")]), Say(text)]) as (model, server, _):
        agent = Agent(model=model, tools=[look], answer=kind, limits=Limits(steps=1))
        result = await run(agent, "Which?", store=MemoryStore())
    assert (result.answer, result.status) == (answer, "bound")
    first, landing = (request.body for request in server.requests)
    assert ("response_format" in first, landing["tool_choice"]) == (False, "none")
    form = landing.get("response_format")
    assert (form and form["type"]) == asked
    assert form is None or form["json_schema"]["strict"]


async def test_servers_that_run_models_themselves_are_asked_for_any_schema() -> None:
    async with over([Say("{}")], provider="vllm") as (model, server, _):
        await model.complete(ask("Reply in JSON.", reply_schema=OBJECTS[0]))
    forms = [request.body["response_format"] for request in server.requests]
    assert forms[0]["json_schema"] == {"name": "reply", "strict": False, "schema": OBJECTS[0]}
    assert forms[1] == {"type": "json_object"}


@pytest.mark.parametrize(
    "fail",
    [
        Fail(400, "Invalid schema for response_format 'reply': no."),
        Fail(400, "This response_format type is unavailable now"),
        Fail(422, "json mode cannot be combined with tool/function calling"),
        Fail(400, "Cannot use custom grammar constraints with tools."),
        Fail(400, "Failed to generate JSON.", "json_validate_failed"),
    ],
)
async def test_a_form_that_is_refused_gives_way_to_a_wider_one_and_then_to_none(fail: Fail) -> None:
    async with over([fail, Say("{}"), fail, Say("{}"), Say("{}")]) as (model, server, waits):
        for _ in range(3):
            await model.complete(
                ask("Reply in JSON.", reply_schema=STRICT[1], tools=(tool("search"),))
            )
    kinds = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert kinds == ["json_schema", "json_object", "json_object", None, None]
    assert waits == []


async def test_without_the_word_json_there_is_no_json_mode() -> None:
    async with over([Say("{}")]) as (model, server, _):
        await model.complete(ask("What?", reply_schema=OBJECTS[0]))
    kinds = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert kinds == ["json_object", "json_object", None]


async def test_the_users_own_form_wins_and_its_refusal_is_told() -> None:
    own = {"response_format": {"type": "text"}}
    refusal = Fail(400, "response_format is not supported with this model")
    async with over([Say("Ok."), refusal], settings=ModelSettings(extra=own)) as (model, server, _):
        await model.complete(ask(reply_schema=STRICT[1]))
        with pytest.raises(ModelError, match="response_format is not supported"):
            await model.complete(ask(reply_schema=STRICT[1]))
    assert [request.body["response_format"] for request in server.requests] == [
        {"type": "text"},
        {"type": "text"},
    ]


@pytest.mark.parametrize("make", [openai_chat, openai_responses])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "enum", "not"])
async def test_a_tool_that_openai_cannot_take_is_told_before_the_first_call(
    make: Any, keyword: str
) -> None:
    value = {} if keyword == "not" else [closed()]
    odd = replace(tool("odd"), parameters={"type": "object", keyword: value})
    said = f"OpenAI takes no '{keyword}' at the top of a tool's schema, and 'odd' has one: put"
    model = make("m", api_key="k")
    with pytest.raises(ConfigError, match=said):
        Agent(model=model, tools=[tool("search"), odd])
    elsewhere = make("m", api_key="k", provider="vllm", base_url="http://localhost:8000/v1")
    Agent(model=elsewhere, tools=[odd])
    # One that refuses it as OpenAI does is sent the schema without that.
    async with over([Say("Ok.")], make=make, provider="vllm") as (alike, server, _):
        assert (await alike.complete(ask(tools=(odd,)))).text == "Ok."
    assert f'"{keyword}"'.encode() not in server.requests[-1].raw


@pytest.mark.parametrize("make", [openai_chat, openai_responses])
async def test_arguments_are_an_object_where_the_schema_does_not_say_so(make: Any) -> None:
    bare = replace(tool("bare"), parameters={"properties": {"a": TEXT}})
    async with over([Say("Ok.")], make=make) as (model, server, _):
        await model.complete(ask(tools=(bare,)))
    [declared] = server.requests[0].body["tools"]
    function = declared.get("function", declared)
    assert function["parameters"] == {"type": "object", "properties": {"a": TEXT}}
