"""Reads evaluations for `api/evaluation.py`; it needs the package clew-evals, which is optional."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias, TypeVar

from clew_evals import Outcome, Results, overview
from clew_serve.api.evaluation import (
    EvaluationOverview,
    EvaluationPage,
    EvaluationQuery,
    PairCounts,
    TrialOutcome,
    TrialPair,
)
from clew_serve.errors import RefusedError

T = TypeVar("T")
Pair: TypeAlias = tuple[Outcome | None, Outcome | None]


def page_of(path: Path, query: EvaluationQuery) -> EvaluationPage:
    """The page of the evaluation in a file. Raises `RefusedError` for numbers that are of nothing.

    Raises `StoreError` for a file that is damaged, or that a newer clew wrote.
    """
    with closing(Results(path)) as results:
        about, outcomes = results.about, results.outcomes
    names = list(dict.fromkeys(map(_configuration, outcomes)))
    categories = sorted({one.category for one in outcomes if one.category})
    table = overview(outcomes, about) if outcomes else None
    page = EvaluationPage(
        name=about.name, world=about.world, cases=len(about.cases), trials=len(outcomes),
        configurations=names, categories=categories,
        failures=sorted({one.kind for one in outcomes if one.kind}),
    )  # fmt: skip
    if table is not None:
        heads = [column.name for column in table.columns]
        page.overview = EvaluationOverview(heads, table.formatted_rows(), table.note)
    wanted = _wanted(query, categories)
    left = _numbered("configuration", query.configuration, names)
    right = _numbered("beside", query.beside, names)
    if not right:
        chosen = [one for one in outcomes if _is_of(one, left) and wanted(one)]
        trials, page.count, page.after = _part(chosen, query)
        page.outcomes = [*map(_told, trials)]
        return page
    if not left:
        raise RefusedError(422, "invalid", "choose a configuration for it to stand beside")
    pairs = [*_pairs(outcomes, left, right, wanted)]
    page.counts = _counts(pairs)
    chosen_pairs = [it for it in pairs if query.alike == "yes" or _differs(it)]
    part, page.count, page.after = _part(chosen_pairs, query)
    questions = {case.id: case.question for case in about.cases}
    page.pairs = [_told_pair(it, questions) for it in part]
    return page


def _configuration(one: Outcome) -> str:
    return f"{one.configuration} with {one.model}"


def _is_of(one: Outcome, configuration: str) -> bool:
    return not configuration or _configuration(one) == configuration


def _numbered(what: str, number: int, names: Sequence[str]) -> str:
    """The name of a number from 1; "" of 0. Raises `RefusedError` for another one."""
    if number > len(names):
        raise RefusedError(
            422, "invalid", f"there is no {what} {number}", f"there are {len(names)}: 0 is any"
        )
    return names[number - 1] if number else ""


def _wanted(query: EvaluationQuery, categories: Sequence[str]) -> Callable[[Outcome], bool]:
    """Whether an outcome is of the category, and failed as the query says."""
    category = _numbered("category", query.category, categories)
    failure = query.failure

    def wanted(one: Outcome) -> bool:
        if category and one.category != category:
            return False
        if failure in {"any", "passed"}:
            return one.passed is (failure == "passed")
        return not failure or one.kind == failure

    return wanted


def _pairs(
    outcomes: Iterable[Outcome], left: str, right: str, wanted: Callable[[Outcome], bool]
) -> Iterator[Pair]:
    """The trials of two configurations by case, seed and repetition; one of each is wanted."""
    sides: dict[tuple[str, int, int], list[Outcome | None]] = {}
    for one in outcomes:
        key = (one.case, one.seed, one.repetition)
        for at, name in enumerate((left, right)):
            if _configuration(one) == name:
                sides.setdefault(key, [None, None])[at] = one
    for first, second in sides.values():
        if any(one is not None and wanted(one) for one in (first, second)):
            yield first, second


def _differs(pair: Pair) -> bool:
    one, other = pair
    return one is None or other is None or one.passed is not other.passed


def _counts(pairs: Iterable[Pair]) -> PairCounts:
    counts = PairCounts()
    for one, other in pairs:
        if one is None or other is None:
            counts.single += 1
        elif one.passed:
            counts.both += other.passed
            counts.left += not other.passed
        else:
            counts.right += other.passed
            counts.neither += not other.passed
    return counts


def _part(chosen: Sequence[T], query: EvaluationQuery) -> tuple[Sequence[T], int, int]:
    """Those of the page, how many there are in all, and where the next page begins."""
    end = query.after + query.limit
    return chosen[query.after : end], len(chosen), end if end < len(chosen) else 0


def _told(one: Outcome) -> TrialOutcome:
    failed = next((mark.why for mark in one.marks if not mark.passed and mark.why), one.reason)
    return TrialOutcome(
        run_id=one.run_id, case=one.case, configuration=_configuration(one), status=one.status,
        passed=one.passed, score=one.score, category=one.category, kind=one.kind or "",
        why="" if one.passed else failed, seed=one.seed, repetition=one.repetition,
        answer=one.answer,
    )  # fmt: skip


def _told_pair(pair: Pair, questions: Mapping[str, str]) -> TrialPair:
    one = next(it for it in pair if it is not None)
    left, right = (None if it is None else _told(it) for it in pair)
    question = questions.get(one.case, "")
    return TrialPair(one.case, question, one.seed, one.repetition, left, right)
