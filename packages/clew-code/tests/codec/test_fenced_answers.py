"""An answer between fences is an answer; what a program says of itself is no result."""

from typing import Any

import pytest

from clew import Agent, tool
from clew.codecs.own_literals import only_literals
from clew.core.actions import Action
from clew.core.codec import Parsed
from clew.core.codes import FINISH
from clew.core.contents import Reply
from clew.testing import ScriptedModel
from clew_code.codec.code import Code
from tests.codecs.stand_ins import run_code

CODE = Code()
TAKEN = "answer taken out of a code fence"


@tool(effect="read")
def look(query: str) -> str:
    """Look something up."""
    return f"about {query}"


def prompt_spec(*tools: Any, **parts: Any) -> Any:
    return Agent(model=ScriptedModel([]), tools=tools, codec="code", **parts).engine.prompt_spec


RUNS, CALLS = prompt_spec(look, run_code()), prompt_spec(look)
BRIEFS = pytest.mark.parametrize("asked", [RUNS, CALLS], ids=["runs", "calls"])


def made(text: str, asked: Any = RUNS) -> Parsed:
    return CODE.parse(asked, Reply(text))


@BRIEFS
@pytest.mark.parametrize(
    ("block", "answer"),
    [
        ("```python\nAnswer: 42\n```", "42"),
        ("```\nAnswer: 42\n```", "42"),
        ("```python\nAnswer: The pressure is 12 bar.\n```", "The pressure is 12 bar."),
        ("```\nFinal Answer: Paris\n```", "Paris"),
        ("```text\nAnswer: yes\nIt is so.\n```", "yes\nIt is so."),
        ("```python\n**Answer:** Paris\n```", "Paris"),
        ("```\nThought: I know it.\nAnswer: Paris\n```", "Paris"),
        ("```text\n12 bar\n```", "12 bar"),
        ("```text\n42\n```", "42"),
        ("```markdown\n- one\n- two\n```", "- one\n- two"),
        ("```\n42\n```", "42"),
        ("```python\n-3.5\n```", "-3.5"),
        ('```python\n"Paris"\n```', "Paris"),
        ("```\nThe capital of France is Paris.\n```", "The capital of France is Paris."),
        ("I know.\n```python\nIt was not opened in 1990\n```", "It was not opened in 1990"),
    ],
)
def test_an_answer_in_a_fence_is_an_answer(asked: Any, block: str, answer: str) -> None:
    parsed = made(block, asked)
    assert not parsed.fault
    assert parsed.actions == (Action(FINISH, {"answer": answer}),)
    assert TAKEN in parsed.repairs


@pytest.mark.parametrize(
    "code",
    [
        "answer: int = 42\nprint(answer)",
        "answer: int\nanswer = len(look('a'))\nprint(answer)",
        "x = 42",
        "print(42)",
        "6 * 7",
        "len('Paris')",
        "[x for x in 'ab']",
        "import math as",  # broken, and no words
        "The = look('a')\nprint(The",
        "# The pressure is known.\nlook(",
        "found",
        "None if look('a') else 1",
    ],
)
def test_a_program_stays_a_program(code: str) -> None:
    parsed = made(f"```python\n{code}\n```")
    assert parsed.actions == (Action("run_code", {"code": code}),)
    assert TAKEN not in parsed.repairs


def test_a_call_in_a_fence_stays_a_call() -> None:
    assert made("```python\nlook('a')\n```").actions == (Action("look", {"query": "a"}),)
    assert made("```text\nlook('a')\n```").actions == (Action("look", {"query": "a"}),)


def test_a_typed_answer_in_a_fence_is_one_value() -> None:
    asked = prompt_spec(look, run_code(), answer=dict[str, int])
    for block in ('```json\n{"bar": 12}\n```', '```\nAnswer: {"bar": 12}\n```'):
        assert made(block, asked).actions == (Action(FINISH, {"answer": {"bar": 12}}),)
    words = made("```text\nIt is twelve.\n```", asked)
    assert words.actions == (Action("run_code", {"code": "It is twelve."}),)


@pytest.mark.parametrize(
    ("code", "own"),
    [
        ("print('Paris')", True),
        ("print('The total is', 42)", True),
        ("answer = 'Paris'\nprint(answer)", True),
        ("x = 42\nprint(f'It is {x}.')", True),
        ("x = 42\nx", True),
        ("print('It is ' + str(42))", True),
        ("print('a' + 'b')", True),
        ("{'bar': 12}", True),
        ("print('a'); print(-1)", True),
        ("print(f'{1}' + 'b')", True),
        ("print(6 * 7)", False),
        ("print(20 + 22)", False),
        ("print(look('a'))", False),
        ("print(x)", False),  # of a program before it
        ("x = 42", False),  # it shows nothing
        ("print(len('Paris'))", False),
        ("print = 1\nprint", False),
        ("print('a'.upper())", False),
        ("for x in 'ab': print(x)", False),
        ("print(", False),
        ("", False),
        (f"print({'1' * 30_000})", False),
    ],
)
def test_what_shows_only_what_it_says(code: str, own: bool) -> None:
    assert only_literals(code) is own
