"""Programs, answers and commands as they arrive: they grow into what was read."""

import json
from dataclasses import dataclass
from typing import Any, Final

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew import Agent, tool
from clew.interfaces import Codec, Reply
from clew_code.codec.commands import Command, Commands
from tests.streaming.pieces import (
    InPieces,
    check_growing,
    partial_calls,
    partials,
    thought_of,
    told_of,
    words,
)

CUTS: Final = st.lists(st.floats(0, 1), max_size=40)
EACH: Final = [number / 300 for number in range(300)]
FORMS: Final = Commands(
    (
        Command("look_up", "LOOK {word}"),
        Command("note", "```text\n{text}\n```"),
        Command("finish", "ANSWER\n{answer}"),
    ),
    "tests",
)


@dataclass
class Town:
    name: str
    people: int


@tool(effect="read")
def look_up(word: str) -> str:
    """Look a word up.

    Args:
        word: Which.
    """
    return word


@tool(effect="read")
def note(text: str) -> str:
    """Note a text.

    Args:
        text: What.
    """
    return text


@tool(effect="read")
def run_code(code: str) -> str:
    """Run a program.

    Args:
        code: What.
    """
    return code


TOOLS: Final[list[Any]] = [look_up, note, run_code]


def told(text: str, codec: Codec | str, cuts: list[float], answer: Any = str) -> list[Any]:
    """What a stream tells of a reply."""
    end = "ANSWER\nok" if isinstance(codec, Commands) else "Answer: ok"
    model = InPieces([Reply(text=text), *([end] if answer is str else [])], cuts=cuts)
    return anyio.run(told_of, Agent(model, tools=TOOLS, codec=codec, answer=answer))


REPLIES: Final[dict[str, tuple[Codec | str, str, int]]] = {
    "a program": ("code", "Thought: So.\n```python\n# two\nx = 1\n\nprint(x)\n```", 2),
    "a program that is not closed": ("code", "```\nimport json\nx = json.dumps([1])\n", 2),
    "one call": ("code", '```python\nlook_up("Wien")\n```', 1),
    "a call with keywords": ("code", '```python\nlook_up(\n    word="Wien")\n```', 1),
    "a command": (FORMS, "I look.\nLOOK the long way\nmore", 1),
    "lines": (FORMS, "I note.\n```text\na\n\n  b 😀\n\n```\nand more", 2),
    "lines of nothing but a fence": (FORMS, "```text\n```\n```", 1),
    "json": (FORMS, 'I note.\n@note {"text": "a long \\ud83d\\ude00 text"}\nmore', 2),
    "an unknown tool": (FORMS, '@no_tool {"a": 1}', 1),
}


@pytest.mark.parametrize("name", REPLIES)
@settings(max_examples=25)
@given(CUTS)
@example(EACH)
@example([])
def test_what_a_reply_calls_grows(name: str, cuts: list[float]) -> None:
    codec, text, at_least = REPLIES[name]
    items = told(text, codec, cuts)
    (action,) = thought_of(items).actions
    values = partial_calls(items, action.name)
    check_growing(values, action.args)
    if cuts == EACH:
        assert len(values) >= at_least


@pytest.mark.parametrize(
    ("codec", "before"),
    [("code", "Thought: So.\nAnswer: "), (FORMS, "So.\nANSWER\n")],
    ids=["code", "commands"],
)
@settings(max_examples=25)
@given(st.text(max_size=40).filter(str.strip), CUTS)
@example("It is so.\n\n```python\nx = 1\n```\nObservationally, *yes*", EACH)
@example("ok\nObservation: 3", EACH)
def test_words_of_an_answer_are_all_of_it(
    codec: Codec | str, before: str, text: str, cuts: list[float]
) -> None:
    items = told(before + text, codec, cuts)
    thought = thought_of(items)
    if thought.actions and thought.actions[0].name == "finish":
        assert words(items) == thought.actions[0].args["answer"]


@settings(max_examples=25)
@given(st.text(max_size=20), st.integers(-9, 9), CUTS)
@example("Wien", 2, EACH)
def test_a_typed_answer_grows(name: str, people: int, cuts: list[float]) -> None:
    town = {"name": name, "people": people}
    for codec, text in (
        ("code", f"Answer: {json.dumps(town)}"),
        (FORMS, f'@finish {{"answer": {json.dumps(town)}}}'),
    ):
        model = InPieces([text], cuts=cuts)
        items = anyio.run(told_of, Agent(model, codec=codec, answer=Town))
        check_growing(partials(items), town)
        assert words(items, "answer.name") == name


def test_where_the_last_command_counts_it_is_told_whole() -> None:
    last = Commands(FORMS.commands, "tests", counts="last")
    items = told("LOOK one\nLOOK two", last, EACH)
    (only,) = partial_calls(items, "look_up")
    assert (only.args, only.state) == ({"word": "two"}, "complete")
