"""Shares, differences and repetitions: what holds for all of them, and figures known elsewhere."""

import random
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew_evals.bootstrap import difference
from clew_evals.outcome import Outcome
from clew_evals.statistics import (
    accuracy,
    pass_all,
    pass_all_k,
    pass_at,
    pass_at_k,
    repeated,
    wilson,
)


def outcome(case: int, passed: bool, pair: str = "", number: int = 1) -> Outcome:
    return Outcome(
        case=f"case-{case}", configuration="a", model="m", run_id=f"{case}-{number}",
        status="answered", pair=pair, repetition=number, passed=passed,
    )  # fmt: skip


def trials(words: list[list[bool]], pairs: int = 0) -> list[Outcome]:
    """A list of words for each case; the first `pairs` times two cases are twins."""
    return [
        outcome(case, passed, f"twins-{case // 2}" if case < 2 * pairs else "", number)
        for case, letters in enumerate(words)
        for number, passed in enumerate(letters, start=1)
    ]


WORDS = st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=12)


@given(st.floats(0, 1), st.integers(0, 500))
def test_an_interval_of_wilson_lies_in_0_and_1_and_holds_the_share(share: float, n: int) -> None:
    low, high = wilson(share, n)
    assert 0 <= low <= high <= 1
    assert low <= share <= high


@pytest.mark.parametrize(
    ("passes", "n", "low", "high"),  # Newcombe 1998, Statistics in Medicine 17, table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611),
     (1, 29, 0.0061, 0.1718)],
)  # fmt: skip
def test_the_interval_is_the_published_one(passes: int, n: int, low: float, high: float) -> None:
    assert wilson(passes / n, n) == pytest.approx((low, high), abs=5e-5)


@given(WORDS, st.integers(0, 3))
def test_accuracy_is_the_mean_over_cases(words: list[list[bool]], pairs: int) -> None:
    interval = accuracy(trials(words, pairs))
    assert interval.value == pytest.approx(fmean(map(fmean, words)))
    assert interval.low <= interval.value <= interval.high
    assert (interval.cases, interval.trials) == (len(words), sum(map(len, words)))
    twins = min(pairs, len(words) // 2)
    assert interval.units == len(words) - twins


def test_repetitions_of_a_case_make_the_interval_no_narrower() -> None:
    once = accuracy(trials([[True], [False], [True]]))
    often = accuracy(trials([[True] * 9, [False] * 9, [True] * 9]))
    assert (once.low, once.high) == (often.low, often.high)


def test_of_no_outcome_nothing_is_said() -> None:
    with pytest.raises(ValueError, match="at least one"):
        accuracy([])


@settings(max_examples=20)
@given(WORDS, st.integers(0, 3))
def test_equal_sides_do_not_differ(words: list[list[bool]], pairs: int) -> None:
    estimated = difference(trials(words, pairs), trials(words, pairs))
    assert estimated is not None
    assert (estimated.value, estimated.better, estimated.worse) == (0, 0, 0)
    assert (estimated.low, estimated.high) == (
        (0, 0) if accuracy(trials(words, pairs)).units > 1 else (-1, 1)
    )


@settings(max_examples=20)
@given(st.data(), WORDS)
def test_a_difference_turned_round_is_its_negative(
    data: st.DataObject, words: list[list[bool]]
) -> None:
    other = data.draw(st.lists(st.lists(st.booleans(), min_size=1, max_size=3), min_size=1))
    one_way = difference(trials(words), trials(other))
    back = difference(trials(other), trials(words))
    assert one_way is not None
    assert back is not None
    assert one_way.value == pytest.approx(-back.value)
    assert (one_way.better, one_way.worse) == (back.worse, back.better)
    assert one_way.low <= one_way.value <= one_way.high
    assert (one_way.low, one_way.high) == pytest.approx((-back.high, -back.low), abs=0.05)


def test_only_cases_of_both_sides_count_and_their_order_does_not() -> None:
    many = [[True], [False], [True], [False], [True], [True]]
    few = trials([[False], [False], [True], [True]])
    estimated = difference(trials(many), few)
    assert estimated is not None
    assert (estimated.cases, estimated.value, estimated.better, estimated.worse) == (
        4,
        0,
        0.25,
        0.25,
    )
    assert difference(trials(many)[::-1], few[::-1]) == estimated
    assert difference(trials(many), [outcome(99, passed=True)]) is None


def test_twins_are_drawn_together() -> None:
    """A set of which each case is there twice, as a pair, is no surer than the set."""
    gaps = [[True], [False], [True], [True], [False], [True]]
    none = [[False]] * 6
    once = difference(trials(gaps), trials(none))
    twice = [word for word in gaps for _ in range(2)]
    paired = difference(trials(twice, pairs=6), trials([[False]] * 12, pairs=6))
    apart = difference(trials(twice), trials([[False]] * 12))
    assert once is not None
    assert paired is not None
    assert apart is not None
    assert paired.high - paired.low == pytest.approx(once.high - once.low, abs=0.05)
    assert apart.high - apart.low < once.high - once.low - 0.05


def test_the_interval_of_a_difference_holds_the_true_one_as_often_as_it_says() -> None:
    chance = random.Random(4)
    held = 0
    for _ in range(30):
        worse = [chance.random() < 0.5 for _ in range(40)]
        better = [was or chance.random() < 0.4 for was in worse]  # better by 0.2 in truth
        estimated = difference(trials([[one] for one in better]), trials([[one] for one in worse]))
        assert estimated is not None
        held += estimated.low <= 0.2 <= estimated.high
    assert held >= 26  # 28.5 in the mean


@given(st.integers(1, 8), st.data())
def test_pass_at_k_and_pass_hat_k_are_means_over_all_choices(n: int, data: st.DataObject) -> None:
    passes = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    chosen = list(combinations([True] * passes + [False] * (n - passes), k))
    assert pass_at(n, passes, k) == pytest.approx(fmean(map(any, chosen)))
    assert pass_all(n, passes, k) == pytest.approx(fmean(map(all, chosen)))


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=6), min_size=1, max_size=8))
def test_one_trial_is_the_share_and_more_are_between(words: list[list[bool]]) -> None:
    outcomes = trials(words)
    share = accuracy(outcomes).value
    assert repeated(outcomes) == min(map(len, words))
    assert pass_at_k(outcomes, 1) == pytest.approx(share)
    assert pass_all_k(outcomes, 1) == pytest.approx(share)
    for k in (2, 3):
        assert pass_all_k(outcomes, k) <= share + 1e-9
        assert share <= pass_at_k(outcomes, k) + 1e-9


@pytest.mark.parametrize("k", [0, 4])
def test_more_trials_than_there_were_say_nothing(k: int) -> None:
    with pytest.raises(ValueError, match="of 3 trials"):
        pass_at(3, 1, k)
