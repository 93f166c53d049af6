"""Figures out of outcomes: shares with intervals, paired differences, medians."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from clew_evals import Outcome, accuracy
from clew_evals.bootstrap import DRAWS, SEED, PairedDifference, difference
from live.outcomes import Measured

LEVEL: Final = (2.5, 97.5)


def shared(these: Sequence[Measured], those: Sequence[Measured]) -> list[str]:
    """The tasks that both have answered."""
    names = {one.task for one in those}
    return [one.task for one in these if one.task in names]


@dataclass(frozen=True)
class Row:
    """What a table says of one configuration."""

    name: str
    measurements: Sequence[Measured]

    @property
    def right(self) -> int:
        """How many answers are right."""
        return sum(one.outcome.right for one in self.measurements)

    @property
    def share(self) -> str:
        """The share of right answers, with the interval of Wilson."""
        results = accuracy([one.outcome for one in self.measurements], right)
        return f"{results.value:.2f} ({results.low:.2f}–{results.high:.2f})"

    @property
    def claims(self) -> tuple[int, int]:
        """How many wrong answers were given as answers, and how many wrong ones there are."""
        wrong = [one for one in self.measurements if not one.outcome.right]
        return sum(one.outcome.status == "answered" for one in wrong), len(wrong)

    @property
    def steps(self) -> int:
        """All steps."""
        return sum(one.outcome.counted.steps for one in self.measurements)

    @property
    def calls(self) -> int:
        """All calls of tools that were made."""
        return sum(sum(one.outcome.counted.calls.values()) for one in self.measurements)

    def middle(self, of: Callable[[Measured], float]) -> float:
        """The median of something."""
        return median(of(one) for one in self.measurements)

    @property
    def cached(self) -> float | None:
        """Which share of the prompts of later steps came from the cache."""
        prompts = sum(one.later[0] for one in self.measurements)
        return sum(one.later[1] for one in self.measurements) / prompts if prompts else None


def against(these: Sequence[Measured], those: Sequence[Measured]) -> PairedDifference | None:
    """How much better these are, over the tasks that both have."""
    return difference([one.outcome for one in these], [one.outcome for one in those], right)


def right(outcome: Outcome) -> float:
    """1 where the answer is right."""
    return float(outcome.right)


def ratio(
    these: Sequence[Measured], those: Sequence[Measured]
) -> tuple[float, float, float] | None:
    """How many times as many right answers, with the interval of a paired bootstrap over tasks.

    None where those have no right answer at all.
    """
    mine = {one.task: one.outcome.right for one in these}
    theirs = {one.task: one.outcome.right for one in those}
    pairs = np.array([(mine[name], theirs[name]) for name in sorted(mine) if name in theirs])
    if not len(pairs) or not pairs[:, 1].sum():
        return None
    drawn = pairs[np.random.default_rng(SEED).integers(0, len(pairs), (DRAWS, len(pairs)))]
    sums = drawn.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(sums[:, 1] > 0, sums[:, 0] / sums[:, 1], np.inf)
    low, high = np.percentile(ratios, LEVEL, method="nearest")
    return float(pairs[:, 0].sum() / pairs[:, 1].sum()), float(low), float(high)


def summed(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """All counts together."""
    by_name = Counter[str]()
    for one in counts:
        by_name.update(one)
    return by_name


_KINDS: Final = (
    ("told of a call, made none", ("no call was made",)),
    ("repeated the prompt", ("repeats what you were told",)),
    ("empty", ("was empty",)),
    ("cut off", ("cut off", "was cut", "too long")),
    ("a call in the landing", ("no call can be made",)),
    ("HTTP error of the server", ("HTTP",)),
    ("arguments", ("arguments",)),
    ("no JSON", ("JSON",)),
    ("no action", ("action", "Action", "label", "call")),
)
"""Kinds of faults, by words of their messages: the first that fits."""


def kinds(measurements: Iterable[Measured]) -> Counter[str]:
    """The replies that could not be read, by kind."""
    many = Counter[str]()
    for fault, times in summed(one.faults for one in measurements).items():
        many[kind_of(fault)] += times
    return many


def kind_of(fault: str) -> str:
    """The kind of a fault."""
    return next((name for name, words in _KINDS if any(w in fault for w in words)), "other")
