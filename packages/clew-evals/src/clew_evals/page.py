"""The report as one HTML page: plots, tables, failures with their traces, nothing from outside.

Answers and traces come from others: all of it is escaped, control characters are shown as codes,
and the page forbids itself scripts and the network.
"""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from math import fsum
from typing import Any, Final, TypeAlias

from clew.support.extras import missing_extra
from clew.support.json_values import text_or_json
from clew.support.short_text import cut, one_line
from clew_evals.clusters import Cluster, clusters, common_answers, why
from clew_evals.outcome import About, Outcome
from clew_evals.plots import plots
from clew_evals.table import Table, format_cell, inert, is_simulated, simulated_note, unfinished

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "reports", "clew-evals") from missing

__all__ = ["page"]

Trace: TypeAlias = Sequence[tuple[str, str]]
"""A record as labelled texts."""

LISTED: Final = 50
"""So many trials of a cluster are listed."""

MAX_ANSWER_CHARS: Final = 400
"""So many characters of an answer, or of why a trial failed, are shown."""

LONG: Final = 4_000
"""So many characters of a text in a trace are shown."""


def page(
    outcomes: Sequence[Outcome],
    about: About,
    tables: Sequence[Table],
    traces: Mapping[str, Trace],
    store: str,
) -> str:
    """The whole page; `traces` are those of the `example_runs`, and `store` is the results file."""
    environment: Any = Environment(  # its tables of filters and tests have no types
        loader=PackageLoader("clew_evals", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {"line": _line, "text": _text, "drawn": Markup}
    environment.tests["simulated"] = is_simulated
    anchors = {run_id: f"trace-{number}" for number, run_id in enumerate(traces, start=1)}
    questions = {case.id: case.question for case in about.cases}
    made: str = environment.get_template("page.html").render(
        about=about,
        facts=list(_facts(outcomes, about)),
        simulated=simulated_note([*about.models, about.judge]),
        unfinished=unfinished(outcomes, about),
        plots=plots(outcomes, about),
        tables=tables,
        clusters=clusters(outcomes),
        traces=traces,
        listed=LISTED,
        anchor=anchors.__getitem__,
        answer=_answer,
        reason=_reason,
        common_answers=common_answers,
        questions=partial(_questions, questions),
        command=partial(_command, store),
    )
    return made


def _facts(outcomes: Sequence[Outcome], about: About) -> Iterator[tuple[str, str]]:
    """What the evaluation is of, in a line each."""
    many = Counter(case.category for case in about.cases if case.category)
    of_each = ", ".join(f"{count} {category}" for category, count in many.items())
    yield "world", about.world
    yield "cases", f"{len(about.cases)}" + (f" ({of_each})" if of_each else "")
    yield "configurations", f"{len(about.configurations)}"
    yield "seeds", ", ".join(map(str, about.seeds))
    yield "repetitions", f"{about.repetitions}"
    yield "trials", f"{len(outcomes):,}, {sum(one.passed for one in outcomes):,} of them passed"
    yield "time of work", format_cell(fsum(one.counted.seconds for one in outcomes), "seconds")
    yield "cost", _cost([one for one in outcomes if not is_simulated(one.model)])
    if about.begun:
        begun = datetime.fromtimestamp(about.begun / 1000, UTC)
        yield "begun", f"{begun:%Y-%m-%d %H:%M} UTC"
    yield "clew", about.version


def _cost(outcomes: Sequence[Outcome]) -> str:
    """What was really paid for runs: the prices of simulated models are invented."""
    costs = [one.counted.usage.cost for one in outcomes if one.counted.usage.tokens]
    known = [cost for cost in costs if cost is not None]
    unknown = len(costs) - len(known)
    beside = f", and {unknown:,} trials whose cost is not known" if unknown else ""
    return format_cell(fsum(known), "dollars") + beside


def _command(store: str, run_id: str) -> str:
    return shlex.join(["clew", "show", run_id, "--store", store])


def _questions(questions: Mapping[str, str], cluster: Cluster, limit: int = 3) -> list[str]:
    """What was asked, where it is a few questions only."""
    asked = list(dict.fromkeys(questions.get(one.case, one.case) for one in cluster.trials))
    return asked if len(asked) <= limit else []


def _answer(outcome: Outcome) -> str:
    return (
        "(none)" if outcome.answer is None else cut(text_or_json(outcome.answer), MAX_ANSWER_CHARS)
    )


def _reason(outcome: Outcome) -> str:
    """Why a trial failed: what its golds say, or how it stopped."""
    stopped = f"{outcome.status}: {outcome.reason}" if outcome.reason else outcome.status
    return cut(
        why(outcome) or (stopped if outcome.status != "answered" else "its twin failed"),
        MAX_ANSWER_CHARS,
    )


def _line(text: str) -> str:
    return inert(one_line(str(text)))


def _text(text: str) -> str:
    left = len(text) - LONG
    return inert(text if left <= 0 else f"{text[:LONG]}… {left:,} more characters")
