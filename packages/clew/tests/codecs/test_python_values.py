"""A call in Python in a reply is made to the letter: no argument is changed or lost."""

from collections.abc import Sequence
from typing import Any

import pytest

from clew import Agent, MemoryStore, Tool, read, run
from clew.testing.models import ScriptedModel

ENDS = {"native": "Nothing was sent.", "code": "Answer: Nothing was sent."}
NO_JSON = [
    'b"a"', '[b"a"]', '{"k": b"a"}', "{1, 2}", "[{1}]", "set()", "1e999", "-1e999", "[1e999]",
    '{1: "a"}', '{1.5: "a"}', '{"k": {2: 3}}', "{True: 1}", "{None: 1}", "{(1, 2): 3}",
    "{[1]: 2}", "{{}: 1}", "...", "1j", r'"\ud800"', r'["a\udfff"]', r'{"\ud800": 1}',
]  # fmt: skip
"""Values that Python writes out and JSON has not."""


async def received(
    codec: str, reply: str, effect: Any = "unsafe", more: Sequence[Tool] = ()
) -> tuple[list[Any], str]:
    """What a tool got of a reply, and what the model was told of it."""
    got: list[Any] = []

    async def post(args: dict[str, Any], key: str) -> str:
        got.append(args)
        return "posted"

    fields: dict[str, Any] = {"value": {}, "more": {}}
    schema = {"type": "object", "properties": fields, "additionalProperties": False}
    tools = [Tool("post", "Post a value.", schema, post, effect=effect)]
    tools += more
    agent = Agent(ScriptedModel([reply, ENDS[codec]]), tools, codec=codec)
    store = MemoryStore()
    assert (await run(agent, "?", store=store, run_id="r")).status == "answered"
    first = (await read("r", store=store)).steps[0]
    assert first.thought is not None
    told = [call.observation.text for call in first.all_calls if call.observation is not None]
    return got, "\n".join([first.thought.fault or "", *told])


@pytest.mark.parametrize("effect", ["read", "unsafe"])
@pytest.mark.parametrize("value", NO_JSON)
async def test_a_value_that_json_has_not_is_refused(value: str, effect: str) -> None:
    got, told = await received("native", f"post(value={value})", effect)
    assert got == []
    assert told


@pytest.mark.parametrize("value", NO_JSON)
async def test_nor_is_it_one_of_the_ways_to_write_a_call_in_native(value: str) -> None:
    for form in (
        "post({})",
        "[post(value={})]",
        "print(post({}))",
        "```python\npost(value={})\n```",
    ):
        got, told = await received("native", form.replace("{}", value, 1))
        assert got == []
        assert "no plain values" in told


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ('"\\u00e9"', "é"), ("(1, (2,))", [1, [2]]), ("-1", -1), ("1_000", 1000), ("2.0", 2.0),
        ("None", None), ('{"a": [True]}', {"a": [True]}), (r'r"\d"', r"\d"), ('"a" "b"', "ab"),
        ("9" * 30, int("9" * 30)),
    ],
)  # fmt: skip
async def test_a_value_that_json_has_is_given_as_it_is(value: str, meant: Any) -> None:
    got, _ = await received("native", f"post(value={value})")
    assert got == [{"value": meant}]


@pytest.mark.parametrize(
    "call",
    [
        "post(1, value=2)",
        "post(1, 2, more=3)",
        'post(value={"a": 1, "a": 2})',
        'post([{"a": 1, "a": 1}])',
    ],
)
async def test_what_is_given_twice_is_refused(call: str) -> None:
    got, told = await received("native", call)
    assert got == []
    assert told


async def test_all_calls_that_are_printed_are_made() -> None:
    got, _ = await received("native", "print(post(1), post(2))")
    assert sorted(each["value"] for each in got) == [1, 2]


@pytest.mark.parametrize("more", ["sep=post(2)", "file=out", '"and more"', "*rest", "end=''"])
async def test_a_print_of_more_than_calls_is_refused(more: str) -> None:
    got, told = await received("native", f"print(post(1), {more})")
    assert got == []
    assert told
