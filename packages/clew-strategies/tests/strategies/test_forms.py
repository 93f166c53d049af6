"""Answers as they are compared: what only looks different is the same, what differs is not."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_strategies import normalise

SAME = [
    ("Paris", "paris.", "The Paris!", " PARIS ", "“Paris”", "Paris [wiki_3].", "**Paris**"),
    ("1200", "1,200", "1,200.0", "twelve hundred", "1200 [doc_1][doc_2]"),
    ("1,200 m", "1.2 km", "1200 metres"),
    ("3 March 1847", "March 3, 1847", "1847-03-03", "3rd March, 1847"),
    ("50 %", "50%", "fifty percent"),
    ("$3.5 million", "3,500,000 dollars", "US$3.5M"),
    ("A", "a.", "(A)"),
    ("Müller", "mueller", "MULLER"),
    ("yes", "Yes.", "YES!"),
]
DIFFERENT = [
    ("Paris", "London"),
    ("1200 m", "1200 km"),
    ("5", "-5"),
    ("1847", "1874"),
    ("3 March 1847", "4 March 1847"),
    ("C", "C++", "C#"),
    ("A", "A+", "A-", "B"),
    ("x < 5", "x > 5", "x <= 5", "x ≥ 5", "x ≠ 5"),
    ("👍", "👎", ""),
    ("yes", "no"),
    ("it is known", "it is not known"),
]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_formats_of_one_answer_are_equal(texts: tuple[str, ...]) -> None:
    assert len({normalise(text) for text in texts}) == 1


@pytest.mark.parametrize("texts", DIFFERENT, ids=lambda texts: texts[0])
def test_other_answers_stay_apart(texts: tuple[str, ...]) -> None:
    assert len({normalise(text) for text in texts}) == len(texts)


@given(st.text(max_size=60))
def test_a_form_is_never_empty_and_is_its_own_form(text: str) -> None:
    once = normalise(text)
    assert once
    assert normalise(once) == once


@given(st.text(alphabet="aAbB1290.,;:+-#<>=%$€[]_ \n'’()/^éßǅ²", max_size=40))
def test_a_form_of_signs_and_digits_is_its_own_form(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.integers(-(10**12), 10**12))
def test_a_number_is_the_same_however_it_is_grouped(number: int) -> None:
    assert normalise(f"{number:,}") == normalise(str(number)) == normalise(f" {number}.0 ")


@given(st.dates(date(1000, 1, 1), date(2100, 12, 31)))
def test_a_date_is_the_same_in_words(day: date) -> None:
    assert normalise(f"{day.day} {day:%B} {day.year}") == normalise(day.isoformat())


@given(st.text(alphabet="abcdefgh ", max_size=30).filter(str.strip))
def test_case_and_punctuation_do_not_count(text: str) -> None:
    assert normalise(f" {text.upper()}! ") == normalise(text)


def test_typed_answers_are_values() -> None:
    assert normalise(1) == normalise(1.0) != normalise(True)
    assert normalise({"x": 1, "y": [2.0]}) == normalise({"y": [2], "x": 1.0})
    assert normalise({"x": "Paris"}) != normalise({"x": "paris"})
    assert normalise(None) != normalise("")
    assert normalise(0.1) != normalise(0.2)
