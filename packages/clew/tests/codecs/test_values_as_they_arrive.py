"""Values of replies of labels, told piece by piece: always the beginning of what is parsed."""

import json
from collections.abc import Iterable
from typing import Final

import pytest

from clew.codecs import by_name
from clew.codecs.written_values import ReadsValues, ValuePiece
from clew.core.contents import Reply
from tests.codecs.samples import prompt_spec

Told = tuple[str, str, str, bool]
"""The tool, the parameter, its text, and whether that is JSON."""

FENCED: Final = 'Action: search\nAction Input:\n```json\n{"query": "Paris"}\n```'
LINES: Final = {
    FENCED: ("search", "", '{"query": "Paris"}\n', True),
    "Action: search\nAction Input: Paris": ("search", "query", "Paris", False),
    "Action: search\nAction Input: `Paris`": None,
    "Action: search\nAction Input: Nobody": ("search", "query", "Nobody", False),
    "Action: search\nAction Input: None": None,
    "Action: search\nAction Input: [1]": None,
    'Action: search\nAction Input: "Paris"': None,
    "Action: delete\nAction Input: a.txt": None,
    "Action: total\nAction Input: [1, 2]": ("total", "numbers", "[1, 2]", True),
    "Action: total\nAction Input: 7": None,
    'Action: plot\nAction Input: {"x": 1}': ("plot", "point", '{"x": 1}', True),
    'Action: plot\nAction Input: {"point": {}}': ("plot", "", '{"point": {}}', True),
    'Action: keep\nAction Input: {"a": 1}': ("keep", "thing", '{"a": 1}', True),
    "Action: fly\nAction Input: Paris": None,
    "Final Answer: Paris": ("finish", "answer", "Paris", False),
    "Final Answer: Paris\nThought: x": ("finish", "answer", "Paris\nThought: x", False),
    "Final Answer: a\nFinal Answer: b": ("finish", "answer", "a\nFinal Answer: b", False),
    'Action: search\nAction Input: {"query": 1}': ("search", "", '{"query": 1}', True),
    "Final Answer: [1]": None,
    "Final Answer: Paris\n```\ncode\n``` and more": (
        "finish",
        "answer",
        "Paris\n```\ncode\n``` and more",
        False,
    ),
}
CALLS: Final = {
    "Action 1: search[Paris] and more": ("search", "query", "Paris", False),
    "Action 1: search[a [b] c]\nrest": ("search", "query", "a [b] c", False),
    'Action 1: search[{"query": 1}]': ("search", "", '{"query": 1}]', True),
    "Action 1: search(Paris)": None,
    "Action 1: `search`[Paris]": None,
    "Action 1: *search*[Paris]": None,
    "Action 1: fly[Paris]": None,
    f"Action 1: {'x' * 250}[Paris]": None,
}


def told(codec: str, pieces: Iterable[str]) -> Told | None:
    """What a format tells of a reply, put together."""
    reads = by_name(codec)
    assert isinstance(reads, ReadsValues)
    feed = reads.value_reader(prompt_spec())
    values: list[ValuePiece] = [value for piece in pieces for value in feed(piece) if value.text]
    if not values:
        return None
    ((tool, field, is_json),) = {(it.tool, it.field, it.is_json) for it in values}
    return tool, field, "".join(it.text for it in values), is_json


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("codec", "reply"), [*(("labelled", it) for it in LINES), *(("paper", it) for it in CALLS)]
)
def test_a_value_is_told_the_same_however_its_reply_is_cut(
    codec: str, reply: str, size: int
) -> None:
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    assert told(codec, pieces) == (LINES if codec == "labelled" else CALLS)[reply]


@pytest.mark.parametrize(
    ("codec", "reply"), [*(("labelled", it) for it in LINES), *(("paper", it) for it in CALLS)]
)
def test_what_was_told_begins_what_is_parsed(codec: str, reply: str) -> None:
    value = told(codec, [reply])
    if value is None:
        return
    tool, field, text, is_json = value
    (action,) = by_name(codec).parse(prompt_spec(), Reply(reply)).actions
    assert action.name == tool
    if not is_json:
        assert str(action.args[field]).startswith(text)
    else:
        read, _ = json.JSONDecoder().raw_decode(text)
        assert read == (action.args[field] if field else action.args)


@pytest.mark.parametrize("size", range(1, 28))
@pytest.mark.parametrize("label", ["**Final Answer:**", "__Final Answer:__", "*Final Answer:*"])
def test_emphasis_that_ends_behind_the_label_is_no_part_of_the_answer(
    label: str, size: int
) -> None:
    reply = f"{label} **Paris** it is"
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    assert told("labelled", pieces) == ("finish", "answer", "**Paris** it is", False)


@pytest.mark.parametrize("value", ["1+2j", "{(1, 2): 3}", "...", "{1: 2, 1: 3}"])
def test_a_call_in_python_whose_argument_is_no_json_is_a_fault_that_teaches(value: str) -> None:
    parsed = by_name("native").parse(prompt_spec(), Reply(f"search(query={value})"))
    assert (parsed.actions, parsed.answer) == ((), None)
    assert "its arguments are no plain values" in parsed.fault
