"""Shares, differences and repetitions, and how sure of them a set of cases lets one be.

What varies is the case: trials of one case (its seeds and repetitions) are averaged first, and
cases of one pair pass or fail together, so that a pair counts once where sureness is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import comb, fsum, sqrt
from statistics import NormalDist, fmean
from typing import Final, TypeAlias

import numpy as np

from clew.evals.outcome import Outcome
from clew.replies import Value

LEVEL: Final = 0.95
"""How often an interval made in this way holds what it is about."""

DRAWS: Final = 10_000
SEED: Final = 2406
"""Of the generator of the bootstrap: the same outcomes give the same interval, always."""

_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)

Measure: TypeAlias = Callable[[Outcome], float]
"""What is compared in an outcome."""


class Share(Value, frozen=True):
    """A share of cases, and the interval around it.

    `cases` are those it is of, `units` those of them that vary by themselves (a pair is one).
    """

    value: float
    low: float
    high: float
    cases: int
    units: int
    trials: int


class Difference(Value, frozen=True):
    """How much better one side does than the other in the same cases, with the interval around it.

    `better` and `worse` are the shares of cases in which it does.
    """

    value: float
    low: float
    high: float
    better: float
    worse: float
    cases: int


def passed(outcome: Outcome) -> float:
    """1 where the trial passed, with its twins."""
    return float(outcome.passed)


def by_case(outcomes: Iterable[Outcome], measure: Measure = passed) -> dict[str, float]:
    """What is measured, averaged over the trials of each case."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.case].append(measure(outcome))
    return {case: fmean(values) for case, values in found.items()}


def wilson(share: float, units: float) -> tuple[float, float]:
    """The interval of Wilson (1927) around a share of so many independent cases."""
    if units <= 0:
        return 0.0, 1.0
    spread = _Z * sqrt(share * (1 - share) / units + _Z**2 / (4 * units**2))
    middle = share + _Z**2 / (2 * units)
    low, high = ((middle + way * spread) / (1 + _Z**2 / units) for way in (-1, 1))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)  # to the last digit


def accuracy(outcomes: Sequence[Outcome], measure: Measure = passed) -> Share:
    """The mean over cases of a measure in [0, 1]. Raises `ValueError` where there is no outcome."""
    cases = by_case(outcomes, measure)
    units = len(set(_units(outcomes).values()))
    share = min(max(fmean(cases.values()), 0.0), 1.0)
    return Share(share, *wilson(share, units), len(cases), units, len(outcomes))


def difference(
    these: Sequence[Outcome], those: Sequence[Outcome], measure: Measure = passed
) -> Difference | None:
    """How much more is measured in these than in those, over the cases that both have.

    The interval is that of a bootstrap over cases (percentiles of 10,000 draws from a fixed seed).
    None where they share no case; where they share one, nothing is sure.
    """
    mine, theirs = by_case(these, measure), by_case(those, measure)
    units = _units([*these, *those])
    gaps = {case: mine[case] - theirs[case] for case in mine if case in theirs}
    if not gaps:
        return None
    low, high = _bootstrap(gaps, units)
    value = fmean(gaps.values())
    better = fmean(gap > 0 for gap in gaps.values())
    worse = fmean(gap < 0 for gap in gaps.values())
    return Difference(value, min(low, value), max(high, value), better, worse, len(gaps))


def _bootstrap(gaps: Mapping[str, float], units: Mapping[str, str]) -> tuple[float, float]:
    """The interval around the mean gap, with whole units drawn again and again.

    Units with equal gaps are drawn together: how many of each sort come is a multinomial.
    """
    of_unit: defaultdict[str, list[float]] = defaultdict(list)
    for case, gap in gaps.items():
        of_unit[units[case]].append(gap)
    if (many := len(of_unit)) < 2:
        return -1.0, 1.0
    sorts = Counter((fsum(found), len(found)) for found in of_unit.values())
    kinds = sorted(sorts)  # in whatever order the trials ended
    shares = [sorts[kind] / many for kind in kinds]
    drawn = np.random.default_rng(SEED).multinomial(many, shares, size=DRAWS)
    totals = drawn @ np.array([total for total, _ in kinds])
    sizes = drawn @ np.array([size for _, size in kinds])
    low, high = np.quantile(totals / sizes, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _units(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """For each case the unit that it belongs to: its pair, or itself."""
    return {one.case: f"pair {one.pair}" if one.pair else f"case {one.case}" for one in outcomes}


def pass_at(trials: int, passes: int, k: int) -> float:
    """The chance that one of k trials passes, from so many passes in so many trials.

    The estimator without bias of Chen et al. 2021 (arXiv 2107.03374).
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
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.case].append(outcome.passed)
    return [(len(trials), sum(trials)) for trials in found.values()]
