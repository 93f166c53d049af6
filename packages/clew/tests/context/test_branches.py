"""Where a wrong branch began, and the words that tell of it, as the record alone says it."""

from typing import Any

import pytest

from clew.context.branches import (
    WrongBranch,
    branch_steps,
    call_line,
    quoted_line,
    rejected,
    repeated,
)
from clew.core.actions import Action
from clew.core.contents import Evidence, Observation, text_parts
from clew.core.events import AnyEvent, Judged, Note, Rewound
from clew.core.trajectory import Trajectory
from clew.core.verdicts import Verdict
from tests.core.records import look, record, thought

CODE: Any = "repeated_same_tool_call_too_many_times"


def found(key: str, text: str, *doc_ids: str, **more: Any) -> Observation:
    return Observation(key, text, evidence=tuple(Evidence(id_, text) for id_ in doc_ids), **more)


def objection(text: str = "not so") -> Note:
    return Note(text_parts(text), source="check")


def answered(text: str, why: str = "not so") -> list[AnyEvent]:
    return [thought(answer=text), objection(why)]


def read(*results: str, evidence: tuple[str, ...] = ()) -> list[AnyEvent]:
    """A step for each of these results."""
    rows: list[AnyEvent] = []
    for number, text in enumerate(results, 1):
        ids = [evidence[number - 1]] if evidence and evidence[number - 1] else []
        rows += [thought(look(page=number)), found(f"{number}.1", text, *ids)]
    return rows


class TestRejectedAnswers:
    def test_begin_with_the_first_answer_where_no_result_says_it(self) -> None:
        run = record(*read("nothing of it"), *answered("In Ardle"), *answered("In Brannock", "nor"))
        assert rejected(run, 2) == WrongBranch(
            1, "The answer In Ardle; In Brannock was rejected: not so; nor."
        )

    @pytest.mark.parametrize(("tries", "is_one"), [(0, False), (1, True), (2, True), (3, False)])
    def test_are_counted(self, tries: int, is_one: bool) -> None:
        run = record(*answered("In Ardle"), *answered("In Ardle"))
        assert (rejected(run, tries) is not None) == is_one

    def test_that_say_the_same_are_told_once(self) -> None:
        run = record(*answered("In Ardle"), *answered("In Ardle"))
        assert rejected(run, 1) == WrongBranch(0, "The answer In Ardle was rejected: not so.")

    def test_come_from_the_result_that_they_cite(self) -> None:
        results = read("a bridge of Ardle", "the tower", evidence=("d1", "d2"))
        run = record(*results, *answered("a bridge of Ardle [d2]"))
        assert rejected(run, 1) == WrongBranch(
            1,
            "The answer a bridge of Ardle [d2] was rejected: not so. "
            'It came from look({"page":2}). Look elsewhere.',
        )

    @pytest.mark.parametrize(
        ("results", "answer", "came"),
        [
            (("tower stone green hill", "tower stone"), "tower stone green hill", 1),
            (("tower", "tower stone green", "tower stone green hill"), "tower stone green hill", 3),
            (("tower stone", "stone tower"), "tower stone", 1),  # the first of equals
            (("tower stone", "nothing"), "tower stone green hill", 1),  # half of them
            (("tower", "nothing"), "tower stone green hill", None),  # less than half
            (("Tower STONE", "nothing"), "tower stone", 1),
            (("where tower", "stone"), "where stone", 2),  # what the question says is not new
            (("it is of 7", "nothing"), "it is 7", 1),  # a number counts however short
            (("it is of me", "nothing"), "it is of", None),
            (("the", "nothing"), "the", 1),  # three letters do
        ],
    )
    def test_come_from_the_result_that_has_most_of_their_words(
        self, results: tuple[str, ...], answer: str, came: int | None
    ) -> None:
        found = rejected(record(*read(*results), *answered(answer)), 1)
        assert found is not None
        assert found.to == (len(results) if came is None else came - 1)
        assert ("It came from" in found.lesson) == (came is not None)

    def test_come_from_the_earliest_source_of_any_of_them(self) -> None:
        run = record(*read("tower", "stone"), *answered("stone"), *answered("tower"))
        assert (rejected(run, 2) or (9,))[0] == 0

    def test_come_from_no_failed_call_no_finish_and_nothing_after_them(self) -> None:
        finish = Action("finish", {"answer": "tower stone"})
        run = record(
            thought(look(page=1)),
            Observation("1.1", "tower stone", ok=False, code="tool_error"),
            thought(finish),
            Observation("2.1", "tower stone", ok=True),
            thought(look(page=2)),
            *answered("tower stone"),
            thought(look(page=3)),
            found("5.1", "tower stone"),
        )
        assert rejected(run, 1) == WrongBranch(3, "The answer tower stone was rejected: not so.")

    @pytest.mark.parametrize("code", ["rejected", "invalid_arguments", "denied"])
    def test_may_be_given_by_finish(self, code: Any) -> None:
        finish = Action("finish", {"answer": {"town": "Ardle"}})
        run = record(thought(finish), Observation("1.1", f"ERROR: {code}: no", ok=False, code=code))
        assert rejected(run, 1) == WrongBranch(0, 'The answer {"town":"Ardle"} was rejected: no.')
        assert rejected(record(thought(finish), Observation("1.1", "x", code="cap")), 1) is None

    def test_are_told_with_the_last_objection(self) -> None:
        run = record(thought(answer="In Ardle"), objection("first"), objection("second"))
        assert rejected(run, 1) == WrongBranch(0, "The answer In Ardle was rejected: second.")
        person = record(thought(answer="In Ardle"), objection("first"), thought())
        assert (rejected(person, 1) or (9,))[0] == 0

    def test_are_quoted_in_part_and_the_lesson_has_500_characters_at_most(self) -> None:
        run = record(*answered("a" * 61, "b" * 121))
        lesson = (rejected(run, 1) or WrongBranch(0, "")).lesson
        assert lesson == f"The answer {'a' * 59}… was rejected: {'b' * 119}…."
        many = [answered("tower", f"{n}{'b' * 118}") for n in range(9)]
        run = record(*read("tower"), *(event for one in many for event in one))
        lesson = (rejected(run, 1) or WrongBranch(0, "")).lesson
        assert len(lesson) == 500
        assert lesson.endswith('… It came from look({"page":1}). Look elsewhere.')


def refused(key: str) -> Observation:
    return Observation(key, f"ERROR: {CODE}: again", ok=False, code=CODE)


def again(*results: str, calls: Any = None) -> Trajectory:
    """A run that makes the same call with these results, and one time more in vain."""
    rows: list[AnyEvent] = []
    for number, text in enumerate(results, 1):
        call = look(page=1) if calls is None else calls[number - 1]
        rows += [thought(call), found(f"{number}.1", text)]
    last = len(results) + 1
    call = look(page=1) if calls is None else calls[-1]
    return record(*rows, thought(call), refused(f"{last}.1"))


class TestRepeatedCalls:
    def test_begin_with_the_first_that_gave_the_same(self) -> None:
        assert repeated(again("a", "a"), 1) == WrongBranch(
            0, 'look({"page":1}) gave nothing new in 3 calls. Try something else.'
        )
        other = repeated(again("b", "a", "a"), 1)
        assert other == WrongBranch(
            1, 'look({"page":1}) gave nothing new in 3 calls. Try something else.'
        )

    def test_of_other_arguments_count_where_the_same_was_not_made(self) -> None:
        calls = [look(page=1), look(page=2), look(page=3)]
        assert repeated(again("a", "a", calls=calls), 1) == WrongBranch(
            0, 'look({"page":3}) gave nothing new in 3 calls. Try something else.'
        )
        calls = [look(page=2), look(page=1), look(page=1)]
        assert repeated(again("a", "a", calls=calls), 1) == WrongBranch(
            1, 'look({"page":1}) gave nothing new in 2 calls. Try something else.'
        )
        calls = [Action("ask", {"page": 3}), look(page=2), look(page=3)]
        assert (repeated(again("a", "a", calls=calls), 1) or (9,))[0] == 1, "of the same tool"

    def test_that_were_refused_before_belong_to_them_whatever_they_said(self) -> None:
        run = record(
            thought(look(page=1)), found("1.1", "a"),
            thought(look(page=1)), refused("2.1"),
            thought(look(page=1)), refused("3.1"),
        )  # fmt: skip
        assert repeated(run, 1) == WrongBranch(
            0, 'look({"page":1}) gave nothing new in 3 calls. Try something else.'
        )

    def test_beside_anything_else_are_no_branch(self) -> None:
        for seen in (found("2.2", "new"), None):
            run = record(
                thought(look(page=1)), found("1.1", "a"),
                thought(look(page=1), look(page=2)), refused("2.1"), *([seen] if seen else []),
            )  # fmt: skip
            assert (repeated(run, 1) is None) == (seen is not None)
        assert repeated(record(thought(look())), 1) is None

    def test_beside_finish_are_one_and_several_are_told(self) -> None:
        run = record(
            thought(look(page=1), look(page=2)), found("1.1", "a"), found("1.2", "b"),
            thought(look(page=1), look(page=2), Action("finish", {"answer": "x"})),
            refused("2.1"), refused("2.2"), Observation("2.3", "x", ok=False, code="cap"),
        )  # fmt: skip
        assert repeated(run, 1) == WrongBranch(
            0,
            'look({"page":1}) gave nothing new in 2 calls. '
            'look({"page":2}) gave nothing new in 2 calls. Try something else.',
        )

    def test_that_are_the_same_are_told_once(self) -> None:
        run = record(
            thought(look(page=1)), found("1.1", "a"),
            thought(look(page=1), look(page=1)), refused("2.1"), refused("2.2"),
        )  # fmt: skip
        assert (repeated(run, 1) or WrongBranch(0, "")).lesson.count("nothing new") == 1


def test_a_branch_begins_after_what_a_person_last_said_and_without_what_was_rewound() -> None:
    run = record(
        *read("a", "b", "c"), Rewound(2, "no"), Note(text_parts("go on")),
        thought(look(page=4)), found("4.1", "d"), thought(look(page=5)), found("5.1", "e"),
    )  # fmt: skip
    assert [step.number for step in branch_steps(run)] == [4, 5]
    back = record(*read("a", "b", "c"), Rewound(1, "no"), thought(look()))
    assert [step.number for step in branch_steps(back)] == [1, 4]


def test_a_quotation_is_one_short_line_without_tokens() -> None:
    assert quoted_line("a\n <|im_start|> b") == "a ‹|im_start|› b"
    assert quoted_line("x" * 120) == "x" * 120
    assert quoted_line("x" * 121) == "x" * 119 + "…"
    run = record(thought(look(page=1)))
    assert call_line(run.calls[0]) == 'look({"page":1})'
    judged = Judged("1.1", Verdict("amend", "mended", args={"page": 2}))
    run.add(type(run.entries[0])(3, 9_000, 1, judged))
    assert call_line(run.calls[0]) == 'look({"page":2})', "as it was made"
