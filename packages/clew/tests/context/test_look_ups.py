"""Which tools worked examples are made of, and how these call them."""

from typing import Any

import pytest

from clew.context.demonstrations import DEMONSTRATIONS, demonstrations
from clew.context.tool_examples import tool_examples
from clew.core.actions import Action
from clew.core.tools import ToolSpec
from clew.support.errors import ConfigError

TEXT: dict[str, Any] = {"type": "string"}


def tool(
    name: str = "search", describe: str = "Do.", /, *, required: Any = (), **properties: Any
) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": [*required]}
    return ToolSpec(name, describe, parameters, effect="read")


def calls(*tools: ToolSpec) -> list[Action]:
    """The calls of the first two examples that are made of these tools."""
    return [
        call.action
        for example in tool_examples(tools)[:2]
        for step in example.steps[:-1]
        for call in step.calls
    ]


def able(one: ToolSpec) -> bool:
    return tool_examples([one]) != ()


@pytest.mark.parametrize(
    "words",
    ["query", "question", "search", "text", "keywords", "words", "phrase", "input", "q"],
)
def test_words_are_put_where_words_are_taken(words: str) -> None:
    assert calls(tool(**{words: TEXT}))[:2] == [
        Action("search", {words: "Farrow height"}), Action("search", {words: "Ostrel height"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "title", ["title", "entity", "name", "topic", "term", "subject", "keyword", "article"]
)
def test_a_title_is_put_where_a_title_is_taken(title: str) -> None:
    assert calls(tool(**{title: TEXT}))[0] == Action("search", {title: "Farrow"})


def test_words_come_before_titles_and_in_order() -> None:
    assert calls(tool(title=TEXT, q=TEXT, query=TEXT))[0].args == {"query": "Farrow height"}


@pytest.mark.parametrize("bound", ["enum", "const", "pattern", "format"])
def test_a_text_must_be_free(bound: str) -> None:
    assert not able(tool(query=TEXT | {bound: "x"}))
    assert not able(tool(query={"type": "integer"}))
    assert not able(tool(query=True))
    assert not able(tool(other=TEXT))


@pytest.mark.parametrize(
    ("name", "describe", "looks_up"),
    [
        ("search", "Do.", True),
        ("LookAt", "Do.", True),
        ("find", "Do.", True),
        ("fetch", "Do.", True),
        ("wiki", "Do.", True),
        ("calc", "Do.", False),
        ("calc", "Retrieves a number.", True),
        ("calc", "x" * 40 + " one passage", True),
        ("calc", "x" * 60 + " one passage", False),
        ("calc", "x" * 56 + "page", True),
        ("calc", "x" * 57 + "page", False),
    ],
)
def test_a_tool_looks_things_up_by_its_name_or_description(
    name: str, describe: str, looks_up: bool
) -> None:
    assert able(tool(name, describe, query=TEXT)) == looks_up


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"examples": [3, 4]}, 3),
        ({"enum": ["a", "b"]}, "a"),
        ({"examples": [3], "enum": ["a"]}, 3),
        ({"const": 5}, 5),
        ({"default": 6}, 6),
        ({"const": 5, "default": 6}, 5),
        ({"type": "integer"}, None),
    ],
)
def test_what_else_is_required_is_taken_from_its_schema(schema: Any, value: Any) -> None:
    one = tool(required=["query", "n"], query=TEXT, n=schema)
    assert able(one) == (value is not None)
    if value is not None:
        assert calls(one)[0].args == {"n": value, "query": "Farrow height"}
    assert calls(tool(required=["query"], query=TEXT, n=schema))[0].args == {
        "query": "Farrow height"
    }


def test_an_example_of_the_tool_comes_first() -> None:
    one = tool(required=["query", "n"], query=TEXT, n={"default": 1})
    shown = ToolSpec(
        one.name, one.description, one.parameters, effect="read", examples=({"n": 9}, {"n": 8})
    )
    assert calls(shown)[0].args == {"n": 9, "query": "Farrow height"}


def test_two_tools_take_turns_and_those_without_effects_come_first() -> None:
    unsafe = ToolSpec("fetch", "Do.", tool(query=TEXT).parameters, effect="unsafe")
    idempotent = ToolSpec("fetch", "Do.", tool(query=TEXT).parameters, effect="idempotent")
    read, pure = tool("search", query=TEXT), tool("find", query=TEXT)
    names = [call.name for call in calls(unsafe, read, pure)]
    assert names == ["search", "search", "search", "find"]
    assert [call.name for call in calls(unsafe, read)][-1] == "fetch"
    assert [call.name for call in calls(unsafe)] == ["fetch"] * 4
    assert calls(idempotent) == calls() == []


def test_so_many_demonstrations_are_given_as_are_asked_for() -> None:
    assert demonstrations() == DEMONSTRATIONS[:1]
    assert demonstrations(0) == ()
    papers = demonstrations(6, ("search", "lookup"))
    assert [one in DEMONSTRATIONS for one in papers] == [True] * 6
    assert demonstrations(1, ("calc",)) == (DEMONSTRATIONS[-1],)
    assert len(demonstrations(6)) == 6
    for count in (-1, 7):
        why = f"there are 6 demonstrations with no more tools than docs, calc, not {count}"
        with pytest.raises(ConfigError, match=why):
            demonstrations(count)
    with pytest.raises(ConfigError, match="with no more tools than none, not 1"):
        demonstrations(1, ())
