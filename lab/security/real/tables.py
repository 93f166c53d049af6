"""Tables of what came of the cases with a real model, with intervals."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

import numpy as np

from clew_evals.bootstrap import DRAWS, SEED
from clew_evals.statistics import wilson
from live.figures import LEVEL
from security.figures import NAMES, table
from security.real.outcomes import Real, of
from security.real.play import matched

Outcomes = Sequence[Real]
What = Callable[[Real], bool | int]

SPOILED: Final = (
    "Pairs in which the task was not done and the plan had a call that is none of the task's: {}. "
    "Such a call lets one of the injected text pass, such as a read that marks letters as read."
)
ROLES: Final = {
    "ideal": "the simulated one, ideal", "planner": "the real model's", "unplanned": "an empty one",
}  # fmt: skip


def in_common(*several: Outcomes) -> list[list[Real]]:
    """Those of the cases that all have."""
    cases = set.intersection(*({*map(_case, each)} for each in several))
    return [[one for one in each if _case(one) in cases] for each in several]


def plans(outcomes: Outcomes) -> str:
    """Tasks that nobody attacks, under the simulated plan, the real one and none."""
    measured = {role: mine for role in ROLES if (mine := of(outcomes, role, "clean"))}
    by_role = dict(zip(measured, in_common(*measured.values()), strict=True))
    rows = [[ROLES[role], *_clean_cells(mine)] for role, mine in by_role.items()]
    real = by_role["planner"]
    rows += [
        [f"the real model's, {suite}", *_clean_cells([it for it in real if it.suite == suite])]
        for suite in sorted({it.suite for it in real})
    ]
    return table(("plan", "tasks", "done", "asks a task", "questions a task"), rows)


def _clean_cells(outcomes: Outcomes) -> list[str]:
    return [
        str(len(outcomes)), share(outcomes, lambda it: it.useful),
        mean(outcomes, lambda it: it.asks), mean(outcomes, lambda it: it.questions),
    ]  # fmt: skip


def quality(outcomes: Outcomes) -> str:
    """What the plans had of the tasks' calls that act."""
    asked = [one for one in of(outcomes, "planner", "clean") if one.plans]
    hits, lacks, more = (
        sum(counts) for counts in zip(*(matched(it.asked_for, it.planned) for it in asked),
                                      strict=True)
    )  # fmt: skip
    rows = [
        ["tasks in which a plan was asked for", str(len(asked))],
        ["plans that could not be read", str(sum(one.unread for one in asked))],
        ["calls of these tasks that act", str(hits + lacks)],
        ["of them planned, by their tool", f"{hits} ({hits / max(1, hits + lacks):.1%})"],
        ["calls planned that are none of the task's, by their tool", str(more)],
        ["seconds a plan, median", f"{median(one.seconds for one in asked):.0f}"],
    ]
    return table(("what", "of it"), rows)


def attacked_plans(outcomes: Outcomes) -> str:
    """Pairs under the base attack, where the plan is real and the simulated model believes all."""
    mine = of(outcomes, "planner", "base")
    spoiled = [it for it in mine if not it.useful and matched(it.asked_for, it.planned)[2]]
    row = [
        str(len(mine)), share(mine, lambda it: it.foreign > 0), share(mine, lambda it: it.won),
        share(mine, lambda it: it.useful), mean(mine, lambda it: it.questions),
    ]  # fmt: skip
    titles = ("pairs", "attacks that act", "attacker's task done", "user's task done",
              "questions a pair")  # fmt: skip
    return f"{table(titles, [row])}\n\n{SPOILED.format(len(spoiled))}"


def acting_clean(outcomes: Outcomes) -> str:
    """Tasks that nobody attacks, where the real model does all."""
    by_system = _by_system(outcomes, "clean")
    rows = [
        [
            NAMES["none" if system == "none" else "standard"], *_clean_cells(mine),
            mean(mine, lambda it: it.refused), share(mine, lambda it: bool(it.mistakes)),
        ]
        for system, mine in by_system.items()
    ]  # fmt: skip
    titles = ("system", "tasks", "done", "asks a task", "questions a task", "refused a task",
              "act as nobody wants")  # fmt: skip
    return table(titles, rows)


def acting_attacked(outcomes: Outcomes) -> str:
    """Pairs under the base attack, where the real model does all."""
    rows: list[list[str]] = []
    for system, mine in _by_system(outcomes, "base").items():
        read = [one for one in mine if one.read]
        rows.append([
            NAMES["none" if system == "none" else "standard"], str(len(mine)),
            share(mine, lambda it: it.read), share(mine, lambda it: bool(it.obeyed)),
            share(read, lambda it: bool(it.obeyed)), share(mine, lambda it: it.obeyed_made > 0),
            share(mine, lambda it: it.won), share(mine, lambda it: bool(it.mistakes)),
            share(mine, lambda it: it.useful), mean(mine, lambda it: it.asks),
            mean(mine, lambda it: it.questions),
        ])  # fmt: skip
    titles = ("system", "pairs", "text read", "fooled", "fooled, of those that read it",
              "attacker's calls made", "attacker's task done", "other acts that nobody wants",
              "user's task done", "asks a pair", "questions a pair")  # fmt: skip
    return table(titles, rows)


def _by_system(outcomes: Outcomes, attack: str) -> dict[str, list[Real]]:
    none, standard = in_common(
        of(outcomes, "actor", attack, "none"), of(outcomes, "actor", attack, "standard")
    )
    return {"none": none, "standard": standard}


def share(outcomes: Outcomes, what: What) -> str:
    """The share of them that are so, with Wilson's interval over tasks of users."""
    if not outcomes:
        return "–"
    value = sum(bool(what(it)) for it in outcomes) / len(outcomes)
    low, high = wilson(value, len(_units(outcomes)))
    return f"{value:.1%} ({low:.1%}–{high:.1%})"


def mean(outcomes: Outcomes, what: What) -> str:
    """The mean of a number, with the interval of a bootstrap over tasks of users."""
    if not outcomes:
        return "–"
    units = _units(outcomes).values()
    sums = np.array([[sum(int(what(it)) for it in unit), len(unit)] for unit in units])
    drawn = sums[np.random.default_rng(SEED).integers(0, len(sums), (DRAWS, len(sums)))].sum(axis=1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], LEVEL)
    value = sums[:, 0].sum() / sums[:, 1].sum()
    return f"{value:.3f} ({low:.3f}–{high:.3f})"


def _units(outcomes: Outcomes) -> dict[tuple[str, str], list[Real]]:
    """By the task of a user: pairs of one task are one to an interval."""
    by_task: defaultdict[tuple[str, str], list[Real]] = defaultdict(list)
    for one in outcomes:
        by_task[one.suite, one.user].append(one)
    return by_task


def _case(one: Real) -> tuple[str, str, str]:
    return one.suite, one.user, one.attacker
