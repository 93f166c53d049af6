"""Functions of a program: names that Python cannot have, the order of arguments, hidden tools."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, Tool, read, run
from clew.testing import ScriptedModel, act, say
from clew_code.programs import run_code
from tests.core.watched import told, watched

STRING: dict[str, Any] = {"type": "string"}


def made(name: str, *needed: str, hidden: bool = False, **optional: Any) -> Tool:
    """A tool that gives back its arguments; its optional parameters come first in its schema."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {**optional, **dict.fromkeys(needed, STRING)},
        "required": list(needed),
        "additionalProperties": False,
    }

    def call(args: dict[str, Any], key: str) -> dict[str, Any]:
        return args

    return Tool(name, "Give back.", parameters, call, effect="read", hidden=hidden)


async def printed(code: str, *tools: Tool, codec: str = "native") -> str:
    """What a program prints."""
    model = ScriptedModel([act("run_code", code=code), say("ok")], codec=codec, tools=tools)
    store = MemoryStore()
    agent = Agent(model, [run_code(), *tools], codec=codec)
    await run(agent, "Q?", store=store, run_id="run")
    (call,) = (await read("run", store=store)).steps[0].calls
    assert call.observation is not None
    return call.observation.text


ODD = made("odd-tool", "b-c", "class", "2nd", "überall", "with space")


@pytest.mark.parametrize("codec", ["native", "code"])
@pytest.mark.parametrize(
    "call",
    [
        "odd_tool(b_c='1', class_='2', _2nd='3', überall='4', with_space='5')",
        "odd_tool('1', '2', '3', '4', '5')",
        "odd_tool('1', '2', **{'2nd': '3', 'überall': '4', 'with space': '5'})",
        "odd_tool(**{'b-c': '1', 'class': '2', '2nd': '3', 'überall': '4', 'with space': '5'})",
    ],
)
async def test_a_parameter_whose_name_python_cannot_have_is_passed(call: str, codec: str) -> None:
    assert await printed(f"print(sorted({call}.values()))", ODD, codec=codec) == (
        "['1', '2', '3', '4', '5']"
    )


@pytest.mark.parametrize(
    ("tool", "call", "gave"),
    [
        (made("f", "b", a=STRING), "f('1')", {"b": "1"}),
        (made("f", "b", a=STRING), "f('1', '2')", {"b": "1", "a": "2"}),
        (made("f", "b", a=STRING), "f('1', a='2')", {"b": "1", "a": "2"}),
        (
            made("f", "x", "y", a=STRING, b=STRING),
            "f('1', '2', '3')",
            {"x": "1", "y": "2", "a": "3"},
        ),
    ],
)
async def test_arguments_without_a_name_go_where_the_head_shows_them(
    tool: Tool, call: str, gave: dict[str, str]
) -> None:
    assert await printed(f"print(sorted({call}.items()))", tool) == str(sorted(gave.items()))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("odd_tool('1', b_c='2')", "odd_tool() got b-c twice"),
        ("odd_tool(b_c='1', **{'b-c': '2'})", "odd_tool() got b-c twice"),
        (
            "odd_tool('1', '2', '3', '4', '5', '6')",
            "it has: b_c, class_, _2nd, überall, with_space",
        ),
    ],
)
async def test_what_no_call_has_is_said(call: str, why: str) -> None:
    assert why in await printed(call, ODD)


async def test_of_two_names_that_would_be_one_the_real_one_stays() -> None:
    both = made("f", "a-b", "a_b")
    assert await printed("print(sorted(f(a_b='1', **{'a-b': '2'}).items()))", both) == (
        "[('a-b', '2'), ('a_b', '1')]"
    )


HIDDEN = [
    *("print(old_search(q='x'))", "print(old_search('x'))", "print(old_search(**{'q': 'x'}))"),
    *("f = old_search\nprint(f('x'))", "def f(q):\n    return old_search(q)\nprint(f('x'))"),
    *("for q in 'x':\n    print(old_search(q))", "seen = search('y')\nprint(old_search('x'))"),
    "try:\n    print(old_search('x'))\nexcept Exception as error:\n    print('no', error)",
    "found = [old_search(q) for q in 'x']\nprint(found[0])",
]


@pytest.mark.parametrize("codec", ["native", "code"])
@pytest.mark.parametrize("code", HIDDEN)
async def test_a_hidden_tool_is_answered_in_a_program_and_not_described(
    code: str, codec: str
) -> None:
    hidden = made("old_search", "q", hidden=True)
    shown = made("search", "q")
    program = act("run_code", code=code)
    model = watched(program, say("ok"), codec=codec, tools=[shown])
    agent = Agent(model, [run_code(), hidden, shown], codec=codec)
    store = MemoryStore()
    await run(agent, "Q?", store=store, run_id="run")
    (call,) = (await read("run", store=store)).steps[0].calls
    assert call.observation is not None
    assert call.observation.text == "{'q': 'x'}"
    assert b"search" in told(model.sent[0])
    assert b"old_search" not in told(model.sent[0])
