"""The table at the end of an evaluation and at the start of a report."""

from collections.abc import Iterable, Sequence
from math import fsum
from statistics import fmean, median

from clew import Usage
from clew.interfaces import Json
from clew_evals.outcome import About, Counted, Outcome
from clew_evals.statistics import LEVEL, accuracy, pass_all_k, repeated
from clew_evals.table import (
    WHO,
    Form,
    Table,
    columns,
    grouped,
    sentences,
    simulated_note,
    unfinished,
    used,
)


def overview(outcomes: Sequence[Outcome], about: About) -> Table:
    """Each configuration's accuracy, time, steps, calls, tokens, cost and faults."""
    groups = grouped(outcomes, about)
    k = min(map(repeated, groups.values()), default=0)
    every = f"pass^{k}"
    heads: list[str | tuple[str, Form]] = [
        *WHO, ("accuracy", "share"), ("interval", "interval"), ("trials", "count"),
        (every, "share"), ("time", "seconds"), ("steps", "number"), ("calls", "number"),
        ("tokens", "count"), ("cost", "dollars"), ("faults", "number"), ("grounded", "share"),
    ]  # fmt: skip
    rows: list[tuple[Json, ...]] = []
    for group, trials in groups.items():
        share = accuracy(trials)
        counts = [one.counted for one in trials]
        rows.append((
            *group, share.value, [share.low, share.high], len(trials),
            pass_all_k(trials, k) if k > 1 else None,
            median(one.seconds for one in counts),
            fmean(one.steps for one in counts),
            fmean(sum(one.calls.values()) for one in counts),
            round(fmean(one.usage.tokens for one in counts)),
            _cost(counts),
            fmean(one.faults for one in counts),
            _grounded(counts),
        ))  # fmt: skip
    note = sentences(
        "Accuracy is the mean over cases, with Wilson's interval "
        f"({LEVEL:.0%}; a pair counts as one case). Time is the median; "
        "steps, calls, tokens, cost and faults are means per trial.",
        f"{every} is the chance that {k} trials of a case all pass." if k > 1 else "",
        "Grounded is the share of checkable claims that the evidence supports.",
        "What is counted in a vote is the sum over its runs." if _votes(outcomes) else "",
        "Cost is without the judge's." if about.judge else "",
        unfinished(outcomes, about),
        simulated_note(model for _, model in groups),
    )
    return used(Table("overview", "Overview", columns(*heads), tuple(rows), note))


def _cost(counts: Sequence[Counted]) -> float | None:
    """The mean cost of a trial; None where that of one is not known."""
    costs = [one.usage.cost for one in counts if one.usage != Usage()]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    return fsum(known) / len(counts)


def _grounded(counts: Sequence[Counted]) -> float | None:
    claims = sum(one.claims for one in counts)
    return sum(one.supported for one in counts) / claims if claims else None


def _votes(outcomes: Iterable[Outcome]) -> bool:
    return any(one.votes > 1 for one in outcomes)
