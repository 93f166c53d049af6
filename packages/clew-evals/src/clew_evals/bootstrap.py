"""Differences between two sides over the same cases, with intervals by a bootstrap.

It stands on an optional extra, and only reports need it: evaluating does not.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Final

import numpy as np

from clew.core.values import Value
from clew_evals.outcome import Outcome
from clew_evals.statistics import LEVEL, Measure, by_case, passed, units_of

DRAWS: Final = 10_000
SEED: Final = 2406
"""Of the generator of the bootstrap: the same outcomes give the same interval, always."""


class PairedDifference(Value, frozen=True):
    """How much better one side does than the other in the same cases, with the interval around it.

    `better` and `worse` are the shares of cases in which it does.
    """

    value: float
    low: float
    high: float
    better: float
    worse: float
    cases: int


def difference(
    these: Sequence[Outcome], those: Sequence[Outcome], measure: Measure = passed
) -> PairedDifference | None:
    """How much more is measured in these than in those, over the cases that both have.

    The interval is that of a bootstrap over cases (percentiles of 10,000 draws from a fixed seed).
    None where they share no case; where they share one, nothing is sure.
    """
    mine, theirs = by_case(these, measure), by_case(those, measure)
    units = units_of([*these, *those])
    gaps = {case: mine[case] - theirs[case] for case in mine if case in theirs}
    if not gaps:
        return None
    low, high = _bootstrap(gaps, units)
    value = fmean(gaps.values())
    better = fmean(gap > 0 for gap in gaps.values())
    worse = fmean(gap < 0 for gap in gaps.values())
    return PairedDifference(value, min(low, value), max(high, value), better, worse, len(gaps))


def _bootstrap(gaps: Mapping[str, float], units: Mapping[str, str]) -> tuple[float, float]:
    """The interval around the mean gap, with whole units drawn again and again.

    Units with equal gaps are drawn together: how many of each sort come is a multinomial.
    """
    of_unit: defaultdict[str, list[float]] = defaultdict(list)
    for case, gap in gaps.items():
        of_unit[units[case]].append(gap)
    if (many := len(of_unit)) < 2:
        return -1.0, 1.0
    sorts = Counter((fsum(values), len(values)) for values in of_unit.values())
    kinds = sorted(sorts)  # in whatever order the trials ended
    shares = [sorts[kind] / many for kind in kinds]
    drawn = np.random.default_rng(SEED).multinomial(many, shares, size=DRAWS)
    totals = drawn @ np.array([total for total, _ in kinds])
    sizes = drawn @ np.array([size for _, size in kinds])
    low, high = np.quantile(totals / sizes, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
