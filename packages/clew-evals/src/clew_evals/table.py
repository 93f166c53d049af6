"""A table: what a report is made of, whichever way it is shown."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

from clew.core.values import Value
from clew.interfaces import Json
from clew_evals.measures import twins_of
from clew_evals.outcome import About, Outcome

Form: TypeAlias = Literal[
    "text", "count", "number", "share", "interval", "points", "range", "seconds", "dollars"
]
"""How a cell is written: `interval` is one of shares, `range` one of percentage points; both are
lists of two numbers."""

NOTHING: Final = "–"
"""What a cell without a value shows."""

_HIDDEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

OFFLINE: Final = "offline"
"""The model that is clew's own rules."""

SIMULATED: Final = "simulated:"
"""How the names of simulated models begin."""


class Column(Value, frozen=True):
    """The name of a column, and the format of its cells."""

    name: str
    form: Form = "text"


class Table(Value, frozen=True):
    """Cells under columns: numbers unformatted, None for an empty cell.

    `note` explains the figures. `name` is short, for files and links.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Json, ...], ...]
    note: str = ""

    def dicts(self) -> list[dict[str, Json]]:
        """The rows by the names of their columns, as a data frame takes them."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": [{"name": column.name, "form": column.form} for column in self.columns],
            "rows": list(self.rows),
            "note": self.note,
        }

    def formatted_rows(self) -> list[list[str]]:
        """The rows formatted for people."""
        return [
            [format_cell(cell, column.form) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


def format_cell(cell: Json, form: Form) -> str:
    """A cell as a person reads it."""
    return NOTHING if cell is None else _WRITTEN[form](cell)


def _seconds(time: float) -> str:
    if time < 0.1:
        return f"{1000 * time:.0f} ms"
    if time < 59.95:
        return f"{time:.1f} s"
    minutes, seconds = divmod(round(time), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}" if abs(share) >= 0.0005 else "0.0"


def _dollars(cost: float) -> str:
    """As many digits as a small cost needs."""
    return f"${cost:,.{2 if cost >= 1 or not cost else 4 if cost >= 0.01 else 6}f}"


_WRITTEN: Final[dict[Form, Callable[[Any], str]]] = {
    "text": str,
    "count": "{:,}".format,
    "number": lambda number: f"{number:,.2f}" if abs(number) < 100 else f"{number:,.0f}",
    "share": "{:.1%}".format,
    "interval": lambda ends: f"{ends[0]:.1%} to {ends[1]:.1%}",
    "points": _points,
    "range": lambda ends: f"{_points(ends[0])} to {_points(ends[1])}",
    "seconds": _seconds,
    "dollars": _dollars,
}


def is_simulated(model: str) -> bool:
    """Whether this is the name of a simulated model."""
    return model.startswith(SIMULATED)


def simulated_note(models: Iterable[str]) -> str:
    """What has to be said where figures are of no language model; "" where all are of one."""
    named = set(models)
    return sentences(
        f"{OFFLINE} is not a language model but clew's own rules." if OFFLINE in named else "",
        f"{SIMULATED}… is not a language model but a script with set faults and invented prices."
        if any(map(is_simulated, named))
        else "",
    )


def sentences(*texts: str) -> str:
    """Those that say something, one after the other."""
    return " ".join(filter(None, texts))


def columns(*headings: str | tuple[str, Form]) -> tuple[Column, ...]:
    """Columns from their names, with their forms where they are no text."""
    return tuple(Column(one) if isinstance(one, str) else Column(*one) for one in headings)


def inert(text: str) -> str:
    """The text with what is no visible character of a line (controls, direction marks) as codes."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def alike(names: Iterable[str], form: Form) -> Iterator[tuple[str, Form]]:
    """Names of columns whose cells are written alike."""
    return ((name, form) for name in names)


def used(table: Table) -> Table:
    """The table without columns that say nothing in any row."""
    kept = [
        index
        for index in range(len(table.columns))
        if any(row[index] is not None for row in table.rows)
    ]
    return Table(
        table.name,
        table.title,
        tuple(table.columns[index] for index in kept),
        tuple(tuple(row[index] for index in kept) for row in table.rows),
        table.note,
    )


Group: TypeAlias = tuple[str, str]
"""A configuration and a model: what a row of most tables is of."""

WHO: Final = ("configuration", "model")


def grouped(outcomes: Iterable[Outcome], about: About) -> dict[Group, Sequence[Outcome]]:
    """The outcomes of each configuration with each model, in the order of the matrix."""
    outcomes_by_group: dict[Group, list[Outcome]] = {
        (configuration, model): []
        for configuration in about.configurations
        for model in about.models
    }
    for outcome in outcomes:
        outcomes_by_group.setdefault((outcome.configuration, outcome.model), []).append(outcome)
    return {group: trials for group, trials in outcomes_by_group.items() if trials}


def unfinished(outcomes: Sequence[Outcome], about: About) -> str:
    """Says what keeps the figures from being those of the whole matrix; "" where nothing does."""
    of_each = len(about.cases) * len(about.seeds) * about.repetitions
    all_of_it = about.trials or of_each * len(about.configurations) * len(about.models)
    fewer = f"Only {len(outcomes):,} of {all_of_it:,} trials are finished."
    failed = sum(not one.stopped for one in outcomes)
    alone = _alone(outcomes, about)
    return sentences(
        fewer if len(outcomes) < all_of_it else "",
        f"Failed before an answer, and not passed: {failed:,}." if failed else "",
        f"Counted without a twin that is not finished: {alone:,}." if alone else "",
    )


def _alone(outcomes: Iterable[Outcome], about: About) -> int:
    """How many outcomes are of a pair that is not there as a whole."""
    pair_sizes = Counter(case.pair for case in about.cases if case.pair)
    counts = Counter(twins_of(one) for one in outcomes if one.pair)
    return sum(many for (pair, *_), many in counts.items() if many < pair_sizes[pair])
