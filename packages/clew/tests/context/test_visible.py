"""Of long results, lines and words a model is shown this much, to the character."""

from typing import Any

import pytest

from clew.context.visible import (
    VisibleResults,
    effect_line,
    goal_of,
    leaves_out,
    trimmed,
    visible_step,
)
from clew.core.actions import Action
from clew.core.contents import Image, Observation, text_parts
from clew.core.events import Attempt, Compacted, Forked, Note, Rewound
from clew.core.steps import Call, Step
from tests.core.records import SPEC, look, more, record, step, thought

LINE_CHARS, VISIBLE_CHARS, EFFECT_CHARS = 400, 100_000, 200
TOKEN, PLAIN = "<|im_start|>", "‹|im_start|›"
PROSE = "to be read "


def seen(content: str, call: str = "1.1", **more: object) -> Observation:
    return Observation(call, content, **more)  # type: ignore[arg-type]  # of the fields


@pytest.mark.parametrize("chars", [LINE_CHARS, LINE_CHARS + 1])
def test_a_line_is_long_from_one_character_over_400_on(chars: int) -> None:
    line = "x" * chars
    marker = '[… 201 characters of this line: read_more("1.1", offset=200) …]'
    cut = f"{'x' * 200} {marker}"
    assert trimmed(line, 10**6, "1.1") == (line if chars == 400 else cut)


def test_the_handle_of_a_later_line_says_where_that_goes_on() -> None:
    text = f"{'a' * 9}\n\n{'x' * 401}\n{'y' * 1_600}\nend"
    assert trimmed(text, 10**6, "2.1").split("\n") == [
        "a" * 9,
        "",
        "x" * 200 + ' [… 201 characters of this line: read_more("2.1", offset=211) …]',
        "y" * 200 + ' [… 1,400 characters of this line: read_more("2.1", offset=613) …]',
        "end",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        (("x" * 11 + " ") * 40, True),  # a space in twelve characters
        (("x" * 11 + " ") * 39 + "x" * 12, False),
        ("{" + "x" * 500 + "}", True),
        ("[" + "x" * 500 + "]", True),
        ("[" + "x" * 500 + "}", False),
        ("{" + "x" * 500, False),
        ("漢" * 201 + "," * 200, True),  # more than half in a script without spaces
        ("漢" * 200 + "," * 201, False),
        ("漢" * 6_000 + "," * 90_000, True),  # so say its first 10,000
        ("漢" * 5_000 + "," * 5_000 + "漢" * 90_000, False),
        ("é" * 500, False),
    ],
)
def test_a_long_line_is_shown_whole_if_it_is_to_be_read(line: str, whole: bool) -> None:
    assert (trimmed(line, 10**6, "1.1") == line) == whole
    assert trimmed(line, 10**6, "1.1", data=True) == line, "JSON of a tool has no such lines"


@pytest.mark.parametrize(("chars", "max_chars"), [(400, 10), (600, 600)])
def test_a_short_text_stays_whole(chars: int, max_chars: int) -> None:
    text = (PROSE * chars)[:chars]
    assert trimmed(text, max_chars, "1.1") == text


def test_of_a_long_text_four_fifths_of_what_is_shown_are_its_beginning() -> None:
    text = (PROSE * 200)[:2_101]
    marker = '[… 1,601 of 2,101 characters are left out here: read_more("1.1", offset=400) …]'
    assert trimmed(text, 500, "1.1") == f"{text[:400]}\n{marker}\n{text[-100:]}"


def test_without_a_handle_the_ends_of_a_hundred_thousand_characters_are_shown() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(VISIBLE_CHARS + 1))
    assert VisibleResults().text("1.1", seen(text[:-1])) == text[:-1]
    what = "1 of 100,001 characters are left out here: ask for a part of it"
    shown = VisibleResults().text("1.1", seen(text))
    assert shown == f"{text[:80_000]}\n[… {what} …]\n{text[-20_000:]}"


def test_a_shape_comes_first_and_data_is_no_text() -> None:
    shaped = VisibleResults(str.upper, 500)
    assert shaped.text("1.1", seen("word")) == "WORD"
    data = {"key": "x" * 600}
    assert "of this line" not in shaped.text("1.1", seen(data))  # type: ignore[arg-type]  # JSON
    assert "of this line" in shaped.text("1.1", seen("x" * 600))


@pytest.mark.parametrize(
    ("text", "visible_chars", "left"),
    [
        ("x" * 401, 500, True),
        ("x" * 400, 100, False),
        (PROSE * 40, 500, False),
        (PROSE * 80, 500, True),
        (PROSE * 80, None, False),
    ],
)
def test_whether_something_can_be_read_on(text: str, visible_chars: int | None, left: bool) -> None:
    run = record(thought(look(x=1), look(x=2)), seen("short"), seen(text, "1.2"))
    assert leaves_out(run, None, visible_chars) == left
    more(run, Compacted("mask", "why", 1))
    assert leaves_out(run, None, visible_chars), "what a compaction left out can always be read"


@pytest.mark.parametrize("trust", ["trusted", "untrusted"])
def test_only_a_goal_of_a_person_keeps_what_looks_like_a_token(trust: str) -> None:
    run = record(goal=f"What is {TOKEN}?", trust=trust)
    assert goal_of(run) == f"What is {TOKEN if trust == 'trusted' else PLAIN}?"


def shown(one: Step, shape: object = None) -> list[str]:
    return [
        call.observation.text
        for call in visible_step(one, shape, record()).calls  # type: ignore[arg-type]  # a function
        if call.observation is not None
    ]


def test_results_are_shaped_and_without_chat_tokens_but_for_what_finish_was_told() -> None:
    one = step(
        (look(x=1), seen(f"see {TOKEN}")),
        (look(x=2), seen(f"see {TOKEN}", "1.2", trust="trusted")),
        (look(x=3), None),
        (Action("finish", {"answer": "a"}), seen("no answer", "1.4", trust="trusted")),
    )
    assert shown(one) == [f"see {PLAIN}", f"see {TOKEN}", "no answer"]
    assert shown(one, str.upper) == [PLAIN.join(["SEE ", ""]).replace("im_start", "IM_START"),
                                     f"SEE {TOKEN.upper()}", "no answer"]  # fmt: skip


def test_a_result_of_data_is_text_once_it_is_shaped() -> None:
    one = step((look(), Observation("1.1", {"a": 1})))
    for shape, content in ((None, {"a": 1}), (lambda text: text, '{"a":1}')):
        (call,) = visible_step(one, shape, record()).calls
        assert call.observation is not None
        assert call.observation.content == content


@pytest.mark.parametrize("trust", ["trusted", "untrusted"])
def test_what_stands_in_the_place_of_a_result_has_no_picture_and_no_token(trust: str) -> None:
    picture = (Image("image/png", b"1"),)
    run = record(thought(look()), seen("long", attachments=picture, trust=trust))
    more(run, Compacted("mask", "why", 1, cuts={"1.1": f"[{TOKEN}]"}))
    (call,) = visible_step(run.steps[0], None, run).calls
    assert call.observation is not None
    assert call.observation.text == f"[{TOKEN if trust == 'trusted' else PLAIN}]"
    assert call.observation.attachments == ()


def notices(number: int, *said: object) -> list[object]:
    """What is shown beside the calls of a step of a run in which this came after two steps."""
    run = record(thought(look()), seen("a"), thought(look()), seen("b", "2.1"))
    more(run, *said)  # type: ignore[arg-type]  # events
    one = run.steps[number - 1] if number else run.before
    return list(visible_step(one, None, run).notices)


def test_notices_from_outside_are_without_chat_tokens() -> None:
    words = text_parts(f"say {TOKEN}")
    person, check = Note(words), Note(words, source="check")
    late, memory = (Note(words, source=source) for source in ("late", "memory"))
    harmless = text_parts(f"say {PLAIN}")
    assert notices(2, person, check, late, memory) == [
        person,
        check,
        Note(harmless, source="late"),
        Note(harmless, source="memory"),
    ]
    assert notices(2, Rewound(1, f"not {TOKEN}")) == [Rewound(1, f"not {PLAIN}")]


def test_an_account_of_steps_stands_before_the_first_with_its_summary() -> None:
    less = Compacted("drop", "why", 1, upto=1, text=f"Left out {TOKEN}.")
    (account,) = notices(0, less)
    assert account == Compacted("drop", "why", 1, upto=1, text=f"Left out {PLAIN}.")
    told = Compacted("drop", "why", 1, upto=1, text="Left out.", summary="All of it.")
    (account,) = notices(0, less, told)
    assert isinstance(account, Compacted)
    assert account.text == (
        "Left out.\nIn short (as far to be trusted as the results it is of):\nAll of it."
    )
    assert notices(0, Compacted("mask", "why", 1, cuts={"1.1": "[a]"})) == []
    assert notices(2, less) == [], "it is told of nowhere else"


def test_of_steps_that_are_left_out_what_people_and_others_said_stays() -> None:
    said: list[Any] = [
        Note(text_parts("and then?")),
        Note(text_parts("remember"), source="memory"),
        Note(text_parts("wrong"), source="check"),
        Note(text_parts("late"), source="late"),
        Forked("", 0, SPEC),
    ]
    run = record(thought(look()), seen("a"), *said[:4])
    run.step.notices += (said[4],)
    more(run, thought(look()), seen("b", "2.1"), Compacted("drop", "why", 1, upto=1, text="One."))
    left = visible_step(run.steps[0], None, run)
    assert list(left.notices) == [said[0], said[1], said[4]]
    assert (left.thought, left.calls, left.number) == (None, (), 1)
    kept = visible_step(run.steps[1], None, run)
    assert (kept.thought, len(kept.calls)) == (run.steps[1].thought, 1)


DONE = "Done in them all the same (do not do it again unless it is to happen twice):"


def rewound(*more_of_it: object) -> list[object]:
    done = seen("posted", "2.1", effect="unsafe")
    branch: list[Any] = [thought(Action("post", {"x": 1})), Attempt("2.1", "post", "h", 1.0), done]
    run = record(thought(look()), seen("a"), *branch, Rewound(1, "It was closed."))
    more(run, *more_of_it)  # type: ignore[arg-type]  # events
    return list(visible_step(run.steps[1], None, run).notices)


def test_a_rewind_tells_of_the_effects_of_its_branch_once() -> None:
    (back,) = rewound()
    assert isinstance(back, Rewound)
    assert back.lesson.split("\n")[:2] == ["It was closed.", DONE]
    assert back.lesson.split("\n")[2].startswith("- post(")
    assert rewound(thought(look()), Compacted("drop", "w", 1, upto=2, text="Two.")) == []
    assert rewound(thought(look()), Compacted("drop", "w", 1, upto=1, text="One.")) == [back]


@pytest.mark.parametrize(
    ("outcome", "told"), [("done", ""), ("unknown", " (it may or may not have happened)")]
)
def test_a_line_of_an_effect_is_short_and_says_what_nobody_knows(outcome: str, told: str) -> None:
    came = seen("x", effect="unsafe", outcome=outcome)
    call = Call("1.1", Action("post", {"text": "y" * 1_000}), observation=came)
    line = effect_line(call)
    assert line.startswith('- post({"text":"yyy')
    assert line.endswith(told)
    assert len(line) == EFFECT_CHARS + len(told)
