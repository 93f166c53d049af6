"""One folding wherever clew searches: files, documents, memory, tools and earlier results."""

import pytest

from clew.support.text_folding import caseless, folded
from clew.tools.search_words import grams, terms

FORMS = [
    ("Die Straße ist gesperrt.", "strasse"),
    ("DIE STRASSE IST GESPERRT.", "straße"),
    ("The soft\u00adhyphen stays.", "softhyphen"),
    ("A zero\u200bwidth space.", "zerowidth"),
    ("Made by ＡＢＣ.", "abc"),
    ("Open the ﬁle.", "file"),
    ("Open the file.", "ﬁle"),
    ("From İstanbul.", "istanbul"),
    ("In a cafe\u0301.", "café"),
    ("In a cafe\u200d\u0301.", "café"),
    ("ที่น้ำตกไทรโยค", "น้ำตก"),
    ("ที่น้ำตกไทรโยค", "นํ้าตก"),
    ("เเม่น้ำโขง", "แม่น้ำ"),
    ("ຂ້ອຍຮຽນພາສາລາວ", "ລາວ"),
    ("ຫນັງສື", "ໜັງສື"),
]


@pytest.mark.parametrize(("text", "query"), FORMS)
def test_a_query_in_another_form_has_terms_of_the_text(text: str, query: str) -> None:
    there = f"{text.lower()} {grams(text)}".split()
    words = {word.strip(".") for word in there}
    assert {term.strip('"*') for term in terms(query)} <= words


@pytest.mark.parametrize(("text", "query"), FORMS)
def test_folding_brings_both_forms_together(text: str, query: str) -> None:
    assert caseless(query) in caseless(text)
    assert folded(folded(text)) == folded(text)
    assert caseless(caseless(text)) == caseless(text)


def test_marks_that_part_other_words_stay() -> None:
    assert caseless("Чай и йод") == "чай и йод"
    assert folded("Weiß") == "Weiss"
    assert caseless("ABC") == "abc"
