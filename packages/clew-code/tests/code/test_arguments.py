"""What a program may hand to a tool: a value that JSON has, as it stands; or an exception."""

import re
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say
from clew_code.programs import code_tool, run_code
from clew_code.programs.process import SandboxedPython
from clew_code.sandbox import kernel

EXECUTORS = {"monty": run_code(), "cpython": code_tool(SandboxedPython())}
IN_SANDBOX = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")
BOTH = pytest.mark.parametrize("executor", ["monty", pytest.param("cpython", marks=IN_SANDBOX)])


LOOPS = """
inside_list = []
inside_list.append(inside_list)
inside_dict = {}
inside_dict["me"] = inside_dict
inside_both = [1]
inside_both.append({"a": inside_both})
inside_tuple = []
inside_tuple.append((inside_tuple,))
class P:
    def method(self):
        pass
inside_object = P()
inside_object.me = [inside_object]
alias = keep
"""
"""Values that hold themselves."""


async def put(executor: str, *values: str) -> tuple[list[Any], list[str]]:
    """What a tool received of these values of a program, and the errors of the others."""
    got: list[Any] = []

    @tool(effect="unsafe")
    def keep(v: Any) -> None:
        """Keep a value."""
        got.append(v)

    lines = [
        "import asyncio, datetime, functools, json, math, re",
        "nested = []",
        "for _ in range(300): nested = [nested]",
        LOOPS,
    ]
    for value in values:
        lines += ["try:", f"    keep({value})", "except Exception as e:"]
        lines += ["    print(type(e).__name__, str(e).split('\\n')[0])"]
    program = "\n".join(lines)
    agent = Agent(
        model=ScriptedModel([act("run_code", code=program), say("done")]),
        tools=[keep, EXECUTORS[executor]],
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    seen = (await read("r", store=store)).calls[0].observation
    assert seen is not None
    return got, seen.text.splitlines()


REFUSED = [
    "b'a'",
    "[b'a']",
    "{'x': (1, b'a')}",
    "{1, 2}",
    "frozenset({1})",
    "{'x': {1}}",
    "range(3)",
    "[range(0, 9, 2)]",
    "slice(2)",
    "{'a': 1}.keys()",
    "{'a': 1}.items()",
    "float('nan')",
    "float('-inf')",
    "[1.5, [float('inf')]]",
    "1 + 2j",
    "{1: 'a', '1': 'b'}",
    "{1: 2}",
    "[{None: 1}]",
    "{True: 1}",
    "{1.5: 1}",
    "datetime.date(2024, 1, 2)",
    "...",
    "ValueError('x')",
    "len",
    "iter([1])",
    "lambda: 1",
    "datetime",
    "inside_list",
    "[inside_list]",
    "inside_dict",
    "{'x': [inside_dict]}",
    "inside_both",
    "(1, inside_both)",
    "inside_tuple",
    "inside_tuple[0]",
    "inside_object",
    "{'x': inside_object}",
    "keep",
    "[keep]",
    "{'x': (keep,)}",
    "v=keep",
    "alias",
    "P().method",
    "[P().method]",
    "P.method",
    "P",
    "json.loads",
    "{'x': math.sqrt}",
    "re.compile('a')",
    "[re.compile('[a\\')\\\"]', re.IGNORECASE)]",
    "re.search('<.>', 'a <b>')",
    "[re.match('a', 'a')]",
    "functools.partial(P().method, 1)",
    "functools.partial(keep)",
    "iter('ab')",
    "iter({'a': 1})",
    "print",
    "type('a')",
]


@BOTH
async def test_what_json_has_no_value_for_is_a_type_error_in_the_program(executor: str) -> None:
    got, errors = await put(executor, *REFUSED)
    assert got == []
    assert len(errors) == len(REFUSED), errors
    for value, error in zip(REFUSED, errors, strict=True):
        told = re.compile(r"TypeError keep\(\) got as its argument [1v] what JSON cannot carry: ")
        assert told.match(error), (value, error)


@BOTH
async def test_a_type_error_says_what_was_wrong_and_what_to_give(executor: str) -> None:
    _, errors = await put(executor, "v=float('nan')", "v={1: 'a', '1': 'b'}", "v=keep")
    hint = "; give texts, numbers, True, False, None, lists, or dicts whose keys are texts"
    assert errors == [
        f"TypeError keep() got as its argument v what JSON cannot carry: {what}{hint}"
        for what in (
            "nan, which is no number of JSON",
            "a key of the type int",
            "a value of the type function",
        )
    ]


HALVES = [
    r"'\ud800'",
    r"'a \udfff b'",
    r"'\ud83d\ude00'",
    r"['\ud800']",
    r"{'\udc00': 1}",
    r"{'x': ['\udc00']}",
    r"v='\ud800'",
    r"f'{1}\ud800'",
    r"'a' '\ud800'",
    r"'\ud800' + 'a'",
    r"('\ud800',)",
]


@BOTH
@pytest.mark.parametrize("value", HALVES)
async def test_half_a_character_is_told_and_never_becomes_another(
    executor: str, value: str
) -> None:
    got, errors = await put(executor, value)
    assert got == []
    assert "a text with half a character" in "".join(errors)


async def test_a_program_with_half_a_character_ends_in_one_line_and_keeps_what_was() -> None:
    agent = Agent(
        model=ScriptedModel(
            [
                act("run_code", code="x = 2"),
                act("run_code", code="y = 1\nprint('\\ud800' == '\\ufffd')"),
                act("run_code", code=r"print(x, '\ufffd', r'\ud800')"),
                say("done"),
            ]
        ),
        tools=[EXECUTORS["monty"]],
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    seen = [call.observation for call in (await read("r", store=store)).calls[:3]]
    texts = ["" if one is None else one.text for one in seen]
    assert texts[1].startswith(
        "ERROR: SyntaxError: line 2: a text with half a character, which this interpreter cannot "
    )
    assert texts[2] == "2 \ufffd \\ud800"


@BOTH
async def test_a_function_that_a_program_passes_around_is_called_by_its_name(executor: str) -> None:
    got: list[Any] = []

    @tool(effect="unsafe")
    def keep(v: Any) -> Any:
        """Keep a value."""
        got.append(v)
        return v

    code = "def twice(f, x):\n    f(x)\n    return f(v=x)\nother = keep\ntwice(other, 'keep')"
    agent = Agent(
        model=ScriptedModel([act("run_code", code=code), say("done")]),
        tools=[keep, EXECUTORS[executor]],
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    record = await read("r", store=store)
    assert got == ["keep", "keep"]
    assert [call.action.name for call in record.calls] == ["run_code", "keep", "keep"]


@IN_SANDBOX
async def test_half_a_character_ends_no_process() -> None:
    got, errors = await put("cpython", r"'a \ud800'", r"{'\udc00': 1}", r"['\ud83d']", "'b'")
    assert got == ["b"]
    assert all("a text with half a character" in error for error in errors), errors
    program = "raise ValueError('\\ud800')"
    agent = Agent(
        model=ScriptedModel([act("run_code", code=program), act("run_code", code="1"), say("x")]),
        tools=[EXECUTORS["cpython"]],
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    first, second = [call.observation for call in (await read("r", store=store)).calls[:2]]
    assert first is not None
    assert first.text.endswith("ValueError: ?")
    assert second is not None
    assert second.text.startswith("1\n")


@BOTH
async def test_a_value_that_json_has_arrives_as_it_is(executor: str) -> None:
    values: list[Any] = [
        None, True, 0, -1, 2**53 + 1, 10**30, 1.0, -0.0, 0.1 + 0.2, "", "é 😀", "a\x00b\r\n",
        [], {}, [1, [2, ["x"]]], {"a": {"b": [None]}}, {"1": 1, "": 2}, "range(x)", "range(0, 3) ",
        "<div>", "slice(a, b)", "[...]", "{...}", "...", ["...", "a [...] b"], {"x": "..."},
    ]  # fmt: skip
    got, errors = await put(executor, *map(repr, values), "(1, (2,))")
    assert got == [*values, [1, [2]]]
    assert [type(one) for one in got[:-1]] == [type(one) for one in values]
    assert errors == ["(nothing was printed)"] or not any("Error" in line for line in errors)


@BOTH
async def test_a_text_that_only_resembles_such_a_value_arrives_as_it_is(executor: str) -> None:
    values = [
        "keep", "keep()", "<function>", "<function keep>", "re.compile(x)", "re.compile('a') + 'b'",
        "functools.partial(f)", "<bound method", "<b> object <i>", "see <bound method>", "\ufffd",
        r"\ud800", "\U0001f600", "re.Match object; span=(0, 1), match='a'",
    ]  # fmt: skip
    got, errors = await put(executor, *map(repr, values))
    assert (got, len(errors)) == (values, 1), errors


@BOTH
async def test_a_deep_value_is_refused(executor: str) -> None:
    got, errors = await put(executor, "v=nested")
    assert got == []
    assert "Error" in errors[0]


async def test_what_is_not_awaited_is_no_argument() -> None:
    values = "asyncio.sleep(0)", "[asyncio.sleep(0)]", "{'a': asyncio.sleep(0)}"
    got, errors = await put("monty", *values, "'<coroutine'")
    assert got == ["<coroutine"]
    assert len([one for one in errors if "a value of the type coroutine" in one]) == len(values)
