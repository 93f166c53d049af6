"""The evaluation in a store: what became of each trial, and two configurations side by side.

A file that `clew eval run` writes is a store with an evaluation in it.
"""

import importlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Final

import anyio.to_thread
import msgspec

from clew import SqliteStore
from clew_serve.endpoints import Inquiry, Position

_THERE: Final = "SELECT 1 FROM sqlite_master WHERE name = 'evaluation'"
_NONE: Final = (
    "This store has no evaluation. `clew eval run` writes a file with one: "
    "`clew view FILE` shows it."
)
_NO_PACKAGE: Final = (
    "The package clew-evals is not installed, which reads evaluations: from a checkout of clew, "
    "make install WITH=evals,serve"
)


class EvaluationQuery(msgspec.Struct):
    """Which trials: numbers count from 1 in the lists of the answer, and 0 is any.

    `failure` is a kind of failure, "any" of them, or "passed". With a configuration `beside`
    another there are pairs of trials, and only those that differ unless `alike` is "yes".
    """

    configuration: Position = 0
    beside: Position = 0
    category: Position = 0
    failure: str = ""
    alike: str = ""
    after: Position = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 50


class TrialOutcome(msgspec.Struct):
    """What became of a trial; `kind` is that of its failure, and `run_id` its run."""

    run_id: str
    case: str
    configuration: str
    status: str
    passed: bool
    score: float
    category: str = ""
    kind: str = ""
    why: str = ""
    seed: int = 0
    repetition: int = 1
    answer: Any = None


class TrialPair(msgspec.Struct):
    """One case with one seed by two configurations; None where one has not done it."""

    case: str
    question: str
    seed: int
    repetition: int
    left: TrialOutcome | None
    right: TrialOutcome | None


class PairCounts(msgspec.Struct):
    """How many pairs both passed, one of them alone, and neither; `single` have no counterpart."""

    both: int = 0
    left: int = 0
    right: int = 0
    neither: int = 0
    single: int = 0


class EvaluationOverview(msgspec.Struct):
    """The table of all configurations, its cells in words."""

    columns: list[str] = []
    rows: list[list[str]] = []
    note: str = ""


class EvaluationPage(msgspec.Struct):
    """An evaluation: its figures, and a page of its trials or, of two configurations, of pairs.

    `count` are those that the query asks for, `trials` all of them. Where there is none, `missing`
    says why.
    """

    name: str = ""
    world: str = ""
    cases: int = 0
    trials: int = 0
    count: int = 0
    after: int = 0
    """What is behind the `?` of the next page; 0 on the last."""
    missing: str = ""
    configurations: list[str] = []
    categories: list[str] = []
    failures: list[str] = []
    overview: EvaluationOverview = msgspec.field(default_factory=EvaluationOverview)
    outcomes: list[TrialOutcome] = []
    pairs: list[TrialPair] = []
    counts: PairCounts | None = None


async def get(inquiry: Inquiry) -> EvaluationPage:
    """The evaluation in the store."""
    query: EvaluationQuery = inquiry.query
    path = file_of(inquiry)
    if path is None or not await anyio.to_thread.run_sync(has_evaluation, path):
        return EvaluationPage(missing=_NONE)
    try:
        reading = importlib.import_module("clew_serve.evaluations")  # it needs another package
    except ImportError:
        return EvaluationPage(missing=_NO_PACKAGE)
    page: EvaluationPage = await anyio.to_thread.run_sync(reading.page_of, path, query)
    return page


def file_of(inquiry: Inquiry) -> Path | None:
    """The file of the store, if that is one in which an evaluation may be."""
    store = inquiry.service.store
    return store.path if isinstance(store, SqliteStore) else None


def has_evaluation(path: Path) -> bool:
    """Whether there is an evaluation in a file, which is only looked at."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as opened:
            return opened.execute(_THERE).fetchone() is not None
    except sqlite3.Error:  # whoever asks for a run is told what is wrong with the store
        return False
