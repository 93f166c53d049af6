"""Recorded replies are read as they were recorded, and a difference is told."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from clew.codecs import by_name
from clew.core.actions import Action
from recordings import data, text_codecs
from recordings.data import VARIABLE, folder, missing
from recordings.report import failures
from recordings.text_codecs import by_the_model, figures, listed, tallied
from recordings.text_formats import FORMATS, Format, plainly, rewritten
from tests.recordings import spoken as own

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""

KINDS = [form.kind for form in FORMATS]
READ = [
    (0, own.FEVER),
    (1, own.WEBSHOP),
    (2, own.FIREACT),
    (3, own.REFLEXION),
    (4, own.MEDAGENT),
    (5, own.BLOCK),
    (6, own.XML),
]
KIND = {5: "text", 6: "xml-text"}


@pytest.mark.parametrize(("index", "turns"), READ)
def test_what_the_original_could_read_is_read_alike(
    index: int, turns: Sequence[own.Record]
) -> None:
    tally = tallied(FORMATS[index], [own.record(*turns, form=KIND.get(index, ""))])
    assert (tally.same, tally.read, tally.missed) == (len(turns), len(turns), [])
    assert tally.written == tally.called == len(turns)


@pytest.mark.parametrize(
    ("index", "turns", "made"),
    [
        (0, own.FEVER_UNREAD, ["finish[REFUTES]", "a fault: the reply has nothing of the form"]),
        (2, own.FIREACT_UNREAD, ["search[b]"]),
        (3, own.REFLEXION_UNREAD, ["search[Oder]"]),
        (
            4,
            own.MEDAGENT_UNREAD,
            ["post[http", "post[http", 'finish[{"done": true}]', "a fault: no line", "a fault"],
        ),
    ],
)
def test_what_the_original_could_not_read_is_read_by_its_plain_words(
    index: int, turns: Sequence[own.Record], made: Sequence[str]
) -> None:
    for turn, wanted in zip(turns, made, strict=True):
        tally = tallied(FORMATS[index], [own.record(turn)])
        assert (tally.right, tally.unread, tally.read) == (1, 1, 0)
        (line,) = listed(tally)
        assert f"read rightly as {wanted}" in line


def test_a_difference_is_a_miss_with_both_readings() -> None:
    thought = own.turn("a\nAction 1: Search[Oder]", "b", ("search", "Oder"))
    tally = tallied(FORMATS[0], [own.record(*own.FEVER, thought)])
    (missed,) = tally.missed
    assert missed.endswith("step 3: the thought was recorded as b, and is read as a")
    assert not next(figures([tally])).met


def test_what_a_codec_cannot_read_is_a_miss() -> None:
    tally = tallied(replace(FORMATS[0], codec=by_name("json")), [own.record(*own.FEVER)])
    assert (tally.read, tally.same) == (2, 0)
    assert "it was recorded as search[Oder], and is read as no action" in tally.missed[0]


def test_what_was_recorded_otherwise_than_it_was_said_measures_the_recording() -> None:
    other = own.turn("a\nAction 1: Search[Oder]", "a", ("search", "Elbe"))
    tally = tallied(FORMATS[0], [own.record(*own.FEVER, other)])
    assert (tally.otherwise, tally.read, tally.missed) == (1, 2, [])
    (line,) = listed(tally)
    assert line.endswith("recorded as search[Elbe]; read as it plainly says, as search[Oder]")


@pytest.mark.parametrize("ours", [True, False])
def test_nothing_of_the_projects_own_recordings_may_be_recorded_otherwise(ours: bool) -> None:
    other = own.turn("a\nAction 1: Search[Oder]", "a", ("search", "Elbe"))
    tally = tallied(FORMATS[0], [own.record(*own.FEVER, other)])
    rows = {row.what: row for row in figures([tally], own=ours)}
    row = rows["all: recorded otherwise than plainly said"]
    assert (row.got, row.of, row.aim, row.met) == ("1", "3", "0" if ours else "", not ours)


WAYS = [
    ("So. Action 1: Search[Oder]", {("search", ("Oder",)), ("", ())}),
    ("Action 1: Browse[Oder]", {("browse", ("Oder",)), ("", ())}),
    ("Search[Oder", {("search", ("Oder",)), ("", ())}),
    ("Search[[Oder]]", {("search", ("Oder",))}),
    ("Search[a [b] c]", {("search", ("a [b",)), ("search", ("a [b] c",))}),
    ("I search.", set()),
]


@pytest.mark.parametrize(("text", "ways"), WAYS)
def test_a_plain_reader_gives_every_way_to_take_a_call(
    text: str, ways: set[tuple[str, tuple[str, ...]]]
) -> None:
    assert plainly(FORMATS[0], text) == ways


def test_unread_turns_alike_are_listed_in_one_line() -> None:
    tally = tallied(FORMATS[3], [own.record(*own.REFLEXION_UNREAD, *own.REFLEXION_UNREAD)])
    (line,) = listed(tally)
    assert line == (
        "Reflexion, own-1 step 1 and 1 more like it: the original took several calls for the "
        "argument of one; read rightly as search[Oder]"
    )
    wrong = own.turn("a\nAction 1: see Search[b]", "a", flags=["original_parse_failure"])
    (line,) = listed(tallied(FORMATS[0], [own.record(wrong)]))
    assert "read rightly as a fault: the action names no tool" in line


def test_calls_in_the_providers_own_fields_are_no_text() -> None:
    called = own.turn("I look.", "I look.", ("command", "ls"), tool_calls=[{"id": "1"}])
    tally = tallied(FORMATS[5], [own.record(called, called, form="text")])
    assert (tally.read, tally.elsewhere.total()) == (0, 2)
    assert [row.got for row in figures([tally])][1] == "2"


@pytest.mark.parametrize(
    ("text", "action", "written"),
    [
        ("Search[Oder]", Action("search", {"entity": "Oder"}), True),
        ("Search[Oder]", Action("search", {"entity": "Elbe"}), False),
        ("Look[Oder]", Action("search", {"entity": "Oder"}), False),
        ('POST {"a": ["b\\n"]}', Action("post", {"body": {"a": ["b\n"]}}), True),
        ('POST {"a": ["b"]}', Action("post", {"body": {"a": ["c"]}}), False),
    ],
)
def test_an_action_counts_as_written_only_with_all_its_words(
    text: str, action: Action, written: bool
) -> None:
    assert by_the_model(text, action) is written


def test_a_turn_is_written_anew_in_other_formats() -> None:
    first = FORMATS[0]
    assert rewritten("labelled", first, own.FEVER[0]) == (
        'Thought: I look it up.\nAction: search\nAction Input: {"entity": "Oder"}'
    )
    assert '"action": "finish", "args": {"answer": "SUPPORTS"}' in rewritten(
        "json", first, own.FEVER[1]
    )
    assert rewritten("json", first, own.FEVER_UNREAD[0]) == ""


def names(form: Format) -> str:
    return form.name


@pytest.mark.parametrize("form", FORMATS, ids=names)
def test_each_format_keeps_calls_apart_from_prose(form: Format) -> None:
    tally = tallied(form, [own.record(own.turn("a\nb c.", "a", raw_action="b", flags=[]))])
    assert tally.called == 0


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings_is_read_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    part = text_codecs.measure(4)
    assert list(failures([part])) == []
    assert len(part.figures) > 10
    (otherwise,) = [row for row in part.figures if row.what.startswith("all: recorded otherwise")]
    assert (otherwise.got, otherwise.aim) == ("0", "0" if data.own(*KINDS) else "")
