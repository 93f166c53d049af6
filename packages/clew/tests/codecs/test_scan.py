"""The scanner: the same in a stream as at once, total, and linear."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.codecs.json_object import JsonObject
from clew.codecs.labelled import Dialect, Labelled
from clew.codecs.react_text import Paper
from clew.codecs.sections import before_invented_tail
from clew.codecs.stop_filter import WIDTH, Labels, LineLabel, Undecided, scan
from clew.core.codec import Codec
from clew.core.contents import Reply
from tests.codecs.samples import prompt_spec

CODECS: list[Codec] = [
    Paper(),
    Labelled(),
    Labelled(Dialect("conclusion", final="Conclusion")),
    JsonObject(),
]
LABELS = Dialect().labels

WORDS = [
    *["Thought:", "Thought 1:", "Action:", "Action 2:", "Action Input:", "Observation:"],
    *["Observation 7:", "Final Answer:", "Final:", "Conclusion:", "Question:", "**Action:**"],
    *["action:", "Act", "Obs", "None", "search", "search[", "Finish[", "]", "{", "}", '"query"'],
    *[":", " ", "\n", "\r\n", "\t", "```", "```json\n", "'", '"', ",", "(", ")", "//", "x", "é"],
]
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(WORDS), max_size=40).map("".join),
)


def streamed(codec: Codec, pieces: list[str]) -> tuple[str, bool]:
    shown: list[str] = []
    take = codec.stream_filter(shown.append)
    ended = False
    for piece in pieces:
        assert not (ended and take(piece) is False), "once ended it stays so"
        ended = ended or take(piece)
    return "".join(shown), ended


@given(TEXTS, st.data())
def test_a_stream_shows_what_the_parser_keeps_however_it_is_cut(text: str, data: Any) -> None:
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]
    labels = {"paper/2": CODECS[0], "labelled/2": CODECS[1]}
    for codec in labels.values():
        shown, ended = streamed(codec, pieces)
        assert (shown, ended) == streamed(codec, [text]) == streamed(codec, list(text))
    shown, ended = streamed(CODECS[1], pieces)
    counted = before_invented_tail(LABELS, text)
    assert counted.startswith(shown)
    assert ended == (len(counted) < len(text) and not scan(LABELS, text).prose)
    rest = counted[len(shown) :]  # a line's start that might have become a label
    assert len(rest) <= WIDTH
    assert "\n" not in rest
    assert ended <= (not rest)


def test_a_possible_label_is_held_back_until_it_is_decided() -> None:
    shown: list[str] = []
    take = Paper().stream_filter(shown.append)
    assert [take(piece) for piece in ("Action 1: search[x]\nObser", "ve this")] == [False, False]
    assert shown == ["Action 1: search[x]\n", "Observe this"]
    assert take("\nObserva") is False
    assert take("tion 1") is False
    assert take(": invented") is True
    assert take("more") is True
    assert "".join(shown) == "Action 1: search[x]\nObserve this\n"


@pytest.mark.parametrize("before", ["I could do\n", "a\n", "```\n", " \n\n.\n"])
def test_a_reply_that_begins_with_prose_is_read_to_its_end(before: str) -> None:
    for codec in (Paper(), Labelled()):
        for tail in ("Observation 1: a", "Thought: no", "Action: search[y]"):
            said = f"Action: search[x]\n{tail}\nmore"
            assert streamed(codec, [said]) == ("Action: search[x]\n", True)
            assert streamed(codec, [f"{before}{said}"]) == (f"{before}Action: search[x]\n", False)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
@given(text=TEXTS, cut=st.sampled_from(["stop", "calls", "length", "filter", "refusal", "cut"]))
def test_any_text_is_parsed_and_always_the_same(codec: Codec, text: str, cut: Any) -> None:
    asked = prompt_spec()
    parsed = codec.parse(asked, Reply(text, finish=cut))
    assert parsed == codec.parse(asked, Reply(text, finish=cut))
    assert bool(parsed.fault) != bool(parsed.actions)
    assert len(parsed.actions) <= 1
    assert parsed.answer is None


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("Action:", "action"),
        ("  Action 12 : x", "action"),
        ("**Action:** x", "action"),
        ("**Action**: x", "action"),
        ("### Thought 1:", "thought"),
        ("action input:", "input"),
        ("ACTION INPUT: {}", "input"),
        ("Action\uff1ax", "action"),
        ("Final Answer: x", "final"),
        ("Observation (1):", "observation"),
    ],
)
def test_labels_are_found_in_any_dress(line: str, role: str) -> None:
    mark = LABELS.at(line)
    assert isinstance(mark, LineLabel)
    assert mark.role == role


@pytest.mark.parametrize(
    "line",
    [
        "Actions: x",
        "Action is: x",
        "| Action: x",
        "> Action: x",
        "- Action: x",
        "My Action: x",
        " " * WIDTH + "Action: x",
        "Action" + " " * WIDTH + ": x",
        "Thoughtful",
    ],
)
def test_prose_is_no_label(line: str) -> None:
    assert LABELS.at(line) is None


@pytest.mark.parametrize("line", ["", "**", "Act", "Action", "Action 1", "Final", "Final Ans"])
def test_the_start_of_a_label_may_become_one(line: str) -> None:
    assert LABELS.at(line) is Undecided.MAYBE


def test_lines_that_would_read_as_labels_are_made_inert() -> None:
    labels = Labels((("action", "action"),))
    assert labels.inert("Action: a\nAction: b\nc") == "Action: a\n| Action: b\nc"


def test_why_text_was_dropped() -> None:
    first = "Action: a\nAction Input: {}\n"
    assert scan(LABELS, first).dropped == ""
    assert scan(LABELS, first + "Observation: b").dropped == "invented observation dropped"
    assert scan(LABELS, first + "Action: b").dropped == "second action dropped"
    assert scan(LABELS, first + "Final Answer: b").dropped == "answer beside an action dropped"
    assert scan(LABELS, first + "Action Input: b").dropped == "second input dropped"
    assert scan(LABELS, first + "Thought: b").dropped == "trailing text dropped"
    assert scan(LABELS, first + "Question: b").dropped == "trailing text dropped"
    for rest in ("Final Answer: b", "Action: b", "Action Input: b", "Thought: b", "Question: b"):
        assert scan(LABELS, f"Final Answer: a\n{rest}").dropped == ""
    assert scan(LABELS, "Final Answer: a\nObservation: b").dropped == "invented observation dropped"


def calls_made(work: Callable[[], object]) -> int:
    """How many calls, of Python or C functions, a piece of work makes."""
    made = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


HOSTILE = {
    "one long line": "x",
    "spaces in a label": "Action ",
    "emphasis": "*",
    "labels": "Thought:\n",
    "void actions": "Action: None\n",
    "half labels": "Act\n",
    "open brackets": "Action: a[",
    "calls": "search[x]\n",
    "braces": '{"a":',
    "quotes": "'",
    "escapes": '\\"',
    "fences": "```\n",
    "comments": "/*",
}


@pytest.mark.parametrize(
    "before",
    ["", "Action: search[", "Action: move\nAction Input: {'a': ", '{"action": "move", "args": '],
)
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.share(2)
def test_hostile_text_costs_work_in_proportion_to_its_length(unit: str, before: str) -> None:
    """Calls are counted, not seconds."""
    asked = prompt_spec(tools=prompt_spec().tools[:3])
    longest = 60_000

    def cost(size: int) -> int:
        text = before + unit * (size // len(unit))
        return sum(
            calls_made(lambda codec=codec: codec.parse(asked, Reply(text)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            for codec in CODECS
        )

    cost(len(before))  # what is worked out once is worked out before
    assert cost(longest) <= 2.2 * cost(longest // 2) + 200


def test_a_megabyte_without_a_line_break_is_looked_at_once() -> None:
    text = "Action: " + "x" * 1_000_000
    for codec in CODECS:
        assert calls_made(lambda codec=codec: codec.parse(prompt_spec(), Reply(text))) < 1000  # type: ignore[misc]  # mypy cannot infer a lambda with a default


def test_a_stream_of_single_characters_costs_work_in_proportion_to_its_length() -> None:
    def cost(size: int) -> int:
        return calls_made(lambda: streamed(CODECS[1], list("Action  1 x" * size)))

    assert cost(4000) <= 2.2 * cost(2000) + 200
