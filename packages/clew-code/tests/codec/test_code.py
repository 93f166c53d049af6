"""Programs as models write them: in a fence, in tags, in a call, behind a label, or bare."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, Tool, tool
from clew.codecs.stream_end import RUNS_ON
from clew.core.actions import Action
from clew.core.codec import Parsed
from clew.core.contents import RawCall, Reply
from clew.core.events import Fingerprints, Thought
from clew.core.trajectory import Call, Step
from clew.testing import ScriptedModel
from clew_code.codec.code import Code
from clew_code.codec.functions import LONGEST, function_name, lone_call, signature, written
from tests.codecs.stand_ins import run_code

CODE = Code()
NO_PRINTS = Fingerprints("", "", "", "")
UNCLOSED = "code fence not closed"
PROGRAM = "x = look('a')\nprint(x)"


@tool(effect="read")
def look(query: str, *, deep: bool = False) -> list[str]:
    """Look something up.

    Args:
        query: What to look for.
        deep: Whether to look twice.
    """
    return [query] * (1 + deep)


@tool(effect="pure")
def now() -> str:
    """Say the time."""
    return "now"


def prompt_spec(*tools: Tool, **parts: Any) -> Any:
    return Agent(model=ScriptedModel([]), tools=tools, codec="code", **parts).engine.prompt_spec


RUNS, CALLS = prompt_spec(look, now, run_code()), prompt_spec(look, now)


def made(text: str, *calls: RawCall, asked: Any = RUNS) -> Parsed:
    return CODE.parse(asked, Reply(text, calls))


def program(code: str = PROGRAM) -> tuple[Action, ...]:
    return (Action("run_code", {"code": code}),)


@pytest.mark.parametrize(
    ("text", "thought", "repairs"),
    [
        (f"I look.\n```python\n{PROGRAM}\n```", "I look.", ()),
        (f"Thought: I look.\n```py\n{PROGRAM}\n```", "I look.", ()),
        (f"```\n{PROGRAM}\n```\n", "", ()),
        (f"```python\n{PROGRAM}", "", (UNCLOSED,)),
        (f"```python\n{PROGRAM}\n```\nThat prints a.", "", ("text behind the block dropped",)),
        (f"```python\n{PROGRAM}\n```\n```python\n2\n```", "", ("text behind the block dropped",)),
        *(
            (f"```python\n{PROGRAM}\n{more}\n```", "", ("text behind the block dropped", UNCLOSED))
            for more in ("Thought: a is there.", "Answer: a", "\n\nFinal Answer: a\nIt is.")
        ),
        (f"Hm.\n<execute>\n{PROGRAM}\n</execute>", "Hm.", ("tags around the program",)),
        (f"Hm.\n<code>{PROGRAM}</code>", "Hm.", ("tags around the program",)),
        (f"Hm.\nCode:\n{PROGRAM}", "Hm.", ("no fence around the program",)),
        (f"Code:\n{PROGRAM}\nThought: a is there.", "", ("no fence around the program",)),
        (f"Action: {PROGRAM}", "", ("no fence around the program",)),
        ('{"code": "x = look(\'a\')\\nprint(x)"}', "", ("program in an object",)),
        (
            '{"name": "run_code", "arguments": {"code": "x = look(\'a\')\\nprint(x)"}}',
            "",
            ("program in an object",),
        ),
    ],
)
def test_a_program_is_found(text: str, thought: str, repairs: tuple[str, ...]) -> None:
    assert made(text) == Parsed(thought, program(), repairs=repairs)


@pytest.mark.parametrize(
    "code",
    [
        'x = """\nThought: a text\n"""',
        "class X:\n    Answer: int = 1",
        "Thought: int = 1",
        "answer: int = 1",
    ],
)
def test_a_label_inside_of_a_program_does_not_end_it(code: str) -> None:
    assert made(f"```python\n{code}\n```").actions == program(code)


def test_a_program_that_is_never_whole_keeps_all_of_its_labels() -> None:
    code = "def f():\n" + " y = 2\n" * 1_000 + "(\n" + "Answer: a\n" * 1_000
    assert made(f"```python\n{code}```").actions == program(code.removesuffix("\n"))


def streamed(text: str) -> tuple[str, int]:
    """What a stream shows, and after how many characters it is ended (0: never)."""
    shown: list[str] = []
    take = CODE.stream_filter(shown.append)
    ended = [take(piece) for piece in text]
    return "".join(shown), (ended.index(True) + 1 if any(ended) else 0)


def test_a_stream_shows_a_block_and_no_label_behind_it() -> None:
    text = f"```python\n{PROGRAM}\nThis = 1\n"
    assert streamed(f"{text}Thought: a is there.\n") == (text, 0)
    assert streamed(f"I look.\n{text}Thought: a is there.\n") == (f"I look.\n{text}", 0)


@pytest.mark.parametrize(
    ("before", "behind", "ends"),
    [
        ("", "word " * RUNS_ON, RUNS_ON + 1),
        ("Thought: I look.\n", "\n" * 2 * RUNS_ON, RUNS_ON + 1),
        ("I could do this.\n", "word " * RUNS_ON, 0),
        ("", "word " * (RUNS_ON // 5), 0),
        ("I could do this.\n", "Observation: a\n" * RUNS_ON, 0),
    ],
)
def test_a_stream_ends_some_way_behind_a_block_and_never_behind_prose(
    before: str, behind: str, ends: int
) -> None:
    text = f"{before}```python\n{PROGRAM}\n```\n"
    shown, end = streamed(text + behind)
    assert shown == text
    assert end == (ends and len(text) + ends)


def test_a_stream_ends_where_an_observation_is_invented() -> None:
    for text in ("Answer: 42\n", "Thought: I know.\n**Answer:** 42\n"):
        line = "Observation: right\n"
        assert streamed(f"{text}{line}more\n") == (text, len(text + line))
    assert streamed("I know.\nObservation: right\nmore\n") == ("I know.\n", 0)


def test_a_program_in_a_call_is_found() -> None:
    call = RawCall(name="run_code", arguments='{"code": "x = look(\'a\')\\nprint(x)"}')
    assert made("I look.", call).actions == program()
    assert made("", RawCall(name="run_code")).fault


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: 42", "42"),
        ("I know.\n**Final Answer:** 42\n```\nAnswer: x\n```", "42\n```\nAnswer: x\n```"),
        ("```python\nfinish('42')\n```", "42"),
        ("```python\nfinal_answer(answer='42')\n```", "42"),
        ("Answer: 42\nObservation: right", "42"),
    ],
)  # fmt: skip
def test_an_answer_is_found(text: str, answer: str) -> None:
    assert made(text).actions == (Action("finish", {"answer": answer}),)


def test_a_text_without_any_of_that_is_an_answer() -> None:
    assert made("It is 42.") == Parsed(answer="It is 42.")
    assert made('{"it": 42}') == Parsed(answer='{"it": 42}')
    assert made('{"args": [1]}') == Parsed(answer='{"args": [1]}')
    assert made("", RawCall(name="run_code", arguments="[1]")).fault
    assert made("{it: 42") == Parsed(answer="{it: 42")
    typed = prompt_spec(look, run_code(), answer=dict[str, int])
    assert made('{"it": 42}', asked=typed).actions == (Action("finish", {"answer": {"it": 42}}),)
    assert made("It is 42.", asked=typed).fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the reply was empty"),
        ("Observation: it rains", "the reply was empty"),
        ("```python\n\n```", "the block is empty"),
        ("Answer:", "nothing stands behind Answer:"),
    ],
)
def test_what_cannot_be_read_is_a_fault_with_the_right_form(text: str, fault: str) -> None:
    found = made(text)
    assert found.fault.startswith(f"{fault}. The right form")
    assert "found = look(query=" in found.fault
    assert made("```python\nx = 1\n```", asked=CALLS).fault.startswith("the block is not one call")
    assert "print(6 * 7)" in made("", asked=prompt_spec(run_code())).fault


def test_what_is_invented_behind_an_answer_is_no_answer_in_text() -> None:
    found = made("It rains.\nObservation: it rains")
    assert found.actions == (Action("finish", {"answer": "It rains."}),)
    assert found.repairs == ("invented observation dropped",)


@pytest.mark.parametrize(
    ("code", "action"),
    [
        ("look('a', True)", Action("look", {"query": "a", "deep": True})),
        ("look(query='a', **{'deep': False})", Action("look", {"query": "a", "deep": False})),
        ('look(**{"query": "a", "deep": true})', Action("look", {"query": "a", "deep": True})),
        ("now()", Action("now")),
        ("look('a', False, 3)", None),
        ("look('a', query='b')", None),
        ("look(query='a', **{'query': 'b'})", None),
        ("look(x)", None),
        ("look(1 + 1j)", None),
        ("look(('a',))", None),
        ("look([1e999])", None),
        ("look({'a': [None, 1.5]})", Action("look", {"query": {"a": [None, 1.5]}})),
        ("look({1: 2})", None),
        ("print('a')", None),
        ("x.look('a')", None),
        ("'a'", None),
        ("look(", None),
        ("look(" + "[" * 5_000, None),
        (f"look('{'a' * LONGEST}')", None),
    ],
)
def test_a_lone_call_is_that_call(code: str, action: Action | None) -> None:
    assert lone_call(RUNS, code) == action


def test_without_run_code_a_lone_call_may_be_of_what_is_no_tool() -> None:
    assert lone_call(CALLS, "open_page(url='x')") == Action("open_page", {"url": "x"})
    assert lone_call(CALLS, "open_page('x')") is None


def test_names_are_those_of_python() -> None:
    assert [function_name(name) for name in ("look", "my-tool", "in", "3d")] == [
        "look", "my_tool", "in_", "_3d",
    ]  # fmt: skip
    odd = Action("look", {"a-b": 1})
    assert written(odd) == "look(**{'a-b': 1})"
    assert lone_call(RUNS, written(odd)) == odd


def test_a_function_is_shown_with_its_types() -> None:
    assert signature(look).splitlines() == [
        "def look(query: str, deep: bool = False) -> list[str]:",
        "    # Look something up.",
        "    # query: What to look for.",
        "    # deep: Whether to look twice.",
    ]
    fields = {
        "one": {"enum": ["a", 1]},
        "two": {"type": ["string", "null"]},
        "three": {"anyOf": [{"type": "integer"}, {"type": "array"}]},
        "four": {},
    }
    parameters = {"type": "object", "properties": fields, "required": list(fields)}
    odd = Tool("odd", "Odd.", parameters, call=now.call, examples=({"one": "a"},))
    assert signature(odd).splitlines() == [
        "def odd(one: Literal['a', 1], two: str | None, three: int | list, four: Any):",
        "    # Odd.",
        "    # for example: odd(one='a')",
    ]


def test_a_function_says_which_fields_its_result_has() -> None:
    result = {
        "$ref": "#/$defs/Found",
        "$defs": {
            "Found": {
                "type": "object",
                "properties": {
                    "hits": {"type": "array", "items": {"$ref": "#/$defs/Hit"}},
                    "more": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                },
            },
            "Hit": {"type": "object", "properties": {"title": {"type": "string"}, "of": {}}},
        },
    }
    finds = replace(now, result=result)
    assert signature(finds).splitlines()[0].endswith(" -> dict:")
    shape = '{"hits": list[{"title": str, "of": Any}], "more": int | None}'
    assert f"    # returns: {shape}" in signature(finds).splitlines()


@given(st.sampled_from(["#/$defs/Loop", "#", "#/$defs/None", "elsewhere", 7]))
def test_a_result_that_refers_to_itself_or_to_nothing_is_shown(reference: Any) -> None:
    loop = {"type": "array", "items": {"$ref": "#/$defs/Loop"}}
    result = {"anyOf": [{"$ref": reference}, loop], "$defs": {"Loop": loop}}
    assert signature(replace(now, result=result)).startswith("def now(")


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object", "additionalProperties": True}, "dict"),
        ({"type": "object"}, "dict"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, "Any"),
    ],
)
def test_a_result_of_free_fields_is_a_dict(result: Any, kind: str) -> None:
    assert signature(replace(now, result=result)).splitlines()[0] == f"def now() -> {kind}:"


def test_a_shape_of_many_fields_is_left_out() -> None:
    result = {"type": "object", "properties": {f"field_{i}": {"type": "string"} for i in range(50)}}
    assert "returns" not in signature(replace(now, result=result))


def test_an_answer_that_would_be_read_otherwise_is_written_as_a_call() -> None:
    answer = Action("finish", {"answer": "It rains.\nObservation: it rains"})
    shown = CODE.render(RUNS, Step(1, Thought(Reply(), NO_PRINTS), (Call("1.1", answer),)))
    assert shown[0].text.startswith("```python\nfinish(answer='It rains.\\nObservation:")
    assert made(shown[0].text).actions == (answer,)


def test_a_grammar_for_programs_closes_its_own_fence() -> None:
    grammar = CODE.grammar(RUNS, "auto", None)
    assert '"```python\\x0A"' in grammar
    assert "look(**" not in grammar
    assert "look(**" in CODE.grammar(CALLS, "auto", None)
    assert "python" not in CODE.grammar(RUNS, "none", None)
