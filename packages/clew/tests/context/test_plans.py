"""A plan of a shorter view: what it holds, what it costs, and what stays of what it leaves out."""

from typing import Any

import pytest

from clew.context.compaction import (
    Compacting,
    Compaction,
    asks_model,
    drop,
    duplicates,
    extract,
    mask,
    shorten,
    visible_characters,
)
from clew.context.draft import CompactionPlan, earlier_summary, results
from clew.core.actions import Action, Done
from clew.core.contents import Evidence, Observation, RawCall, Reply, Usage, text_parts
from clew.core.events import AnyEvent, Attempt, Compacted, Forked, Note, Rewound
from clew.core.trajectory import Trajectory
from clew.support.errors import PartError
from tests.core.records import SPEC, look, more, record, thought

LEFT_OUT = (
    "Steps 1 to {} are left out here, to keep the prompt short: recall(query) finds them by words, "
    "and read_more(handle) shows one of their results."
)
DONE = "Done in them (do not do it again unless it is to happen twice):"


def plan(run: Trajectory, *, keep: int = 1, **given: Any) -> CompactionPlan:
    usual = {"target": 0, "prompt": 0, "opening": 0, "shape": None, "visible_chars": None}
    return CompactionPlan(run, keep=keep, **(usual | given))


def said(text: str) -> Note:
    return Note(text_parts(text))


def long_run(steps: int = 3, chars: int = 400) -> Trajectory:
    """A run that reads this many pages of this many characters each."""
    rows: list[AnyEvent] = []
    for number in range(1, steps + 1):
        rows += [thought(look(page=number)), Observation(f"{number}.1", str(number % 10) * chars)]
    return record(*rows)


TWO_CALLS = (RawCall(name="look", arguments='{"a":1}'), RawCall(name="ask"))


@pytest.mark.parametrize(
    ("events", "chars"),
    [
        ((thought(reply=Reply("x" * 40)),), 40),
        ((thought(reply=Reply(calls=TWO_CALLS)),), 14),
        ((thought(look()), Observation("1.1", "x" * 80)), 80),
        ((thought(look()), Observation("1.1", {"a": 1})), 7),
        ((thought(), said("x" * 8), said("x" * 8)), 16),
        ((thought(), Compacted("mask", "x" * 99, 1)), 0),
        ((thought(reply=Reply("x" * 8)), thought(reply=Reply("x" * 8))), 16),
        ((thought(look(), look()), Observation("1.1", "abcd"), Observation("1.2", "abcd")), 8),
    ],
)  # fmt: skip
def test_a_prompt_has_the_characters_of_its_steps(events: Any, chars: int) -> None:
    assert plan(record(*events)).tokens == 1 + chars // 4, "the question is a token"
    assert plan(record(*events, goal="x" * 41), opening=100).tokens == 110 + chars // 4


def test_a_provider_that_counts_more_tokens_is_believed() -> None:
    run = long_run(1, 400)
    assert plan(run, prompt=101, opening=0).tokens == 1 + 100
    assert plan(run, prompt=301).tokens == 1 + 300
    assert plan(run, prompt=50).tokens == 1 + 100, "a token has four characters at most"
    assert plan(record(), prompt=10).tokens == 1


def test_what_was_left_out_or_rewound_before_is_not_counted() -> None:
    run = more(long_run(3), Rewound(2, "no"))
    assert plan(run).tokens == 1 + 200
    assert [step.number for step in plan(run).steps] == [1, 2]
    less = more(long_run(3), Compacted("drop", "why", 1, upto=2, text="…", summary="sums"))
    chars = len(LEFT_OUT) + len("sums")
    assert plan(less).tokens == 1 + (400 + chars) // 4
    assert [step.number for step in plan(less).steps] == [3]
    cut = more(long_run(3), Compacted("mask", "why", 1, cuts={"1.1": "[1…]"}))
    assert plan(cut).tokens == 1 + 804 // 4


@pytest.mark.parametrize(("target", "fits"), [(300, False), (301, True)])
def test_it_fits_at_its_target(target: int, fits: bool) -> None:
    assert plan(long_run(), target=target).fits == fits


@pytest.mark.parametrize(("keep", "older"), [(1, [1, 2]), (2, [1]), (3, []), (4, [])])
def test_the_last_steps_are_not_older(keep: int, older: list[int]) -> None:
    assert [step.number for step in plan(long_run(), keep=keep).older] == older


class TestACut:
    @pytest.mark.parametrize(("chars", "cut"), [(399, True), (400, False), (500, False)])
    def test_is_made_where_it_is_shorter(self, chars: int, cut: bool) -> None:
        run, text = long_run(), "y" * chars
        one = plan(run)
        ((call, seen),) = results(run.steps[0])
        one.cut(call, seen, text)
        assert one.new_cuts == ({"1.1": text} if cut else {})
        assert one.cuts == one.new_cuts
        one.cut(call, seen, "yyyy")
        assert one.new_cuts == {"1.1": "yyyy"}
        assert one.tokens == 1 + 804 // 4
        one.leave_out(run.steps[0])
        assert one.new_cuts == {}, "a step that is left out shows no results"
        assert one.tokens == 1 + (800 + len(LEFT_OUT)) // 4

    def test_keeps_the_evidence_that_was_cited_in_brackets(self) -> None:
        found = (Evidence("d1", "a" * 600), Evidence("d2", "b"), Evidence("d3", "c"))
        for citing in (
            thought(text="as [d1] says"),
            thought(answer="so [d1]"),
            thought(look(why="see [d1]")),
            thought(text="as 【d1】 says"),
        ):
            run = record(thought(look()), Observation("1.1", "x" * 2_000, evidence=found), citing)
            one = plan(run)
            ((call, seen),) = results(run.steps[0])
            one.cut(call, seen, "less")
            assert one.new_cuts == {"1.1": f"less\n[d1] {'a' * 500}"}
        none = thought(text="[d 1] [" + "d" * 81 + "] d2")
        run = record(thought(look()), Observation("1.1", "x" * 2_000, evidence=found), none)
        one = plan(run)
        one.cut(*results(run.steps[0])[0], "less")
        assert one.new_cuts == {"1.1": "less"}


class TestWhatIsLeftOut:
    def test_is_accounted_for(self) -> None:
        piece = Evidence("d1", "a" * 600)
        run = record(
            thought(Action("post", {"x": 1})), Attempt("1.1", "post", "h", 1.0),
            Observation("1.1", "posted", effect="unsafe"),
            thought(Action("post", {"x": 1})), Attempt("2.1", "post", "h", 1.0),
            Observation("2.1", "posted", effect="unsafe"),
            thought(look()), Observation("3.1", "x" * 50, evidence=(piece, piece)),
            thought(look()), Rewound(3, "not there"),
            thought(look(why="[d1]")), Observation("5.1", "y"), said("ok?"),
            thought(look()), Observation("6.1", "z"),
        )  # fmt: skip
        one = plan(run)
        assert (one.account, one.upto) == ("", 0)
        before = one.tokens
        one.leave_out(run.steps[4])
        assert one.upto == 5
        effect = '- post({"x":1})'
        lines = [
            LEFT_OUT.format(5), DONE, effect, effect, "Learned in them:", "- not there",
            "Cited from them:", f"[d1] {'a' * 500}",
        ]  # fmt: skip
        assert one.account.split("\n") == lines
        kept = ["ok?", *lines[1:]]
        chars = len(LEFT_OUT) + sum(map(len, kept)) + 4  # and a line's end after each line
        assert one.tokens == 1 + (1 + chars) // 4
        assert before != one.tokens
        assert [step.number for step in one.steps] == [6]

    def test_still_has_what_a_fork_found_done(self) -> None:
        found = Forked("p", 1, SPEC, done=(Done("p:2.1", "post", "h", "post()"),))
        run = record(thought(look()), Observation("1.1", "x" * 400), found, thought(look()))
        one = plan(run)
        one.leave_out(run.steps[0])
        assert one.tokens == 1 + (len(LEFT_OUT) + len(str(found))) // 4

    def test_begins_after_what_was_left_out_before(self) -> None:
        run = more(long_run(4), Compacted("drop", "w", 1, upto=1, text="…", summary="sums"))
        one = plan(run)
        assert (one.upto, one.account) == (1, LEFT_OUT.format(1))
        one.leave_out(run.steps[1])
        assert (one.upto, one.account) == (2, LEFT_OUT.format(2))
        assert one.tokens == 1 + (800 + len(LEFT_OUT) + 4) // 4
        with pytest.raises(ValueError, match="step 2 is left out already, or is to stay"):
            one.leave_out(run.steps[1])
        with pytest.raises(ValueError, match="step 4 is left out already"):
            one.leave_out(run.steps[3])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("The bridge is old. It rains. Where is it?", "Where is it?"),
        ("where\nis\nbridge of WHERE!\nno", "where\nbridge of WHERE!"),
        ("where 1. where 2. where 3. where 4.", "where 1.\nwhere 2.\nwhere 3."),
        (
            "where. none. where bridge. old bridge where.",
            "where.\nwhere bridge.\nold bridge where.",
        ),
        ("none of it", ""),
        ("is it of", ""),
    ],
)
def test_salient_lines_have_words_of_the_question(text: str, lines: str) -> None:
    run = record(goal="Where is the old bridge of it?")
    expected = lines
    if text.startswith("The bridge"):
        expected = "The bridge is old.\nWhere is it?"
    assert plan(run).salient(text) == expected


class TestCompactors:
    def test_of_results_that_came_again_the_last_stays(self) -> None:
        same = "x" * 400
        run = record(
            thought(look(page=1)), Observation("1.1", same),
            thought(look(page=1)), Observation("2.1", same),
            thought(look(page=2)), Observation("3.1", same),
            thought(look(page=1)), Observation("4.1", "y" * 400),
            thought(look(page=1)), Observation("5.1", same),
        )  # fmt: skip
        duplicates(one := plan(run))
        told = "[the same as the result of call 5.1]"
        assert one.new_cuts == {"1.1": told, "2.1": told}

    def test_a_mask_is_a_line(self) -> None:
        run = record(
            thought(look()), Observation("1.1", "a b\n" * 1_000),
            thought(look()), Observation("2.1", "y" * 1_000),
        )  # fmt: skip
        mask(one := plan(run))
        begins = ("a b " * 50)[:100]
        rest = '4,000 characters in all: read_more("1.1") shows them'
        assert one.new_cuts == {"1.1": f"[{begins}… ({rest})]"}

    def test_an_extract_has_the_lines_that_matter_or_the_beginning(self) -> None:
        run = record(
            thought(look()), Observation("1.1", "Where it is. " + "z" * 1_000),
            thought(look()), Observation("2.1", "y" * 1_000),
            thought(look()), Observation("3.1", "y" * 1_000),
        )  # fmt: skip
        extract(one := plan(run))
        assert one.new_cuts == {
            "1.1": 'Where it is.\n[… 1,013 characters in all: read_more("1.1") shows them]',
            "2.1": f'{"y" * 100}\n[… 1,000 characters in all: read_more("2.1") shows them]',
        }

    def test_drop_leaves_out_as_many_steps_as_it_takes(self) -> None:
        for target, upto in ((10**6, 0), (1 + (1_200 + len(LEFT_OUT)) // 4, 1), (0, 3)):
            drop(one := plan(long_run(4), target=target))
            assert one.upto == upto

    def test_shorten_shows_1500_characters_of_the_last_results_too(self) -> None:
        shorten(one := plan(long_run(2, 1_600)))
        more_of_it = '\n[… 1,600 characters in all: read_more("{}.1") shows them]'
        assert one.new_cuts == {f"{n}.1": str(n) * 1_500 + more_of_it.format(n) for n in (1, 2)}


def test_only_a_new_summary_asks_a_model() -> None:
    run = more(long_run(3), Compacted("drop", "w", 1, upto=1))
    assert asks_model(Compacted("mask+summary", "w", 1, upto=2), run)
    assert not asks_model(Compacted("mask+summary", "w", 1, upto=1), run)
    assert not asks_model(Compacted("mask+drop", "w", 1, upto=2), run)
    assert not asks_model(None, run)
    assert not asks_model(Rewound(2, "no"), run)
    assert earlier_summary(run) == ""
    assert earlier_summary(more(run, Compacted("drop", "w", 1, upto=2, summary="s"))) == "s"


@pytest.mark.parametrize(
    ("window", "chars"),
    [
        (None, 100_000),
        (1, 2_000),
        (4_000, 2_000),
        (4_002, 2_001),
        (200_000, 100_000),
        (10**6, 100_000),
    ],
)
def test_an_eighth_of_the_window_is_shown_of_a_result(window: int | None, chars: int) -> None:
    assert visible_characters(window) == chars


def compacting(window: int | None = 1_000, **settings: Any) -> Compacting:
    usual: dict[str, Any] = {"by": ("drop",), "at": 0.5, "to": 0.25, "keep": 1}
    return Compacting(Compaction(**(usual | settings)), window, 0, None, None)


class TestACompaction:
    @pytest.mark.parametrize(
        ("prompt", "reply", "due"), [(4_000, 1_000, False), (4_001, 1_000, True)]
    )
    def test_is_due_over_its_share_of_the_window(self, prompt: int, reply: int, due: bool) -> None:
        run = long_run(40)
        assert (compacting(10_000, to=0.1).due(run, Usage(prompt, reply)) is not None) == due
        assert compacting(None).due(run, Usage(prompt, reply)) is None

    def test_says_what_it_left_out_and_why(self) -> None:
        less = compacting(10_000).due(long_run(90), Usage(9_001, 1_000))
        assert less is not None
        assert less.why == "the next prompt of about 9,001 tokens, of a window of 10,000"
        assert less.by == "drop"
        rate = 9_000 / 36_000
        left = 400 * (90 - less.upto) + len(LEFT_OUT)
        assert less.tokens == 1 + int(rate * left) <= 4_500, "half of the room beside the reply"
        assert 1 + int(rate * (left + 400)) > 4_500, "and no more is left out than that takes"
        assert less.text == LEFT_OUT.format(less.upto)
        assert (less.cuts, less.summary) == ({}, "")

    def test_keeps_fewer_steps_where_it_does_not_fit_else(self) -> None:
        for keep, kept in ((1, 1), (2, 2), (3, 2), (5, 2)):
            less = compacting(1_200, by=("mask",), keep=keep).due(long_run(6, 800), Usage(1_201, 0))
            assert less is not None
            assert [*less.cuts] == [f"{number}.1" for number in range(1, 7 - kept)]

    def test_shortens_the_last_results_where_nothing_else_helps(self) -> None:
        less = compacting().due(long_run(2, 8_000), Usage(4_001, 0))
        assert less is not None
        assert [*less.cuts] == ["2.1"]
        assert len(less.cuts["2.1"]) < 1_600

    def test_that_leaves_nearly_all_is_not_made(self) -> None:
        for second, made in (("y" * 400, False), ("y" * 396, True)):

            def cuts(one: CompactionPlan, second: str = second) -> None:
                for step, text in zip(one.steps, ("", second), strict=False):
                    one.cut(*results(step)[0], text)

            less = compacting(by=(cuts,)).due(long_run(10), Usage(1_001, 0))
            assert (less is not None) == made, "nine tenths of the prompt"
        assert compacting(by=()).due(long_run(9), Usage(901, 0)) is None

    def test_by_ones_own_compactor_changes_the_plan_at_once(self) -> None:
        def gives(one: CompactionPlan) -> Any:
            return 7

        with pytest.raises(PartError, match="nothing, and change the draft at once"):
            compacting(by=(gives,)).due(long_run(10), Usage(1_001, 0))

    def test_can_be_forced_once(self) -> None:
        run = long_run(90)
        for window, upto in ((None, 68), (10_000, 68), (5_000, 78)):
            less = compacting(window).forced(run, 9_001)
            assert less is not None
            assert (less.upto, less.why) == (upto, "the provider found the prompt too long")
        less = Compacted("drop", "why", 1, upto=1, text="…")
        assert compacting(None).forced(more(run, said("hm"), less), 9_001) is None
        assert compacting(None).forced(more(run, said("hm")), 9_001) is not None
