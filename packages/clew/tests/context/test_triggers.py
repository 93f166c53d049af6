"""When a run goes back by itself, from hand-written records: each condition, and each bound."""

from typing import Any

import pytest

from clew.context import Review, Rewinds
from clew.context.rewind import asked_back, way_back
from clew.core.actions import Action
from clew.core.contents import Observation, Usage, text_parts
from clew.core.events import AnyEvent, Charged, Judged, Landing, Note, Rewound
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.core.verdicts import Verdict
from tests.core.records import look, more, record, thought

CODE: Any = "repeated_same_tool_call_too_many_times"
FAR = "it would go back to step"
LESSON = 'look({"page":1}) gave nothing new in 2 calls. Try something else.'


def pages(first: int, last: int) -> list[AnyEvent]:
    """Steps that each read another page."""
    rows: list[AnyEvent] = []
    for number in range(first, last + 1):
        rows += [thought(look(page=number)), Observation(f"{number}.1", f"page {number}")]
    return rows


def stuck(step: int, page: int) -> list[AnyEvent]:
    """A step whose call was refused as a repetition."""
    return [
        thought(look(page=page)),
        Observation(f"{step}.1", "ERROR: …", ok=False, code=CODE),
    ]


def rejected(text: str = "In Ardle") -> list[AnyEvent]:
    return [thought(answer=text), Note(text_parts("not so"), source="check")]


PERSON = Note(text_parts("Go on."))


def to(run: Trajectory, tries: int = 9, **settings: Any) -> int | None:
    back = Rewinds(**settings).due(run, tries)
    return None if back is None else back.to


class TestARewind:
    def test_says_who_made_it_and_why(self) -> None:
        repeated = record(*pages(1, 1), *stuck(2, 1))
        assert Rewinds().due(repeated, 9) == Rewound(0, LESSON, "clew: repeated")
        wrong = record(*pages(1, 1), *rejected(), *rejected())
        lesson = "The answer In Ardle was rejected: not so."
        assert Rewinds().due(wrong, 9) == Rewound(1, lesson, "clew: rejected")

    def test_goes_by_what_is_named(self) -> None:
        repeated, wrong = record(*pages(1, 1), *stuck(2, 1)), record(*rejected(), *rejected())
        assert (to(repeated, by=("rejected",)), to(wrong, by=("rejected",))) == (None, 0)
        assert (to(repeated, by=("repeated",)), to(wrong, by=("repeated",))) == (0, None)

    @pytest.mark.parametrize(
        ("answers", "settings", "tries", "made"),
        [
            (1, {}, 9, False),
            (2, {}, 9, True),
            (2, {"rejected": 3}, 9, False),
            (2, {"rejected": 3}, 2, True),
            (1, {"rejected": 1}, 9, True),
            (1, {}, 1, True),
            (1, {}, 0, False),
        ],
    )
    def test_waits_for_so_many_answers(
        self, answers: int, settings: Any, tries: int, made: bool
    ) -> None:
        run = record(*(event for _ in range(answers) for event in rejected()))
        assert (to(run, tries, **settings) is not None) == made

    @pytest.mark.parametrize(
        "then", [[Landing("steps")], [PERSON], [Rewound(0, "no")]], ids=["landing", "word", "made"]
    )
    def test_is_not_made_there(self, then: list[AnyEvent]) -> None:
        run = record(*pages(1, 1), *stuck(2, 1), *then)
        assert to(run) is None
        assert not Rewinds(critic=str, every=1).asks(run)  # type: ignore[arg-type]  # not called
        assert to(record()) is None

    @pytest.mark.parametrize(("most", "made"), [(1, False), (2, True)])
    def test_is_made_so_often_since_a_person_spoke(self, most: int, made: bool) -> None:
        run = record(*pages(1, 1), *stuck(2, 1), Rewound(0, "no", "clew: repeated"))
        more(run, *pages(3, 3), *stuck(4, 3))
        assert (to(run, max_rewinds=most) is not None) == made
        other = record(*pages(1, 1), *stuck(2, 1), Rewound(0, "no", "Ada"))
        assert to(more(other, *pages(3, 3), *stuck(4, 3)), max_rewinds=1) == 2
        said = record(*pages(1, 1), *stuck(2, 1), Rewound(0, "no", "clew: critic"), PERSON)
        assert to(more(said, *pages(3, 3), *stuck(4, 3)), max_rewinds=1) == 2


class TestASecondRewind:
    def test_goes_further_where_the_first_led_nowhere(self) -> None:
        run = record(*pages(1, 8), *stuck(9, 8), Rewound(7, "no", "clew: repeated"))
        more(run, *stuck(10, 8))
        back = Rewinds().due(run, 9)
        assert back is not None
        assert back.to == 3
        assert back.lesson.endswith('All that began with look({"page":4}) led nowhere.')
        more(run, back, *stuck(11, 8))
        assert to(run) == 1
        silent = record(thought(), thought(), *pages(3, 3), *stuck(4, 3))
        more(silent, Rewound(2, "no", "clew: repeated"), *stuck(5, 3))
        back = Rewinds().due(silent, 9)
        assert back is not None
        assert back.to == 1
        assert back.lesson.endswith("All that began after step 1 led nowhere.")

    def test_goes_back_no_further_where_steps_of_the_first_are_kept(self) -> None:
        run = record(*pages(1, 4), *stuck(5, 4), Rewound(3, "no", "clew: repeated"))
        more(run, *pages(6, 7), *stuck(8, 7))
        assert to(run) == 6

    def test_never_goes_back_before_what_a_person_said(self) -> None:
        run = record(*pages(1, 4), PERSON, *pages(5, 8), *stuck(9, 8))
        more(run, Rewound(7, "no", "clew: repeated"), *stuck(10, 8))
        assert to(run) == 5


def asks(run: Trajectory, **settings: Any) -> bool:
    def critic(trajectory: Trajectory) -> Review:
        return Review(wrong=False)

    return Rewinds(critic=critic, **settings).asks(run)


class TestACritic:
    def test_is_asked_after_so_many_steps(self) -> None:
        assert [asks(record(*pages(1, n))) for n in (0, 1, 4, 5, 6)] == [
            False, False, False, True, True,
        ]  # fmt: skip
        assert asks(record(*pages(1, 2)), every=2)
        assert not asks(record(*pages(1, 1)), every=2)
        assert not Rewinds().asks(record(*pages(1, 9)))

    def test_is_asked_again_after_as_many_more(self) -> None:
        review = Charged(Usage(1), "critic", "…")
        assert not asks(record(*pages(1, 5), review), every=1)
        assert not asks(record(*pages(1, 5), review, *pages(6, 9)))
        assert asks(record(*pages(1, 5), review, *pages(6, 10)))
        lost = Charged(Usage(1), "lost_reply", "…")
        assert asks(record(*pages(1, 4), lost, *pages(5, 5)))

    def test_is_asked_of_steps_that_are_in_view(self) -> None:
        run = record(*pages(1, 4), Rewound(1, "no", "Ada"), *pages(5, 6))
        assert not asks(run)
        assert asks(run, every=3)

    def test_is_asked_at_once_where_calls_repeat_themselves(self) -> None:
        assert asks(record(*pages(1, 1), *stuck(2, 1)))
        hint = Verdict("hint", "again?")
        for guard, asked in (("NoProgress(early)", True), ("Other(1)", False)):
            run = record(thought(look()), Judged("1.1", hint, guard), Observation("1.1", "a"))
            assert asks(run) == asked

    @pytest.mark.parametrize(
        ("review", "rewound", "came"),
        [
            (Review(wrong=False, to=1, lesson="x"), None, "nothing wrong"),
            (Review(wrong=True, to=1, lesson="not there"), 1, "back to step 1"),
            (Review(wrong=True, to=2, lesson="not there"), 2, "back to step 2"),
            (Review(wrong=True, to=0, lesson="not there"), 0, "back to step 0"),
            (Review(wrong=True, to=3, lesson="x"), None, f"{FAR} 3, and may to 0 to 2"),
            (Review(wrong=True, to=-1, lesson="x"), None, f"{FAR} -1, and may to 0 to 2"),
            (Review(wrong=True, to=1, lesson=" \n"), None, "it gave no lesson"),
            (Review(wrong=True, to=1, lesson="x", fault="no JSON"), None, "no JSON"),
        ],
    )  # fmt: skip
    async def test_is_paid_for_and_heard(
        self, review: Review, rewound: int | None, came: str
    ) -> None:
        paid = Review(review.wrong, review.to, review.lesson, Usage(7), review.fault)
        first, *rest = await Rewinds(critic=lambda _: paid).review(
            record(*pages(1, 3)), seconds=5.0, grace=1.0
        )
        assert first == Charged(Usage(7), "critic", f"the critic after step 3: {came}")
        expected = [] if rewound is None else [Rewound(rewound, review.lesson, "clew: critic")]
        assert rest == expected


def backtrack(version: str = "backtrack/1") -> dict[str, Any]:
    async def call(args: Any, key: str) -> str:
        return ""

    return {"backtrack": Tool("backtrack", "Go back.", {}, version=version, call=call)}


class TestAModel:
    def test_goes_back_where_its_call_was_taken(self) -> None:
        back = Action("backtrack", {"step": 1, "lesson": "not there"})
        run = record(*pages(1, 2), thought(look(page=9), back), Observation("3.1", "x"))
        assert asked_back(run, backtrack()) is None, "not answered yet"
        more(run, Observation("3.2", "ok"))
        assert asked_back(run, backtrack()) == Rewound(1, "not there", "model")
        assert way_back(run, backtrack(), None, 9) == Rewound(1, "not there", "model")
        assert asked_back(run, backtrack("2")) is None, "somebody else's"
        assert asked_back(run, {}) is None
        assert asked_back(more(run, Rewound(2, "no", "Ada")), backtrack()) is None, "made already"

    def test_that_was_refused_does_not(self) -> None:
        back = Action("backtrack", {"step": 1, "lesson": "not there"})
        run = record(*pages(1, 2), thought(back), Observation("3.1", "no", ok=False))
        assert asked_back(run, backtrack()) is None

    def test_that_asks_for_nothing_leaves_it_to_the_record(self) -> None:
        run = record(*pages(1, 1), *stuck(2, 1))
        assert way_back(run, backtrack(), Rewinds(), 9) == Rewound(0, LESSON, "clew: repeated")
        assert way_back(run, backtrack(), None, 9) is None
