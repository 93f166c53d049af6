"""Answers are taken apart where a reader would, and nothing of them is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.citations import citations
from clew.evidence import claims


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("It rose. It fell.", ["It rose.", "It fell."]),
        ("Dr. A. B. Lind met Mrs. Holt.", None),
        ("J. R. R. Tolkien wrote it.", None),
        ("It weighs 3.5 kg, e.g. a cat, i.e. little.", None),
        ("Approx. 20 of them, cf. Fig. 3, came.", None),
        ("It opens at 9 a.m. on weekdays.", None),
        ("It closed at 3 p.m. The rest is known.", ["It closed at 3 p.m.", "The rest is known."]),
        ("He is at Acme Inc. It is old.", ["He is at Acme Inc.", "It is old."]),
        ("Es begann am 5. Mai 1904 in St. Veit.", None),
        ("It has vitamin C. The rest is water.", ["It has vitamin C.", "The rest is water."]),
        ("There were 12. Rain fell.", ["There were 12.", "Rain fell."]),
        ("“Stop!” he said. She did.", ["“Stop!” he said.", "She did."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("Really?! Yes… and no.", ["Really?!", "Yes… and no."]),
        ("他出生于1820年。他死了。", ["他出生于1820年。", "他死了。"]),
        ("यह एक है। वह दो।", ["यह एक है।", "वह दो।"]),
        ("A line\nbroken once.", None),
        ("One para\n\nAnother", ["One para", "Another"]),
        ("Intro:\n- one thing\n- two things", ["Intro:", "- one thing", "- two things"]),
        ("1. first\n2. second\na) third", ["1. first", "2. second", "a) third"]),
        ("# Title\nText here", ["# Title", "Text here"]),
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("It fell. [doc_1] It rose [doc_2].", ["It fell. [doc_1]", "It rose [doc_2]."]),
        ("It fell.[doc_1][doc_2]\n[doc_3]", None),
        ("It fell [doc_1]; it rose [doc_2].", ["It fell [doc_1];", "it rose [doc_2]."]),
        ("It fell; it rose [doc_2].", None),
        ("See [v. 2.5] or [p. 3] there.", None),
        ("...", []),
        ("", []),
        ("   \n ", []),
    ],
)
def test_sentences(answer: str, parts: list[str] | None) -> None:
    assert [claim.text for claim in claims(answer)] == ([answer] if parts is None else parts)


def test_citations_belong_to_their_sentence_with_their_places() -> None:
    answer = "It fell [doc_1, doc_2]. It rose.【wiki_3】\n\nIt stood [7] [sic] [1818] [a](b_1)."
    found = claims(answer)
    cited = [[citation.doc_id for citation in claim.cited] for claim in found]
    assert cited == [["doc_1", "doc_2"], ["wiki_3"], ["7"]]
    assert [claim.paragraph for claim in found] == [0, 0, 1]
    first = found[0].cited[0]
    assert answer[first.start : first.end] == "[doc_1, doc_2]"


def test_what_the_record_knows_is_a_citation_whatever_it_looks_like() -> None:
    assert citations("so [abc]") == []
    assert [each.doc_id for each in citations("so [abc]", {"abc"})] == ["abc"]
    assert [each.doc_id for each in citations("so [1818]", {"1818"})] == ["1818"]


def test_headings_say_what_follows() -> None:
    answer = "# Height\nIn short:\n- 3 m [doc_1]\n**So:** 4 m"
    assert [claim.heading for claim in claims(answer)] == [True, True, False, False]


PIECE = "It fell|Dr|A|5|3.5 kg|.|. |! |? |\n|\n\n|[doc_1]|; |- |1. |# |:|“x”|Inc|Mai| |。|…|(|)|[|]"
PIECES = st.lists(st.sampled_from([*PIECE.split("|"), "| "])).map("".join)


@given(st.one_of(st.text(), PIECES))
def test_every_letter_is_in_one_claim(answer: str) -> None:
    place = 0
    for claim in claims(answer):
        assert not any(letter.isalnum() for letter in answer[place : claim.start])
        assert answer[claim.start : claim.end] == claim.text
        assert claim.start >= place
        place = claim.end
    assert not any(letter.isalnum() for letter in answer[place:])
    everything = [citation for claim in claims(answer) for citation in claim.cited]
    assert everything == citations(answer)
