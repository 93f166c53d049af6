"""The tables of a report, each computed from the outcomes alone.

A row is a configuration with a model, in the order of the matrix. Figures are means over trials
unless stated otherwise.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median

from clew import ConfigError
from clew.interfaces import Json
from clew.support.extras import missing_extra
from clew_evals.agreement import agreed
from clew_evals.mistakes import calls, kinds, mistakes
from clew_evals.outcome import About, Outcome
from clew_evals.overview import overview
from clew_evals.statistics import LEVEL, by_case, pass_all_k, pass_at_k, repeated
from clew_evals.table import (
    WHO,
    Form,
    Table,
    alike,
    columns,
    grouped,
    sentences,
    simulated_note,
    used,
)

try:
    from clew_evals.bootstrap import DRAWS, difference
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "reports", "clew-evals") from missing

__all__ = [
    "answers",
    "categories",
    "differences",
    "judged",
    "overview",
    "repetitions",
    "steps",
    "tables",
]


def tables(outcomes: Sequence[Outcome], about: About, baseline: str = "") -> tuple[Table, ...]:
    """All tables that are not empty.

    Raises `ConfigError` if there is no such configuration to compare with.
    """
    made = (
        overview(outcomes, about),
        differences(outcomes, about, baseline),
        categories(outcomes, about),
        steps(outcomes, about),
        repetitions(outcomes, about),
        answers(outcomes, about),
        judged(outcomes, about),
        kinds(outcomes, about),
        mistakes(outcomes, about),
        calls(outcomes, about),
    )
    return tuple(table for table in made if table.rows)


def differences(outcomes: Sequence[Outcome], about: About, baseline: str = "") -> Table:
    """How much better each configuration is than the baseline, with the same model and cases."""
    named = baseline or next(iter(about.configurations), "")
    if baseline and baseline not in about.configurations:
        known = ", ".join(about.configurations)
        message = f"there is no configuration {baseline!r} to compare with: there are {known}"
        raise ConfigError(message)
    groups = grouped(outcomes, about)
    rows: list[tuple[Json, ...]] = []
    for (configuration, model), trials in groups.items():
        if configuration == named:
            continue
        delta = difference(trials, groups.get((named, model), ()))
        if delta is not None:
            rows.append((
                configuration, model, delta.value, [delta.low, delta.high],
                delta.better, delta.worse, delta.cases,
            ))  # fmt: skip
    note = sentences(
        f"Accuracy against {named}, in percentage points, over the cases that both have "
        "(seeds and repetitions averaged within a case). "
        f"The interval ({LEVEL:.0%}) is that of a bootstrap over cases, {DRAWS:,} draws; where it "
        "holds 0 these cases do not show which is better. Better and worse are shares of cases.",
        simulated_note(model for _, model in groups),
    )
    heads = columns(
        *WHO, ("difference", "points"), ("interval", "range"),
        ("better", "share"), ("worse", "share"), ("cases", "count"),
    )  # fmt: skip
    return Table("differences", f"Differences from {named}", heads, tuple(rows), note)


def categories(outcomes: Sequence[Outcome], about: About) -> Table:
    """Accuracy by category of cases."""

    def cell(trials: Sequence[Outcome]) -> float:
        return fmean(by_case(trials).values())

    note = f"Share of cases passed ({_cases(about)})."
    return _by_category("categories", "Accuracy by category", cell, "share", outcomes, about, note)


def steps(outcomes: Sequence[Outcome], about: About) -> Table:
    """Steps by category of cases: medians."""

    def cell(trials: Sequence[Outcome]) -> float:
        return median(one.counted.steps for one in trials)

    note = "Median of the steps (thoughts) of a trial, passed or not."
    return _by_category("steps", "Steps by category", cell, "number", outcomes, about, note)


def _by_category(
    name: str,
    title: str,
    cell: Callable[[Sequence[Outcome]], float],
    form: Form,
    outcomes: Sequence[Outcome],
    about: About,
    note: str,
) -> Table:
    """A column for each category, and one for all of them."""
    groups = grouped(outcomes, about)
    names = _categories(about, outcomes)
    rows: list[tuple[Json, ...]] = []
    for group, trials in groups.items():
        of_each = [[one for one in trials if one.category == category] for category in names]
        rows.append((*group, cell(trials), *(cell(some) if some else None for some in of_each)))
    headings = alike((category or "(none)" for category in names), form)
    if len(names) < 2:
        rows.clear()  # the overview has it
    note = sentences(note, simulated_note(model for _, model in groups))
    return used(Table(name, title, columns(*WHO, ("all", form), *headings), tuple(rows), note))


def _categories(about: About, outcomes: Iterable[Outcome]) -> list[str]:
    named = [case.category for case in about.cases]
    return list(dict.fromkeys([*named, *(one.category for one in outcomes)]))


def _cases(about: About) -> str:
    many = Counter(case.category or "(none)" for case in about.cases)
    return ", ".join(f"{category}: {count}" for category, count in many.items())


def repetitions(outcomes: Sequence[Outcome], about: About) -> Table:
    """Several trials of a case: one of k passes (pass@k), all of k pass (pass^k)."""
    groups = grouped(outcomes, about)
    max_repeats = min(map(repeated, groups.values()), default=0)
    ks = [k for k in range(2, max_repeats + 1) if k <= 5 or k == max_repeats]
    rows: list[tuple[Json, ...]] = [
        (
            *group, max_repeats, pass_at_k(trials, 1),
            *(pass_at_k(trials, k) for k in ks),
            *(pass_all_k(trials, k) for k in ks),
        )
        for group, trials in groups.items()
        if ks
    ]  # fmt: skip
    heads = columns(
        *WHO, ("trials", "count"), ("pass@1", "share"),
        *alike((f"pass@{k}" for k in ks), "share"), *alike((f"pass^{k}" for k in ks), "share"),
    )  # fmt: skip
    note = sentences(
        "Of the trials of a case (its seeds and repetitions): pass@k is the chance that at least "
        "one of k passes, pass^k that all of k do.",
        simulated_note(model for _, model in groups),
    )
    return Table("repetitions", "Repetitions", heads, tuple(rows), note)


def answers(outcomes: Sequence[Outcome], about: About) -> Table:
    """Other scores of answers, if there are any."""
    rows: list[tuple[Json, ...]] = []
    groups = grouped(outcomes, about)
    for group, trials in groups.items():
        row: tuple[Json, ...] = (
            _mean(one.em for one in trials),
            _mean(one.f1 for one in trials),
            _mean(one.reward for one in trials),
            _mean(one.judgement.score or None if one.judgement else None for one in trials),
        )
        if any(cell is not None for cell in row):
            rows.append((*group, fmean(one.score for one in trials), *row))
    heads = columns(
        *WHO, ("score", "number"), ("exact match", "share"), ("F1", "share"),
        ("reward", "number"), ("judge", "number"),
    )  # fmt: skip
    note = sentences(
        "Means over the trials that have them. Exact match and F1 are HotpotQA's; the score is the "
        "mean of what the golds of a case say; the judge says 1 to 5.",
        simulated_note([model for _, model in groups] + [about.judge]),
    )
    return used(Table("answers", "Scores of answers", heads, tuple(rows), note))


def judged(outcomes: Sequence[Outcome], about: About) -> Table:
    """The agreement of judge and gold, for each possible passing score."""
    rows: list[tuple[Json, ...]] = []
    for min_grade in range(2, 6):
        agreement = agreed(outcomes, about.cases, min_grade)
        if agreement.n:
            rows.append((
                f"{min_grade} or more", agreement.n, agreement.share, agreement.kappa,
                agreement.both, agreement.judge_only, agreement.gold_only, agreement.neither,
            ))  # fmt: skip
    heads = columns(
        "passed with", ("answers", "count"), ("agree", "share"), ("kappa", "number"),
        *alike(("both pass", "judge only", "gold only", "neither"), "count"),
    )  # fmt: skip
    note = sentences(
        f"The judge is {about.judge or 'not named'}. Counted are answers whose gold does not ask "
        "the judge itself. Kappa is Cohen's: 1 where both always agree, 0 where as by chance.",
        simulated_note([about.judge]),
    )
    return Table("judge", "Judge and gold", heads, tuple(rows), note)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
