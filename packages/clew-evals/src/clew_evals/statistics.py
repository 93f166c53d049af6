"""Shares and repetitions, and how sure of them a set of cases lets one be.

What varies is the case: trials of one case (its seeds and repetitions) are averaged first, and
cases of one pair pass or fail together, so that a pair counts once where sureness is counted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import comb, sqrt
from statistics import NormalDist, fmean
from typing import Final, TypeAlias

from clew.core.values import Value
from clew_evals.outcome import Outcome

LEVEL: Final = 0.95
"""How often an interval made in this way holds what it is about."""

_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)

Measure: TypeAlias = Callable[[Outcome], float]
"""What is compared in an outcome."""


class Share(Value, frozen=True):
    """A share of cases, and its interval.

    `cases` is their number, `units` the number of independent ones (a pair is one).
    """

    value: float
    low: float
    high: float
    cases: int
    units: int
    trials: int


def passed(outcome: Outcome) -> float:
    """1 where the trial passed, with its twins."""
    return float(outcome.passed)


def by_case(outcomes: Iterable[Outcome], measure: Measure = passed) -> dict[str, float]:
    """What is measured, averaged over the trials of each case."""
    values_by_case: defaultdict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        values_by_case[outcome.case].append(measure(outcome))
    return {case: fmean(values) for case, values in values_by_case.items()}


def wilson(share: float, units: float) -> tuple[float, float]:
    """The interval of Wilson (1927) around a share of this many independent cases."""
    if units <= 0:
        return 0.0, 1.0
    spread = _Z * sqrt(share * (1 - share) / units + _Z**2 / (4 * units**2))
    middle = share + _Z**2 / (2 * units)
    low, high = ((middle + way * spread) / (1 + _Z**2 / units) for way in (-1, 1))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)  # to the last digit


def accuracy(outcomes: Sequence[Outcome], measure: Measure = passed) -> Share:
    """The mean over cases of a measure in [0, 1]. Raises `ValueError` without outcomes."""
    cases = by_case(outcomes, measure)
    units = len(set(units_of(outcomes).values()))
    share = min(max(fmean(cases.values()), 0.0), 1.0)
    return Share(share, *wilson(share, units), len(cases), units, len(outcomes))


def units_of(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """For each case the unit that it belongs to: its pair, or itself."""
    return {one.case: f"pair {one.pair}" if one.pair else f"case {one.case}" for one in outcomes}


def pass_at(trials: int, passes: int, k: int) -> float:
    """The chance that at least one of k trials passes, from the passes among the trials made.

    The unbiased estimator of Chen et al. 2021 (arXiv 2107.03374).
    """
    return 1 - comb(trials - passes, _fitting(k, trials)) / comb(trials, k)


def pass_all(trials: int, passes: int, k: int) -> float:
    """The chance that all of k trials pass: pass^k of tau-bench (arXiv 2406.12045)."""
    return comb(passes, _fitting(k, trials)) / comb(trials, k)


def _fitting(k: int, trials: int) -> int:
    if not 1 <= k <= trials:
        message = f"of {trials} trials nothing can be said of {k}: ask for 1 to {trials}"
        raise ValueError(message)
    return k


def repeated(outcomes: Sequence[Outcome]) -> int:
    """How many trials every case has at least: the largest k that can be asked for."""
    return min((trials for trials, _ in _counts(outcomes)), default=0)


def pass_at_k(outcomes: Sequence[Outcome], k: int) -> float:
    """The mean over cases of the chance that one of k trials passes."""
    return fmean(pass_at(trials, passes, k) for trials, passes in _counts(outcomes))


def pass_all_k(outcomes: Sequence[Outcome], k: int) -> float:
    """The mean over cases of the chance that all of k trials pass."""
    return fmean(pass_all(trials, passes, k) for trials, passes in _counts(outcomes))


def _counts(outcomes: Iterable[Outcome]) -> list[tuple[int, int]]:
    """For each case its trials, and how many of them passed."""
    by_case: defaultdict[str, list[bool]] = defaultdict(list)
    for outcome in outcomes:
        by_case[outcome.case].append(outcome.passed)
    return [(len(trials), sum(trials)) for trials in by_case.values()]
