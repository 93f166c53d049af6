"""What a replay takes for the same: what was decided, in whatever words; and nothing else."""

from typing import Final

import pytest

from clew.core.actions import Action
from clew.core.contents import Observation, Reply, text_parts
from clew.core.events import AnyEvent, Attempt, Fingerprints, Judged, Landing, Note, Stop, Thought
from clew.core.reworded import as_worded
from clew.core.verdicts import Verdict

PRINTS: Final = Fingerprints("a", "b", "c", "d")


def thought(fault: str = "", repairs: tuple[str, ...] = (), *actions: Action) -> Thought:
    return Thought(Reply("x"), PRINTS, fault=fault, repairs=repairs, actions=actions)


SAME: Final[dict[str, tuple[AnyEvent, AnyEvent]]] = {
    "a verdict": (
        Judged("1.1", Verdict("deny", "no", code="cap")),
        Judged("1.1", Verdict("deny", "never", code="cap")),
    ),
    "a refusal": (
        Observation("1.1", "it is used up", ok=False, code="cap", detail="a"),
        Observation("1.1", "all are used", ok=False, code="cap", detail="b"),
    ),
    "a stop": (Stop("bound", "the steps", code="steps"), Stop("bound", "15 steps", code="steps")),
    "a landing": (Landing("steps", "a", code="steps"), Landing("all steps", "b", code="steps")),
    "another attempt": (
        Attempt("1.1", "look", "h", 5.0, 2, after="it was late"),
        Attempt("1.1", "look", "h", 5.0, 2, after="too late"),
    ),
    "a check": (Note(text_parts("too long"), "check"), Note(text_parts("shorter"), "check")),
    "a fault": (thought("no JSON"), thought("it is no JSON")),
    "repairs": (thought("", ("a fence",)), thought("", ("the fence",))),
    "a fault of an action": (
        thought("", (), Action("look", {}, "no object"), Action("look", {"n": 1})),
        thought("", (), Action("look", {}, "a list"), Action("look", {"n": 1})),
    ),
}

OTHER: Final[dict[str, tuple[AnyEvent, AnyEvent]]] = {
    "another verdict": (Judged("1.1", Verdict("deny", "no")), Judged("1.1", Verdict("hold", "no"))),
    "another code of a verdict": (
        Judged("1.1", Verdict("deny", "no", code="cap")),
        Judged("1.1", Verdict("deny", "no")),
    ),
    "another result": (Observation("1.1", "Ulm"), Observation("1.1", "Graz")),
    "another code": (
        Observation("1.1", "x", ok=False, code="cap"),
        Observation("1.1", "x", ok=False, code="denied"),
    ),
    "a refusal and a result": (
        Observation("1.1", "x", ok=False, code="cap"),
        Observation("1.1", "x"),
    ),
    "another status": (Stop("bound", "x"), Stop("answered", "x")),
    "another answer": (Stop("answered", "", "Ulm"), Stop("answered", "", "Graz")),
    "another bound": (Landing("x", code="steps"), Landing("x", code="cost")),
    "an attempt after none": (
        Attempt("1.1", "look", "h", 5.0),
        Attempt("1.1", "look", "h", 5.0, after="it was late"),
    ),
    "another number": (
        Attempt("1.1", "look", "h", 5.0, 2, after="a"),
        Attempt("1.1", "look", "h", 5.0, 3, after="a"),
    ),
    "words of a person": (Note(text_parts("go")), Note(text_parts("stop"))),
    "words of a person and of a check": (Note(text_parts("go")), Note(text_parts("go"), "check")),
    "a fault where there was none": (thought(), thought("no JSON")),
    "no fault any more": (thought("no JSON"), thought()),
    "one more repair": (thought("", ("a",)), thought("", ("a", "b"))),
    "another call": (thought("", (), Action("look")), thought("", (), Action("send"))),
    "one more call": (
        thought("", (), Action("look", {}, "a")),
        thought("", (), Action("look", {}, "b"), Action("look")),
    ),
    "a call that can be read": (
        thought("", (), Action("look", {}, "a")),
        thought("", (), Action("look")),
    ),
    "an event of another kind": (Stop("bound", "x"), Landing("x")),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_what_was_decided_is_the_same_in_other_words(old: AnyEvent, new: AnyEvent) -> None:
    assert new != old
    assert as_worded(old, new, finish=False) == old
    assert as_worded(new, old, finish=False) == new


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_another_decision_is_another(old: AnyEvent, new: AnyEvent) -> None:
    assert as_worded(old, new, finish=False) != old
    assert as_worded(new, old, finish=False) != new


def test_what_is_told_of_an_answer_is_wording_and_what_a_tool_returned_is_none() -> None:
    old, new = Observation("1.1", "the answer was accepted"), Observation("1.1", "accepted")
    assert as_worded(old, new, finish=True) == old
    assert as_worded(old, new, finish=False) == new
