"""The tables of an evaluation as its report shows them: models side by side, in Markdown.

clew eval run lab/benchmarks/evaluation/ablation.toml --results ablation.sqlite
python -m benchmarks.evaluation.figures ablation.sqlite
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median
from typing import TypeAlias

from clew_evals.bootstrap import difference
from clew_evals.gold import gold
from clew_evals.outcome import About, Outcome
from clew_evals.results import Results
from clew_evals.simulated.script import script_of
from clew_evals.statistics import accuracy, by_case, pass_all_k, repeated
from clew_evals.table import Group, grouped, unfinished

Groups: TypeAlias = dict[Group, Sequence[Outcome]]
NOTHING = "–"
SAME = "0"
KINDS = {
    "docs": "one look-up",
    "docs+docs": "two facts",
    "docs docs": "two facts, one after the other",
    "docs+docs calc": "two facts and a sum",
    "docs calc": "a fact and a sum",
    "calc": "a sum",
}
"""What tasks need, by the calls of their scripts: those of one step are joined by a plus sign."""

FORMATS = ("baseline", "json", "paper", "labelled")
"""The configurations of the ablation that differ in their format."""


def main() -> None:
    """Print the tables of a file of results."""
    results = Results(sys.argv[1])
    about, outcomes = results.about, results.outcomes
    results.close()
    groups = grouped(outcomes, about)
    first = about.configurations[0]
    print(f"{len(outcomes):,} trials. {unfinished(outcomes, about)}\n")
    for title, rows in (
        (f"What the models come to: {first}", _overview(groups, about)),
        ("Accuracy", _side_by_side(groups, about, _accuracy)),
        (f"Accuracy against {first}, in percentage points", _differences(groups, about)),
        ("Steps, calls, tokens", _side_by_side(groups, about, _taken)),
        (f"Steps and tool calls by what a task needs: {first}", _needs(groups, about)),
        (f"Accuracy by category: {first}", _categories(groups, about)),
        ("Mistakes of form", _side_by_side(groups, about, _form, FORMATS)),
    ):
        print(f"**{title}**\n")
        head, *body = rows
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for line in body:
            print(f"| {' | '.join(line)} |")
        print()


def _short(model: str) -> str:
    return f"`{model.removeprefix('simulated:')}`"


def _overview(groups: Groups, about: About) -> Iterator[list[str]]:
    k = min(map(repeated, groups.values()))
    yield [
        "model", "accuracy", "interval", f"pass^{k}", "steps", "calls", "tokens", "faults",
        "grounded",
    ]  # fmt: skip
    for model in about.models:
        trials = groups[about.configurations[0], model]
        share, counts = accuracy(trials), [one.counted for one in trials]
        claims = sum(one.claims for one in counts)
        yield [
            _short(model),
            f"{share.value:.1%}",
            f"{share.low:.1%} to {share.high:.1%}",
            f"{pass_all_k(trials, k):.1%}",
            f"{fmean(one.steps for one in counts):.2f}",
            f"{fmean(sum(one.calls.values()) for one in counts):.2f}",
            f"{fmean(one.usage.tokens for one in counts):,.0f}",
            f"{fmean(one.faults for one in counts):.2f}",
            f"{sum(one.supported for one in counts) / claims:.1%}" if claims else NOTHING,
        ]


def _side_by_side(
    groups: Groups,
    about: About,
    cell: Callable[[Sequence[Outcome]], str],
    only: Sequence[str] = (),
) -> Iterator[list[str]]:
    """A row for each configuration, a column for each model."""
    yield ["configuration", *map(_short, about.models)]
    for name in only or about.configurations:
        cells = (groups.get((name, model)) for model in about.models)
        yield [name, *(cell(trials) if trials else NOTHING for trials in cells)]


def _accuracy(trials: Sequence[Outcome]) -> str:
    return f"{accuracy(trials).value:.1%}"


def _taken(trials: Sequence[Outcome]) -> str:
    counts = [one.counted for one in trials]
    steps, calls = (
        fmean(one.steps for one in counts), fmean(sum(one.calls.values()) for one in counts)
    )  # fmt: skip
    return f"{steps:.2f}, {calls:.2f}, {fmean(one.usage.tokens for one in counts):,.0f}"


def _differences(groups: Groups, about: About) -> Iterator[list[str]]:
    """A row for each configuration; those that differ nowhere stand together in the last."""
    first, *others = about.configurations
    yield ["configuration", *map(_short, about.models)]
    same: list[str] = []
    for name in others:
        cells = [
            _difference(groups.get((name, model), ()), groups.get((first, model), ()))
            for model in about.models
        ]
        if {*cells} <= {SAME, NOTHING}:
            same.append(name)
        else:
            yield [name, *cells]
    if same:
        yield [", ".join(same), *([SAME] * len(about.models))]


def _difference(these: Sequence[Outcome], those: Sequence[Outcome]) -> str:
    estimated = difference(these, those)
    if estimated is None:
        return NOTHING
    if estimated.value == estimated.low == estimated.high == 0:
        return SAME
    return f"{_points(estimated.value)} ({_points(estimated.low)} to {_points(estimated.high)})"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}" if abs(share) >= 0.0005 else "0"


def _categories(groups: Groups, about: About) -> Iterator[list[str]]:
    names = list(dict.fromkeys(case.category for case in about.cases))
    yield ["model", *names]
    for model in about.models:
        trials = groups[about.configurations[0], model]
        of_each = ([one for one in trials if one.category == name] for name in names)
        yield [_short(model), *(f"{fmean(by_case(some).values()):.1%}" for some in of_each)]


def _needs(groups: Groups, about: About) -> Iterator[list[str]]:
    """Medians of the trials that passed, by the calls in the scripts of the gold set."""
    kinds: dict[str, set[str]] = {}
    for case in gold().cases:
        steps = script_of(case).steps
        calls = [[name for name, _ in step.calls] for step in steps if step.calls]
        kinds.setdefault(_kind(calls), set()).add(case.id)
    yield ["needs", "tasks", *map(_short, about.models)]
    for kind in KINDS.values():
        row = [kind, str(len(kinds[kind]))]
        for model in about.models:
            trials = groups[about.configurations[0], model]
            counts = [one.counted for one in trials if one.passed and one.case in kinds[kind]]
            steps_taken = [one.steps for one in counts]
            calls_made = [sum(one.calls.values()) for one in counts]
            row.append(f"{median(steps_taken):g}, {median(calls_made):g}" if counts else NOTHING)
        yield row


def _kind(calls: list[list[str]]) -> str:
    return KINDS.get(" ".join("+".join(step) for step in calls), "")


def _form(trials: Sequence[Outcome]) -> str:
    """Shares of replies that were mended, and that could not be read and were asked for again."""
    counts = [one.counted for one in trials]
    replies = sum(one.steps for one in counts)
    mended, lost = sum(one.repairs for one in counts), sum(one.faults for one in counts)
    return f"{mended / replies:.1%}, {lost / replies:.1%}"


if __name__ == "__main__":
    main()
