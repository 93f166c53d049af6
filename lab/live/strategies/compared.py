"""Forms beside each other, over the tasks that both were asked.

A task asked several times counts once: what it took, and whether it was right, is the mean.
"""

from collections.abc import Callable, Sequence
from math import fsum
from statistics import fmean

from clew_evals import Outcome
from clew_evals.bootstrap import PairedDifference, difference
from live.strategies.outcomes import Answered


def of(answers: Sequence[Answered], form: str) -> list[Answered]:
    """Those of one form."""
    return [one for one in answers if one.form == form]


def against(mine: Sequence[Answered], base: Sequence[Answered]) -> PairedDifference | None:
    """How much better these are, over the tasks that both have (bootstrap over tasks)."""
    return difference([outcome(one) for one in mine], [outcome(one) for one in base], is_right)


def told(difference: PairedDifference | None) -> str:
    """A difference with its interval."""
    if difference is None:
        return ""
    interval = f"{difference.low:+.2f} to {difference.high:+.2f}"
    return f"{difference.value:+.2f} ({interval}, {difference.cases} paired)"


def in_common(mine: Sequence[Answered], base: Sequence[Answered]) -> list[Answered]:
    """Those of the first whose task the others have, too."""
    theirs = {one.task for one in base}
    return [one for one in mine if one.task in theirs]


def by_task(answers: Sequence[Answered], measure: Callable[[Answered], float]) -> dict[str, float]:
    """What is measured, the mean over the askings of each task."""
    values: dict[str, list[float]] = {}
    for one in answers:
        values.setdefault(one.task, []).append(measure(one))
    return {task: fmean(there) for task, there in values.items()}


def prompt(answers: Sequence[Answered]) -> float:
    """Tokens that were sent."""
    return fsum(by_task(answers, lambda one: one.prompt).values())


def tokens(answers: Sequence[Answered]) -> float:
    """Tokens that were sent and written."""
    return fsum(by_task(answers, sent_and_written).values())


def sent_and_written(one: Answered) -> int:
    """The tokens of one."""
    return one.prompt + one.written


def rights(answers: Sequence[Answered]) -> float:
    """How many tasks are right."""
    return fsum(by_task(answers, lambda one: one.right).values())


def right_of(answers: Sequence[Answered]) -> str:
    """How many tasks are right, and of how many; "" without any."""
    return f"{number(rights(answers))} of {len({one.task for one in answers})}" if answers else ""


def number(value: float) -> str:
    """With a decimal where it is no whole number."""
    return f"{value:.1f}".removesuffix(".0")


def outcome(one: Answered) -> Outcome:
    """As the shipped comparisons take it."""
    return Outcome(one.task, one.form, one.model, one.run_id, "answered", right=one.right)


def is_right(one: Outcome) -> float:
    """What is compared."""
    return float(one.right)
