import http.server
import itertools
import threading
from typing import Any

import hypothesis
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent
from clew.core.contents import Observation
from clew.core.tools import Tool
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.support.nearest_name import nearest
from clew.tools import tool
from clew.tools.schema import (
    checked,
    compile_schema,
    example,
    problems,
    problems_of_visible,
    schema_hash,
)
from clew.tools.schema_repair import usable
from clew.tools.validation_messages import MAX_LINES, describe_schema


def made(name: str, description: str = "Do it.", **fields: Any) -> Tool:
    async def call(args: dict[str, Json], key: str) -> Observation:
        return Observation()

    parameters: Json = {"type": "object", "properties": {}, "additionalProperties": False}
    return Tool(name, description, fields.pop("parameters", parameters), call, **fields)


SEARCH: dict[str, Json] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
        "sort": {"enum": ["new", "old"]},
        "only": {"const": "x"},
        "one": {"enum": [7]},
        "maybe": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/A~1B~0"}, {"type": "null"}]},
        "least": {"type": "number", "minimum": 0.5},
        "most": {"type": ["number", "string"], "maximum": 2},
        "many": {"enum": list(range(20))},
        "list": {"type": "array", "items": {"$ref": "#/$defs/A~1B~0"}, "maxItems": 2},
        "odd": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
        "shape": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "dot"}, "x": {"type": "integer"}},
                    "required": ["kind", "x"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "box"}, "w": {"type": "integer"}},
                    "required": ["kind", "w"],
                    "additionalProperties": False,
                },
            ]
        },
        "free": True,
        "pair": {"prefixItems": [{"type": "integer"}], "items": False},
        "nothing": {"type": "object", "additionalProperties": False},
        "same": {"anyOf": [{"minimum": 3}, {"minimum": 3}]},
    },
    "required": ["query"],
    "additionalProperties": False,
    "$defs": {
        "A/B~": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "more": {"$ref": "#/$defs/A~1B~0"}},
            "required": ["a"],
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        ({"query": "x", "limit": 1, "free": [], "maybe": None}, []),
        ({}, ["query: missing, a string is required"]),
        (
            {"quary": "x"},
            [
                "quary: unknown argument; did you mean query?",
                "query: missing, a string is required",
            ],
        ),
        ({"limit": "5"}, ['limit: "5" is a string, an integer from 1 to 5 is required']),
        ({"sort": "up"}, ['sort: "up" is not allowed, one of "new", "old" is required']),
        ({"only": "y"}, ['only: "y" is not allowed, "x" is required']),
        ({"one": 8}, ["one: 8 is not allowed, 7 is required"]),
        (
            {"maybe": "x"},
            ['maybe: "x" is not allowed, an integer or an object or null is required'],
        ),
        ({"maybe": {"a": "x"}}, ['maybe.a: "x" is a string, an integer is required']),
        ({"maybe": {}}, ["maybe.a: missing, an integer is required"]),
        ({"least": False}, ["least: false is a boolean, a number of at least 0.5 is required"]),
        ({"most": []}, ["most: [] is a list, a number or a string of at most 2 is required"]),
        ({"list": {}}, ["list: {} is an object, a list is required"]),
        (
            {"list": [{"a": 1}, {"a": 1, "b": 2}]},
            ["list[1].b: unknown argument; there are: a, more"],
        ),
        (
            {"list": [{"a": 1, "more": {"a": None}}]},
            ["list[0].more.a: null is not allowed, an integer is required"],
        ),
        (
            {"odd": 1},
            [
                "odd: 1 is valid under more than one of the schemas listed in the 'oneOf' keyword",
            ],
        ),
        ({"shape": {"kind": "dot"}}, ["shape.x: missing, an integer is required"]),
        ({"nothing": {"a": 1}}, ["nothing.a: unknown argument; there are none"]),
        ({"pair": [1, 2]}, ["pair[1]: 2 is one too many"]),
        ({"same": 1}, ["same: 1 is not allowed, a value is required"]),
        ({"query": ""}, ['query: "" is shorter than 1 character']),
    ],
)
def test_a_line_says_where_what_and_what_instead(args: dict[str, Json], lines: list[str]) -> None:
    whole = (
        args if "query" in args or any("query" in line for line in lines) else args | {"query": "x"}
    )
    assert problems(SEARCH, whole) == lines


def test_long_lists_of_options_and_long_values_are_cut() -> None:
    (line,) = problems(SEARCH, {"query": "x", "many": "y" * 500})
    assert len(line) < 250
    assert "11, … is required" in line


def test_only_a_few_problems_are_told() -> None:
    lines = problems(SEARCH, {"query": "x"} | {f"x{n}": 1 for n in range(20)})
    assert len(lines) == MAX_LINES + 1
    assert lines[-1] == f"and {20 - MAX_LINES} more"


def test_the_noun_may_be_another() -> None:
    assert problems(SEARCH, {"query": "x", "z": 1}, "field")[0].startswith("z: unknown field")


def test_the_whole_may_be_wrong() -> None:
    assert problems(SEARCH, []) == ["value: [] is a list, an object is required"]
    assert problems(SEARCH, object()) == ["value: not JSON: Unsupported type: 'object'"]


def test_other_keywords_speak_for_themselves() -> None:
    schema = {"type": "string", "pattern": "^a", "maxLength": 1}
    lines = problems(schema, "bb")
    assert lines == [
        'value: "bb" is longer than 1 character',
        'value: "bb" does not match "^a"',
    ]
    assert problems({"unevaluatedProperties": False}, {"a": 1}) == [
        "a: unknown argument; there are none"
    ]
    assert problems({"dependentRequired": {"a": ["b"]}}, {"a": 1}) == [
        "b: missing, a value is required"
    ]


def test_equal_schemas_share_one_validator() -> None:
    assert compile_schema(dict(SEARCH)) is compile_schema(SEARCH)


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "dict"}, "no JSON Schema"),
        ({"$ref": "#/$defs/none"}, "no JSON Schema"),
        ({"pattern": "("}, "no JSON Schema"),
        ({"default": object()}, "must be JSON"),
    ],
)
def test_what_is_no_schema_is_refused(schema: dict[str, Json], word: str) -> None:
    with pytest.raises(ConfigError, match=word) as caught:
        compile_schema(schema)
    assert "\n" not in str(caught.value)


def test_a_schema_fetches_nothing() -> None:
    asked: list[str] = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever).start()
    try:
        with pytest.raises(ConfigError, match="outside the schema"):
            compile_schema({"$ref": f"http://127.0.0.1:{server.server_port}/a.json"})
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


# ---------------------------------------------------------------- properties

NAMES = st.sampled_from(["a", "b", "query", "limit", "type", "items", "x/y", "é"])
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def objects(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.dictionaries(NAMES, inner, max_size=3).flatmap(
        lambda properties: st.builds(
            lambda required, closed: {
                "type": "object",
                "properties": properties,
                "required": sorted(required),
                "additionalProperties": not closed,
            },
            st.sets(st.sampled_from(sorted(properties))) if properties else st.just(set[str]()),
            st.booleans(),
        )
    )


def bounded(low: int, size: int) -> Json:
    return {"type": "integer", "minimum": low, "maximum": low + size}


def sized(low: int, size: int) -> Json:
    return {"type": "string", "minLength": low, "maxLength": low + size}


def listed(item: Json, least: int) -> Json:
    return {"type": "array", "items": item, "minItems": least}


def paired(forms: list[Json]) -> Json:
    return {"type": "array", "prefixItems": forms, "items": False}


KINDS = ("string", "integer", "number", "boolean", "null")
OPTIONS = st.lists(st.integers() | st.text(), min_size=1, unique=True)
SIMPLE: st.SearchStrategy[Json] = st.one_of(
    st.sampled_from([{"type": kind} for kind in KINDS]),
    st.builds(bounded, st.integers(-9, 9), st.integers(0, 9)),
    st.builds(lambda low: {"type": "integer", "exclusiveMinimum": low}, st.integers(-9, 9)),
    st.builds(lambda high: {"type": "number", "exclusiveMaximum": high}, st.integers(-9, 9)),
    st.builds(sized, st.integers(0, 9), st.integers(0, 9)),
    st.builds(lambda options: {"enum": options}, OPTIONS),
    st.builds(lambda value: {"const": value}, VALUES),
    st.builds(lambda value: {"examples": [value]}, VALUES),
    st.builds(lambda value: {"default": value}, VALUES),
    st.just({"$ref": "#/$defs/deep"}),
    st.just(True),
    st.just({}),
)
SCHEMAS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        objects(inner),
        st.builds(listed, inner, st.integers(0, 3)),
        st.builds(lambda item: {"type": "array", "items": item, "uniqueItems": True}, inner),
        st.builds(paired, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda forms: {"anyOf": forms}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda form: {"allOf": [form]}, inner),
        st.just({"type": ["integer", "null"]}),
    ),
    max_leaves=6,
)


def whole(schema: Json) -> dict[str, Json]:
    """An object schema around another one, with a definition that holds itself."""
    deep = {"type": "object", "properties": {"deep": {"$ref": "#/$defs/deep"}}}
    return {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
        "$defs": {"deep": deep},
    }


@hypothesis.example({"type": "array", "items": {"type": "boolean"}, "uniqueItems": True})
@given(SCHEMAS)
def test_an_example_meets_its_schema(schema: Json) -> None:
    shown = example(whole(schema))
    assert problems(whole(schema), shown) == []


@given(SCHEMAS, VALUES)
def test_there_are_lines_exactly_where_the_value_is_wrong(schema: Json, value: Json) -> None:
    outer = whole(schema)
    lines = problems(outer, {"value": value})
    assert bool(lines) != jsonschema_rs.is_valid(outer, {"value": value})
    assert len(lines) <= MAX_LINES + 1
    assert all("\n" not in line and line.startswith(("value", "and ")) for line in lines)


@given(SCHEMAS)
def test_a_right_schema_is_usable_as_it_is(schema: Json) -> None:
    assert usable(whole(schema)) == (whole(schema), ())


def test_an_example_names_what_it_is_asked_for_and_ends_where_a_schema_does_not() -> None:
    assert example(SEARCH) == {"query": "..."}
    assert example(SEARCH, also=["limit"]) == {"query": "...", "limit": 3}
    endless = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
    }
    assert "..." in str(example(endless))
    assert describe_schema(endless, endless) == "a list"
    circle = {"$ref": "#"}
    assert describe_schema(circle, circle) == "a value"
    assert example(circle) == "..."
    assert example({"type": "null"}) is None
    assert example({"type": "boolean"}) is True
    assert example({"enum": ["one", "two"]}) == "one"
    assert example({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}) == 3
    assert example({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}]}) == [1, 2]
    assert example({"type": "string", "default": "x"}) == "x"
    assert example({"type": "string", "examples": ["y"]}) == "y"
    broken = {"$ref": "#/$defs/a"}
    assert describe_schema(broken, broken) == "a value"


# ---------------------------------------------------------------- published schemas


def test_published_types_are_read_in_the_words_of_json_schema() -> None:
    published = {
        "properties": {
            "a": {"type": "dict", "properties": {"b": {"type": "float", "required": True}}},
            "c": {"type": "any"},
            "d": {"type": ["str", "None", "string"]},
            "e": {"type": "Decimal"},
            "f": {"type": "tuple", "items": [{"type": "INTEGER"}]},
            "g": {"type": "string", "required": False},
            "type": {"type": "string"},
            "h": True,
        },
        "required": ["a"],
        "anyOf": [{"properties": {"c": {"type": "list"}}}],
    }
    schema, lines = usable(published)
    assert schema == {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "number"}}, "required": ["b"]},
            "c": {},
            "d": {"type": ["string", "null"]},
            "e": {},
            "f": {"type": "array", "prefixItems": [{"type": "integer"}]},
            "g": {"type": "string"},
            "type": {"type": "string"},
            "h": True,
        },
        "required": ["a"],
        "anyOf": [{"properties": {"c": {"type": "array"}}}],
    }
    assert "a: type 'dict' is read as 'object'" in lines
    assert "a.b: type 'float' is read as 'number'" in lines
    assert "e: unknown type 'Decimal' lets any value pass" in lines
    assert "c: type 'any' lets any value pass" in lines
    assert [line.partition(":")[0] for line in lines].count("f") == 3
    assert usable(schema) == (schema, ())
    assert published["required"] == ["a"]


def test_a_property_that_is_required_twice_is_named_once() -> None:
    published = {"properties": {"a": {"required": True}}, "required": ["a"]}
    assert usable(published)[0]["required"] == ["a"]


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ([], "JSON object"),
        ({"a": object()}, "JSON object"),
        ({"type": "string"}, "takes an object"),
        ({"properties": {"a": {"pattern": "("}}}, "no JSON Schema"),
    ],
)
def test_what_cannot_be_mended_is_refused(schema: Json, word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        usable(schema)


# ---------------------------------------------------------------- tools


def test_a_hash_says_whether_a_tool_is_the_same() -> None:
    one = made("a", parameters={"type": "object", "properties": {"x": {}, "y": {}}})
    other = made("a", parameters={"properties": {"y": {}, "x": {}}, "type": "object"})
    assert schema_hash(one) == schema_hash(other)
    assert len(schema_hash(one)) == 16
    assert int(schema_hash(one), 16)
    changed = [
        made("b"),
        made("a", "Do that."),
        made("a", effect="read"),
        made("a", trust="trusted"),
        made("a", result={}),
        made("a", hidden=True),
        made("a", examples=({},)),
    ]
    assert len({schema_hash(tool) for tool in [made("a"), *changed]}) == len(changed) + 1


def test_a_tool_by_hand_is_checked_like_any_other() -> None:
    assert checked(made("a.b-c")).name == "a.b-c"
    for wrong in (
        made("a b"),
        made(""),
        made("a" * 65),
        made("a", "  "),
        made("a", parameters={"type": "string"}),
        made("a", parameters={"type": "object", "required": "x"}),
    ):
        with pytest.raises(ConfigError):
            checked(wrong)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("serch", "search"),
        ("Search", "search"),
        ("web-search", "web_search"),
        ("functions.calc", "calc"),
        ("calculator", "calc"),
        ("zzz", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_the_nearest_name(name: str, found: str | None) -> None:
    assert nearest(name, ["search", "web_search", "calc"]) == found


def test_many_tools_are_warned_of_and_too_many_refused() -> None:
    def tools(count: int) -> list[Tool]:
        letters = itertools.product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "qxyz")
        names = ("".join(one) * 2 for one in itertools.islice(letters, 0, None, 97))
        return [made(name, name) for name in itertools.islice(names, count)]

    hidden = [made(f"h{n}", hidden=True) for n in range(50)]
    assert [
        line for line in problems_of_visible([*tools(15), *hidden]) if "are shown" in line
    ] == []
    assert "16 tools are shown" in problems_of_visible(tools(16))[0]
    assert "29" in problems_of_visible(tools(29))[0]


def test_over_forty_tools_are_refused() -> None:
    with pytest.raises(ConfigError, match="41 tools"):
        Agent("offline", [made(f"t{n}") for n in range(41)])
    hidden = [made(f"h{n}", hidden=True) for n in range(9)]
    Agent("offline", [*(made(f"t{n}") for n in range(40)), *hidden])


def test_tools_that_look_alike_are_named() -> None:
    long = "Search the company's wiki for pages about a word"
    lines = problems_of_visible(
        [
            made("read_file", "Read it."),
            made("readfiles", "Read it."),
            made("wiki", long),
            made("pages", f"{long}."),
        ]
    )
    assert lines == [
        "tools read_file and readfiles have nearly the same name: rename one",
        "tools wiki and pages have nearly the same description: say when to use which",
    ]


def test_a_function_and_a_schema_by_hand_meet_the_same_validator() -> None:
    @tool
    def search(query: str) -> None:
        """Search."""

    by_hand = made("search", parameters=search.parameters)
    assert compile_schema(search.parameters) is compile_schema(by_hand.parameters)


def test_a_tool_without_parameters_takes_none() -> None:
    assert problems(made("a").parameters, {"x": 1, "y": 2}) == [
        "x: unknown argument; there are none",
        "y: unknown argument; there are none",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"type": "string", "maxLength": 20}, "a" * 90, "… is longer than 20 characters"),
        ({"type": "string", "minLength": 200}, "é" * 90, "… is shorter than 200 characters"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "B" * 90, '… does not match "^[a-z]+$"'),
        ({"type": "string", "pattern": "^b"}, "a\n" * 50, '… does not match "^b"'),
        ({"type": "array", "maxItems": 2}, ["x" * 50] * 3, "… has more than 2 items"),
        ({"type": "array", "minItems": 9}, ["x" * 50] * 3, "… has less than 9 items"),
        ({"type": "array", "uniqueItems": True}, ["x" * 50] * 3, "… has non-unique elements"),
        (
            {"type": "object", "maxProperties": 1},
            {"a" * 60: 1, "b": 2},
            "… has more than 1 property",
        ),
        ({"type": "integer", "maximum": 9}, 10**70, "… is greater than the maximum of 9"),
        ({"type": "integer", "multipleOf": 7}, 10**17, " is not a multiple of 7"),
    ],
)
def test_a_long_value_hides_no_reason(schema: dict[str, Any], value: Any, reason: str) -> None:
    (line,) = problems({"type": "object", "properties": {"v": schema}}, {"v": value})
    assert line.startswith("v: ")
    assert line.endswith(reason), line
