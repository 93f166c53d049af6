"""Calls that are written as text: read, refused with the right form, or left as an answer."""

import pytest

from clew.codecs import by_name
from clew.codecs.native import Native
from clew.core.actions import Action
from clew.core.contents import Reply
from tests.codecs.samples import prompt_spec
from tests.codecs.spellings import ADA, BESIDE, FAULTS, SEEN, TALK, UNSEEN

CODEC = Native()


@pytest.mark.parametrize("spelling", [*SEEN, *UNSEEN])
def test_a_reply_that_is_a_call_is_read_as_one(spelling: str) -> None:
    text, name, args = (SEEN | UNSEEN)[spelling]
    parsed = CODEC.parse(prompt_spec(), Reply(text))
    assert (parsed.fault, parsed.answer) == ("", None)
    assert parsed.actions == (Action(name, args),)
    assert parsed.repairs[0] == "calls written as text were read as calls"


@pytest.mark.parametrize("why", FAULTS)
def test_what_may_be_a_call_and_cannot_be_made_is_a_fault_that_teaches(why: str) -> None:
    parsed = CODEC.parse(prompt_spec(), Reply(FAULTS[why]))
    assert (parsed.answer, parsed.actions) == (None, ())
    assert "Call a tool by function calling" in parsed.fault


@pytest.mark.parametrize("kind", TALK)
def test_an_answer_that_talks_about_calls_stays_an_answer(kind: str) -> None:
    parsed = CODEC.parse(prompt_spec(), Reply(TALK[kind]))
    assert (parsed.fault, parsed.answer) == ("", TALK[kind])


@pytest.mark.parametrize("kind", BESIDE)
def test_a_call_that_only_reads_is_made_beside_other_words_too(kind: str) -> None:
    parsed = CODEC.parse(prompt_spec(), Reply(BESIDE[kind]))
    assert (parsed.fault, parsed.actions) == ("", (Action("search", ADA),))
    invented = "invented" in kind
    assert parsed.text == ("" if invented else "I look her up.")
    assert ("text behind the calls dropped" in parsed.repairs) is invented


@pytest.mark.parametrize("spelling", ["bare object", "Hermes", "fenced json"])
def test_the_strict_form_reads_no_call_in_a_text(spelling: str) -> None:
    text = SEEN[spelling][0]
    parsed = by_name("native:strict").parse(prompt_spec(), Reply(text))
    assert (parsed.answer, parsed.actions) == (text, ())
