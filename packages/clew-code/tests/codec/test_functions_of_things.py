"""Which functions the examples of programs call, and what their names say."""

from typing import Any

import pytest

from clew.core.tools import ToolSpec
from clew_code.codec.program_examples import SHIPPED, program_examples

TEXT: dict[str, Any] = {"type": "string"}


def tool(name: str = "look", /, *, required: Any = (), **properties: Any) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": [*required]}
    return ToolSpec(name, "Do.", parameters, effect="read")


def programs(*tools: ToolSpec) -> str:
    made = program_examples(tools, lambda call: False)
    return str(made[0].steps[0].calls[0].action.args["code"])


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("get_unit_price", "unit price"),
        ("find_height", "height"),
        ("fetch_height", "height"),
        ("read_height", "height"),
        ("look_up_height", "height"),
        ("lookup_height", "height"),
        ("height_get_now", "height get now"),
    ],
)
def test_a_function_says_what_its_name_says(name: str, what: str) -> None:
    given = tool(name, required=["item"], item=TEXT)
    (least, _) = program_examples([given], lambda call: False)
    assert f"the least {what}: " in least.goal
    assert programs(given) == (
        f"for item in ['bell', 'gate', 'yoke']:\n    print({name}(item=item))"
    )


@pytest.mark.parametrize(
    "other",
    [
        tool("height", item=TEXT),  # it need not be given
        tool("height", required=["item", "n"], item=TEXT, n=TEXT),
        tool("height", required=["item", "name"], item=TEXT, name=TEXT),
        tool("height", required=["item"], item={"type": "integer"}),
        tool("height", required=["item"], item=TEXT | {"enum": ["a"]}),
        tool("height", required=["item"], item=TEXT | {"pattern": "a"}),
        tool("height", required=["item"], item=TEXT | {"const": "a"}),
        tool("height", required=["other"], other=TEXT),
        tool("not-a-name", required=["item"], item=TEXT),
        ToolSpec("height", "Do.", tool(required=["item"], item=TEXT).parameters, effect="unsafe"),
    ],
)
def test_any_other_is_no_function_of_a_thing(other: ToolSpec) -> None:
    assert "print(weight(thing=thing))" in programs(other)
    fitting = tool("size", required=["item"], item=TEXT)
    assert "print(size(item=item))" in programs(other, fitting)
    optional = tool("size", required=["item"], item=TEXT, n=TEXT)
    assert "print(size(item=item))" in programs(optional)


@pytest.mark.parametrize(
    "thing",
    ["name", "item", "thing", "product", "article", "title", "entity", "person", "place", "city",
     "country", "company", "symbol", "topic", "term", "key"],
)  # fmt: skip
def test_things_have_these_names(thing: str) -> None:
    given = tool("size", required=[thing], **{thing: TEXT})
    assert f"print(size({thing}={thing}))" in programs(given)


def test_those_that_ship_are_shown_where_they_fit() -> None:
    assert program_examples((), lambda call: call.name == "docs") == (SHIPPED[0].example,)
    assert program_examples((), lambda call: True) == tuple(one.example for one in SHIPPED)
