"""JSON as models write it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.codecs.json_repair import (
    DEPTH,
    UnreadableError,
    complete_value,
    first_value,
    repeated_key,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.text(alphabet=" \n\t", max_size=3), st.sampled_from(["", "\nmore", " ]", "```"]))
def test_json_is_read_as_it_is(value: Any, before: str, after: str) -> None:
    text = before + json.dumps(value, ensure_ascii=False)
    found = first_value(text + (after if isinstance(value, (dict, list, str)) else ""))
    assert (found.value, found.end, found.repairs) == (value, len(text), ())
    assert complete_value(text) == value


def complaint(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except UnreadableError as error:
        return str(error)
    return ""


@given(st.text())
def test_any_text_is_a_value_or_unreadable_in_one_line(text: str) -> None:
    assert "\n" not in complaint(first_value, text) + complaint(complete_value, text)


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ("{'a': 'b \"c\" \\'d\\' \\n'}", {"a": "b \"c\" 'd' \n"}, ["single quotes read as JSON"]),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, ["trailing comma dropped"]),
        (
            '{"a": 1, // one\n "b": 2 # two\n /* and ** so on */}',
            {"a": 1, "b": 2},
            ["comment dropped"],
        ),
        ("[True, False, None]", [True, False, None], ["Python constants read as JSON"]),
        ("{a: 1, $b: 2}", {"a": 1, "$b": 2}, ["bare keys quoted"]),
        ('{"a": "b\n\tc"}', {"a": "b\n\tc"}, ["line breaks in a string escaped"]),
        ("{'a': 'b\nc'}", {"a": "b\nc"}, ["single quotes read as JSON"]),
        ("'a'", "a", ["single quotes read as JSON"]),
        ("{'a': {'b': '}'}} and {more}", {"a": {"b": "}"}}, ["single quotes read as JSON"]),
    ],
)
def test_what_is_mended(text: str, value: Any, repairs: list[str]) -> None:
    found = first_value(text)
    assert found.value == value
    assert list(found.repairs) == repairs


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "ends before it is closed"),
        ('{"a": "b', "ends before it is closed"),
        ('{"a": {"b": 1}', "ends before it is closed"),
        ("{'a': 1", "ends before it is closed"),
        ("{'a': 'b", "ends before it is closed"),
        ("{'a' 1}", "is wrong at"),
        ("{/* never closed", "is wrong at"),
        ('{"a": 1, "a": 2}', 'the key "a" is given twice'),
        ("{'a': 1, 'a': 2}", 'the key "a" is given twice'),
        ("NaN", "NaN is no JSON value"),
        ("[1e999]", "too large"),
        ("9" * 5000, "cannot be read"),
        ("[" * (DEPTH + 1) + "]" * (DEPTH + 1), "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ("plain words", "is wrong at"),
        ("}", "is wrong at"),
    ],
)
def test_what_is_not(text: str, says: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        first_value(text)
    assert says in str(caught.value)


def test_half_a_character_is_replaced_and_named() -> None:
    found = first_value(r'{"a": "cut \ud83d", "b": "\ud83d\ude00"} and more')
    assert found.value == {"a": "cut \ufffd", "b": "\U0001f600"}
    assert (found.end, found.repairs) == (40, ("half a character replaced by U+FFFD",))
    mended = first_value(r"{'a': 'cut \ud83d'}")
    assert (mended.value, len(mended.repairs)) == ({"a": "cut \ufffd"}, 2)


def test_deep_nesting_is_read_up_to_the_limit() -> None:
    assert first_value("[" * DEPTH + "]" * DEPTH).end == 2 * DEPTH


def test_a_whole_value_has_nothing_behind_it() -> None:
    with pytest.raises(UnreadableError, match="text behind"):
        complete_value("1 2")


def test_a_key_that_is_given_twice_is_named_and_no_json_names_none() -> None:
    assert '"a"' in repeated_key('{"b": {"a": 1, "a": 2}}')
    assert repeated_key("{a: 1, b: 2}") == repeated_key('{"a": 1, "b": {"a": 2}}') == ""
