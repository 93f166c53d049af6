"""Forms beside each other, over the tasks that both were asked."""

from collections.abc import Sequence

from clew.evals import Outcome
from clew.evals.bootstrap import Difference, difference
from live.strategies.outcomes import Answered


def of(found: Sequence[Answered], form: str) -> list[Answered]:
    """Those of one form."""
    return [one for one in found if one.form == form]


def against(mine: Sequence[Answered], base: Sequence[Answered]) -> Difference | None:
    """How much better these are, over the tasks that both have (bootstrap over tasks)."""
    return difference([outcome(one) for one in mine], [outcome(one) for one in base], is_right)


def told(found: Difference | None) -> str:
    """A difference with its interval."""
    if found is None:
        return ""
    return f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f}, {found.cases} paired)"


def in_common(mine: Sequence[Answered], base: Sequence[Answered]) -> list[Answered]:
    """Those of the first whose task the others have, too."""
    theirs = {one.task for one in base}
    return [one for one in mine if one.task in theirs]


def prompt(found: Sequence[Answered]) -> int:
    """Tokens that were sent."""
    return sum(one.prompt for one in found)


def tokens(found: Sequence[Answered]) -> int:
    """Tokens that were sent and written."""
    return sum(one.prompt + one.written for one in found)


def rights(found: Sequence[Answered]) -> int:
    """How many are right."""
    return sum(one.right for one in found)


def outcome(one: Answered) -> Outcome:
    """As the shipped comparisons take it."""
    return Outcome(one.task, one.form, one.model, one.run_id, "answered", right=one.right)


def is_right(one: Outcome) -> float:
    """What is compared."""
    return float(one.right)
