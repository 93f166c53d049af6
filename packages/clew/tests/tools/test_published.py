from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.core.actions import Action
from clew.core.codes import FINISH
from clew.core.tools import Tool
from clew.core.values import Json
from clew.testing.models import Move, ScriptedModel, say
from clew.tools.definitions import Published, published
from clew.tools.schema import example, problems
from clew.tools.schema_repair import usable


async def echo(name: str, args: dict[str, Json], key: str) -> Json:
    return {"name": name, "args": args, "key": key}


def only(definition: Json, **options: Any) -> Published:
    return published([definition], echo, **options)[0]


def taken(schema: dict[str, Json], *values: Json) -> list[bool]:
    """Which values a property of this published schema takes."""
    mended = usable({"properties": {"a": schema}})[0]
    return [not problems(mended, {"a": value}) for value in values]


# ---------------------------------------------------------------- schemas


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("long", 1, "1"),
        ("HashMap", {}, []),
        ("ArrayList", [], {}),
        ("char", "c", 1),
        ("list[str]", [], "a"),
        ("Map<String, Integer>", {"a": 1}, "a"),
        ("Dictionary", {}, 1),
    ],
)
def test_types_of_other_languages_are_read(kind: str, right: Json, wrong: Json) -> None:
    assert taken({"type": kind}, right, wrong) == [True, False]


@pytest.mark.parametrize(
    ("schema", "values", "passes"),
    [
        ({"type": "string", "default": None}, ["x", None, 1], [True, True, False]),
        ({"type": "string", "nullable": True}, [None, 1], [True, False]),
        ({"type": "string", "enum": ["x", None]}, ["x", None, "y"], [True, True, False]),
        ({"enum": ["x"], "default": None}, ["x", None, "y"], [True, True, False]),
        ({"type": ["string", "null"], "default": None}, [None], [True]),
        ({"type": "string", "enum": ["x"], "default": "any"}, ["any", "y"], [True, False]),
        ({"type": "integer", "default": "all"}, [3, "all", "y"], [True, True, False]),
        ({"type": "integer", "default": 3}, [3, "3"], [True, False]),
        ({"type": "array", "enum": ["x", "y"]}, [["x"], ["z"], "x"], [True, False, False]),
        (
            {"type": "array", "items": {"type": "string"}, "enum": ["x"], "default": []},
            [[], ["x"], ["z"]],
            [True, True, False],
        ),
        ({"type": "boolean", "enum": ["True", "any"]}, [True, "any", "no"], [True, True, False]),
        (
            {"type": "boolean", "enum": ["True"], "default": "any"},
            [False, "True", "any", "no"],
            [True, True, True, False],
        ),
        ({"type": "array", "items": {"enum": [1]}, "enum": ["x"]}, [[1], "x", [2]],
         [True, True, False]),
        ({"type": "string", "enum": []}, ["x", 1], [True, False]),
        ({"type": "string", "enum": None, "items": None}, ["x", 1], [True, False]),
    ],
)  # fmt: skip
def test_what_a_schema_calls_legal_is_legal(
    schema: dict[str, Json], values: list[Json], passes: list[bool]
) -> None:
    assert taken(schema, *values) == passes
    mended, lines = usable({"properties": {"a": schema}})
    changed = mended["properties"]["a"] != schema
    assert bool(lines) == changed
    assert usable(mended) == (mended, ())


def test_a_default_of_all_arguments_says_nothing_of_them() -> None:
    schema, lines = usable({"type": "dict", "properties": {}, "default": "none"})
    assert schema == {"type": "object", "properties": {}, "default": "none"}
    assert lines == ("parameters: type 'dict' is read as 'object'",)


# ---------------------------------------------------------------- definitions


FORMS: list[Json] = [
    {"name": "add", "description": "Add.", "parameters": {"properties": {"a": {"type": "int"}}}},
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add.",
            "parameters": {"properties": {"a": {"type": "int"}}},
        },
    },
    {"name": "add", "description": "Add.", "input_schema": {"properties": {"a": {"type": "int"}}}},
    {"name": "add", "description": "Add.", "inputSchema": {"properties": {"a": {"type": "int"}}}},
]


@pytest.mark.parametrize("definition", FORMS)
def test_a_definition_may_have_any_of_the_usual_forms(definition: Json) -> None:
    made = only(definition, effect="pure", trust="trusted", timeout=5)
    tool = made.tool
    assert (tool.name, tool.description, tool.effect, tool.trust, tool.attempts.timeout) == (
        *("add", "Add.", "pure", "trusted"),
        5,
    )
    assert tool.parameters == {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert made.changes == (
        "a: type 'int' is read as 'integer'",
        "parameters: other arguments are refused",
    )


def test_what_a_definition_lacks_or_has_besides_is_told() -> None:
    bare = only({"name": "now", "returns": "text", "parameters": None})
    assert bare.changes == (
        "returns: not read",
        "description: there is none, so the name stands for it",
        "parameters: there are none, so it takes no arguments",
        "parameters: other arguments are refused",
    )
    assert problems(bare.tool.parameters, {}) == []
    assert problems(bare.tool.parameters, {"a": 1})
    asked = only(
        {"name": "x", "description": "X.", "parameters": {"properties": {}, "required": ["a"]}}
    )
    assert "a: required and not described, any value passes" in asked.changes
    assert problems(asked.tool.parameters, {"a": 1}) == []
    assert problems(asked.tool.parameters, {}) != []


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object"},
        {"properties": {"a": {}}, "additionalProperties": True},
        {"properties": {"a": {}}, "patternProperties": {"^x": {}}},
        {"properties": {"a": {}}, "allOf": [{"properties": {"x": {}}}]},
    ],
)
def test_other_arguments_pass_where_the_schema_may_mean_them(parameters: Json) -> None:
    made = only({"name": "x", "description": "X.", "parameters": parameters})
    assert problems(made.tool.parameters, {"x": 1}) == []
    assert made.changes == ()


NAMES: dict[str, str] = {
    "get weather": "get_weather_2",
    "get_weather": "get_weather",
    "get/weather": "get_weather_3",
    "año.count": "ano.count",
    FINISH: f"{FINISH}_2",
    "天気": "__",
    "x" * 70: "x" * 64,
    "x" * 71: "x" * 62 + "_2",
}


async def test_names_no_provider_takes_are_made_legal_and_come_back_as_published() -> None:
    schema: Json = {
        "properties": {"year of birth": {"type": "int"}, "año": {"type": "string"}, "a": {}},
        "required": ["año"],
    }
    made = published([{"name": name, "parameters": schema} for name in NAMES], echo)
    assert {each.name: each.tool.name for each in made} == NAMES
    for each in made:
        assert each.renamed == {"year_of_birth": "year of birth", "ano": "año"}
        assert problems(each.tool.parameters, {"ano": "x", "year_of_birth": 2}) == []
        assert example(each.tool.parameters) == {"ano": "..."}
        assert await each.tool.call({"ano": "x", "a": 1}, "k") == {
            "name": each.name,
            "args": {"año": "x", "a": 1},
            "key": "k",
        }
        assert "ano" in str([line for line in each.changes if line.startswith("año")])
    assert f"name: {FINISH!r} is called 'finish_2'" in made[4].changes


async def test_a_run_calls_a_published_tool_by_its_legal_name() -> None:
    made = only({"name": "get weather", "parameters": {"properties": {"día": {"type": "str"}}}})
    tool: Tool = made.tool
    script = [
        Move("", (Action("get_weather", {"dia": "today", "hour": 3}),)),
        Move("", (Action("get_weather", {"dia": "today"}),)),
        say("Sunny."),
    ]
    store = MemoryStore()
    result = await run(Agent(model=ScriptedModel(script), tools=[tool]), "Weather?", store=store)
    refused, done = (call.observation for call in (await read(result.run_id, store=store)).calls)
    assert refused is not None
    assert done is not None
    assert refused.code == "invalid_arguments"
    assert done.content["name"] == "get weather"
    assert done.content["args"] == {"día": "today"}


@pytest.mark.parametrize(
    ("definitions", "words"),
    [
        ([{"description": "no name"}], "has no name"),
        (["x"], "has no name"),
        ([{"name": "a"}, {"name": "a"}], "two published tools are called a"),
        ([{"name": "a", "parameters": {"type": "string"}}], "published tool 'a': a tool takes"),
        ([{"name": "a", "parameters": []}], "published tool 'a': .* JSON object"),
    ],
)
def test_what_is_no_definition_is_refused(definitions: list[Json], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        published(definitions, echo)


BENT: dict[str, Json] = {
    "a text as arguments": {"name": "bent", "parameters": {"type": "string"}},
    "a list": {"name": "bent", "parameters": []},
    "a list as arguments": {"name": "bent", "input_schema": {"type": "array", "items": {}}},
    "true": {"name": "bent", "inputSchema": True},
    "a number": {"name": "bent", "parameters": 7},
    "dangling": {"name": "bent", "parameters": {"properties": {"a": {"$ref": "#/$defs/no"}}}},
    "elsewhere": {"name": "bent", "parameters": {"properties": {"a": {"$ref": "http://[::1]:9/"}}}},
    "a broken pattern": {"name": "bent", "parameters": {"properties": {"a": {"pattern": "("}}}},
    "a length in words": {"name": "bent", "parameters": {"properties": {"a": {"minLength": "x"}}}},
    "a bound of draft 4": {
        "name": "bent",
        "parameters": {"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}},
    },
    "properties a text": {"name": "bent", "parameters": {"type": "object", "properties": "a"}},
    "required a text": {"name": "bent", "parameters": {"type": "object", "required": "a"}},
    "no choice": {"name": "bent", "parameters": {"type": "object", "anyOf": {}}},
    "as a function": {
        "type": "function",
        "function": {"name": "bent", "parameters": {"type": "integer"}},
    },
    "no name": {"description": "bent"},
    "an empty name": {"name": "", "description": "bent"},
    "a name that is none": {"name": ["bent"], "parameters": {}},
    "a text": "bent",
    "a list of them": [{"name": "bent"}],
}


@pytest.mark.parametrize("bent", BENT.values(), ids=BENT)
async def test_one_bad_definition_does_not_hide_the_good_ones(
    bent: Json, caplog: pytest.LogCaptureFixture
) -> None:
    good: list[Json] = [{"name": "one", "parameters": {"properties": {"a": {}}}}, {"name": "two"}]
    made = published([good[0], bent, good[1]], echo)
    assert [each.name for each in made] == ["one", "two"]
    (line,) = [each.getMessage() for each in caplog.records if each.name == "clew"]
    assert line.startswith("left out: ")
    assert "bent" in line or '"name":""' in line
    script = [Move("", (Action("one", {"a": 1}), Action("two", {}))), say("Done.")]
    agent = Agent(ScriptedModel(script), tools=[each.tool for each in made])
    result = await run(agent, "Both.", store=(store := MemoryStore()))
    seen = [call.observation for call in (await read(result.run_id, store=store)).calls]
    assert [each.content["name"] for each in seen if each is not None] == ["one", "two"]


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["a", "b", "a"], ["b"]),
        (["a", "a", "b", "b", "c"], ["c"]),
        (["a", "A", "a "], ["a", "A", "a "]),
    ],
)
def test_of_two_definitions_of_one_name_there_is_none(names: list[str], left: list[str]) -> None:
    made = published([{"name": name} for name in names], echo)
    assert [each.name for each in made] == left
