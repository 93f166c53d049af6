"""The agreement of a judge with gold beyond chance.

Cohen's kappa, unweighted, over pass and fail (J. Cohen, A Coefficient of Agreement for Nominal
Scales, Educational and Psychological Measurement 20(1), 1960, pages 37-46).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from clew_evals.case import Case
from clew_evals.expected import needs_judge
from clew_evals.outcome import Outcome
from clew_evals.scoring import DEFAULT_MIN_GRADE


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often judge and gold both passed an answer, only one of them did, or neither."""

    both: int = 0
    judge_only: int = 0
    gold_only: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        """The number of answers that both rated."""
        return self.both + self.judge_only + self.gold_only + self.neither

    @property
    def share(self) -> float | None:
        """How often they agreed; None without answers."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """1: they always agree; 0: as often as by chance; None if undefined.

        It is undefined without answers, or if both rated every answer alike.
        """
        if self.share is None:
            return None
        judge, gold = self.both + self.judge_only, self.both + self.gold_only
        chance = judge * gold + (self.n - judge) * (self.n - gold)  # times n squared
        all_pairs = self.n**2
        if chance == all_pairs:
            return None
        return ((self.both + self.neither) * self.n - chance) / (all_pairs - chance)


def agreement(words: Iterable[tuple[bool, bool]]) -> Agreement:
    """Count pairs of (passed by the judge, passed by gold)."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for judge, gold in words:
        counts[judge, gold] += 1
    return Agreement(*counts.values())


def agreed(
    outcomes: Iterable[Outcome], cases: Iterable[Case], min_grade: int = DEFAULT_MIN_GRADE
) -> Agreement:
    """The agreement of a judge, who passes an answer with `min_grade` or more, with gold.

    Counted are outcomes with a judgement whose case has a gold of its own: where gold asks the
    judge itself, there is nothing to compare.
    """
    own = {case.id for case in cases if not needs_judge(case.gold)}
    return agreement(
        (each.judgement.score >= min_grade, each.right)
        for each in outcomes
        if each.case in own and each.judgement is not None and each.judgement.score
    )
