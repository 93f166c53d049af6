"""Where a record can be cut, and what a fork shares, completes and is told there."""

from typing import Any

import pytest

from clew.core.actions import Action, Done
from clew.core.contents import Observation, text_parts
from clew.core.events import AnyEvent, Attempt, Forked, Note, Stop, Suspended
from clew.core.fork import find_fork_point
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError
from tests.core.records import SPEC, look, more, record, thought

FINISH = Action("finish", {"answer": "x"})
POST = Action("post", {"x": 1})


def seen(key: str, text: Any = "a", **fields: Any) -> Observation:
    return Observation(key, text, **fields)


def said(text: str = "Hm.") -> Note:
    return Note(text_parts(text))


def posted(step: int) -> list[AnyEvent]:
    return [
        thought(POST),
        Attempt(f"{step}.1", "post", "h", 1.0),
        seen(f"{step}.1", "posted", effect="unsafe"),
    ]


def run(*then: AnyEvent) -> Trajectory:
    """Two look-ups at once, an effect, and an answer."""
    first: list[Any] = [thought(look(x=1), look(x=2)), seen("1.1"), said(), seen("1.2")]
    return record(*first, *posted(2), thought(FINISH), seen("3.1"), Stop("answered"), *then)


def shared(at: int, **given: Any) -> tuple[int, list[AnyEvent]]:
    point = find_fork_point(run(), at, **given)
    assert (point.parent, point.step) == ("run", at)
    assert [entry.seq for entry in point.shared] == [*range(1, len(point.shared) + 1)]
    assert (point.base.run_id, point.base.seq) == ("run", len(point.shared))
    return len(point.shared), [*point.again]


def test_a_step_is_shared_with_all_that_was_observed_in_it() -> None:
    assert shared(0) == (1, [])
    assert shared(1) == (5, [])
    assert shared(2) == (8, [])
    assert shared(3) == (9, []), "an answer is judged anew"


def test_what_a_person_says_then_is_added() -> None:
    assert shared(1, say="Why?") == (5, [said("Why?")])
    assert shared(1, say=" \n") == (5, [])
    assert shared(3, say="Why?") == (11, [said("Why?")]), "the answer stands, for it ended the run"
    open_ = record(thought(look(x=1), FINISH), seen("1.1"))
    point = find_fork_point(open_, 1, say="Why?")
    closed, word = point.again
    assert isinstance(closed, Observation)
    assert closed.text == "ERROR: interrupted: a person spoke before it was looked at"
    assert (closed.call, word) == ("1.2", said("Why?"))


def test_another_observation_takes_the_place_of_one_and_what_came_later_follows() -> None:
    point = find_fork_point(run(), 1, {"1.1": "b"})
    assert (len(point.shared), point.changed) == (2, ("observation 1.1",))
    assert [*point.again] == [seen("1.1", "b"), said(), seen("1.2")]
    both = find_fork_point(run(), 1, {"1.2": "c", "1.1": "b"})
    assert [*both.again] == [seen("1.1", "b"), said(), seen("1.2", "c")]
    assert both.changed == ("observation 1.2", "observation 1.1")
    last = find_fork_point(run(), 1, {"1.2": "c"})
    assert (len(last.shared), [*last.again]) == (4, [seen("1.2", "c")])


def test_an_answer_is_left_out_where_something_beside_it_changed() -> None:
    rejected = seen("1.2", "no", ok=False, code="rejected")
    one = record(thought(look(x=1), FINISH), seen("1.1"), rejected)
    assert len(find_fork_point(one, 1).shared) == 4
    point = find_fork_point(one, 1, {"1.1": "b"})
    assert [*point.again] == [seen("1.1", "b")]


def test_effects_that_are_out_of_sight_are_told() -> None:
    assert [done.key for done in find_fork_point(run(), 0).done] == ["run:2.1"]
    assert [done.key for done in find_fork_point(run(), 1).done] == ["run:2.1"]
    assert find_fork_point(run(), 2).done == ()
    changed = find_fork_point(run(), 2, {"2.1": "other"})
    assert [done.key for done in changed.done] == ["run:2.1"]


def test_a_fork_of_a_fork_is_cut_from_who_wrote_the_step() -> None:
    told = Done("run:9.1", "post", "h", "post()")
    earlier = Done("run:8.1", "post", "h", "post()")
    one = record(
        *posted(1), Forked("first", 1, SPEC, done=(earlier,)), *posted(2),
        Forked("second", 2, SPEC, done=(told,)), thought(look()), seen("3.1"),
    )  # fmt: skip
    assert [find_fork_point(one, at).parent for at in (0, 1, 2, 3)] == [
        "first", "first", "second", "run",
    ]  # fmt: skip
    assert [done.key for done in find_fork_point(one, 3).done] == []
    assert {done.key for done in find_fork_point(one, 2).done} == {"run:9.1"}
    assert {done.key for done in find_fork_point(one, 1).done} == {
        "run:8.1", "run:9.1", "second:2.1",
    }  # fmt: skip


def test_a_call_that_asked_for_others_goes_on_with_what_these_observe_now() -> None:
    asks: list[Any] = [
        thought(look(x=1), look(x=2)), Suspended("1.1", (look(x=3),), b"s"), seen("1.3"),
        Suspended("1.1", (look(x=4),), b"t"), seen("1.4"), seen("1.1"), seen("1.2"),
    ]  # fmt: skip
    one = record(*asks)
    assert len(find_fork_point(one, 1).shared) == 8
    first = find_fork_point(one, 1, {"1.3": "b"})
    assert [*first.again] == [seen("1.3", "b"), seen("1.2")], "the rest is asked for anew"
    second = find_fork_point(one, 1, {"1.4": "b"})
    assert [*second.again] == [seen("1.4", "b"), seen("1.2")]
    with pytest.raises(ConfigError, match=r"1\.4 will be asked for anew: leave it out, or fork ag"):
        find_fork_point(one, 1, {"1.3": "b", "1.4": "c"})
    with pytest.raises(ConfigError, match=r"1\.1 will be asked for anew"):
        find_fork_point(one, 1, {"1.3": "b", "1.1": "c"})


@pytest.mark.parametrize(
    ("at", "given", "why"),
    [
        (-1, {}, "run run cannot be forked at -1: give 0 to 3$"),
        (4, {}, "cannot be forked at 4: give 0 to 3$"),
        (1, {"observations": {"2.1": "x"}}, r"2\.1 is no call of step 1: its calls are 1\.1, 1\.2"),
        (0, {"observations": {"1.1": "x"}}, r"1\.1 is no call of step 0: its calls are -"),
        (3, {"observations": {"3.1": "x"}}, r"3\.1 is no call of step 3: its calls are -"),
        (1, {"observations": {"1.1": object()}}, r"observation 1\.1 cannot be put on record"),
        (1, {"observations": ["x"]}, "observations"),
        (1, {"say": 7}, "say"),
        ("1", {}, "at"),
    ],
)
def test_what_cannot_be_cut_is_told(at: Any, given: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        find_fork_point(run(), at, **given)


def test_a_step_that_waits_can_not_be_cut_behind() -> None:
    one = more(record(thought(look()), seen("1.1")), thought(look(), look()), seen("2.1"))
    with pytest.raises(ConfigError, match=r"give 0 to 1 \(step 2 waits for 2\.2\)"):
        find_fork_point(one, 2)
    assert len(find_fork_point(one, 1).shared) == 3
