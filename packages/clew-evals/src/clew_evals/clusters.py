"""Group similar failures: by kind, then by what they share."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from clew.core.values import Value
from clew.support.short_text import one_line
from clew_evals.mistakes import KINDS
from clew_evals.outcome import Kind, Outcome
from clew_strategies import normalise

MAX_ANSWER_CHARS: Final = 160
"""So many characters of a text are compared, and told."""

EACH: Final = 3
"""So many traces of a cluster are shown."""

ALL: Final = 120
"""So many traces at most are shown, of the largest clusters."""

_NUMBER: Final = re.compile(r"\d+([.,:]\d+)*")


class Cluster(Value, frozen=True):
    """Trials that failed alike; `common` is what they share, "" if that is the kind."""

    kind: Kind
    common: str
    trials: tuple[Outcome, ...]


def clusters(outcomes: Iterable[Outcome]) -> tuple[Cluster, ...]:
    """The failures, the largest cluster first."""
    by_kind: defaultdict[tuple[Kind, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.kind is not None and not outcome.passed:
            by_kind[outcome.kind, common(outcome)].append(outcome)
    made = [Cluster(kind, what, tuple(trials)) for (kind, what), trials in by_kind.items()]
    return tuple(
        sorted(made, key=lambda one: (-len(one.trials), KINDS.index(one.kind), one.common))
    )


def common(outcome: Outcome) -> str:
    """What a failure shares with others of its kind."""
    match outcome.kind:
        case "bound" if outcome.code not in {"", "own"}:
            return outcome.code
        case "bound" | "failed" | "rejected" | "held" | "refused":
            return _NUMBER.sub("#", one_line(outcome.reason, MAX_ANSWER_CHARS))
        case "fault":
            return one_line(f"replies of {outcome.model}", MAX_ANSWER_CHARS)
        case "no such tool":
            return one_line(", ".join(sorted(outcome.counted.unknown)), MAX_ANSWER_CHARS)
        case "bad arguments":
            return one_line(", ".join(sorted(outcome.counted.bad_arguments)), MAX_ANSWER_CHARS)
        case "unsupported claim":
            return one_line(why(outcome, "grounded") or outcome.case, MAX_ANSWER_CHARS)
        case "twin":
            return one_line(outcome.pair, MAX_ANSWER_CHARS)
        case _:  # one question that goes wrong in many ways is one thing to look at
            return one_line(outcome.case, MAX_ANSWER_CHARS)


def why(outcome: Outcome, scorer: str = "") -> str:
    """What the marks that were not passed say."""
    reasons = [
        f"{mark.scorer}: {mark.why}" if mark.why else mark.scorer
        for mark in outcome.marks
        if not mark.passed and scorer in {"", mark.scorer}
    ]
    return "; ".join(reasons)


def common_answers(cluster: Cluster, limit: int = 5) -> list[tuple[str, int]]:
    """The answers of a cluster, one for those that only look different, with how often."""
    many: defaultdict[str, int] = defaultdict(int)
    first: dict[str, str] = {}
    for outcome in cluster.trials:
        compared = normalise(outcome.answer)
        many[compared] += 1
        first.setdefault(compared, "(none)" if outcome.answer is None else str(outcome.answer))
    ranked = sorted(many, key=lambda compared: (-many[compared], compared))
    return [
        (one_line(first[compared], MAX_ANSWER_CHARS), many[compared]) for compared in ranked[:limit]
    ]


def example_runs(failures: Iterable[Cluster], each: int = EACH) -> list[str]:
    """The runs whose traces a report contains: some of each cluster, the largest first."""
    runs = [one.run_id for cluster in failures for one in cluster.trials[:each]]
    return list(dict.fromkeys(runs))[:ALL]
