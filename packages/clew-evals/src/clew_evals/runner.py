"""Carrying an evaluation out: many trials at once, each an ordinary run or vote on record.

Whatever has stopped is never paid again: a trial is known by its run id, is taken up where its
record is, and is scored from that record.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import anyio
import anyio.to_thread

from clew import ConfigError, SqliteStore
from clew.concurrency.portal import twin
from clew.concurrency.tasks import one_error
from clew.core.journal import wall_clock
from clew.interfaces import FINISH, Store
from clew.stores import FencedError
from clew.toolbox.docs import IndexReport, Library
from clew.tools import resources
from clew_evals.estimate import Estimate, estimate
from clew_evals.expected import tools_of
from clew_evals.measures import PassCount
from clew_evals.outcome import About, Outcome
from clew_evals.plan import Plan, Trial
from clew_evals.results import Results, Row, has_evaluation, plan_record
from clew_evals.trial import check_attachments, settle
from clew_evals.world import quiet

AT_ONCE: Final = 8
"""So many trials are under way at once where nothing else is said."""

MAX_COST: Final = 5.0
"""US dollars after which no trial begins where nothing else is said."""


HOPELESS: Final = 10
"""So many trials in a row whose model failed: then no further one begins."""


@dataclass(frozen=True)
class EvaluationProgress:
    """What there is to tell when a trial has ended: how many have, and how many of them passed
    (of a pair none, once one of it is wrong).
    """

    done: int
    total: int
    passed: int
    spent: float
    outcome: Outcome


Watch: TypeAlias = Callable[[EvaluationProgress], None]
Foresee: TypeAlias = Callable[[Estimate], None]


@dataclass(frozen=True)
class Evaluation:
    """The state of an evaluation: all outcomes in its results.

    `left` requested trials are not done, and `failed` outcomes had a failing model: the next time
    tries both. `stopped` says why no further trial started; empty if none was left. `over_cost`
    says that it was the cost of all; `spent` is that, in US dollars, as far as prices are known.
    """

    about: About
    outcomes: Sequence[Outcome]
    left: int
    failed: Sequence[Outcome]
    spent: float
    stopped: str = ""
    over_cost: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything requested is done."""
        return not self.left and not self.failed


async def evaluate(
    plan: Plan,
    results: str | Path,
    *,
    at_once: int = AT_ONCE,
    max_cost: float | None = MAX_COST,
    only: Sequence[str] = (),
    first: int | None = None,
    foresee: Foresee | None = None,
    watch: Watch | None = None,
) -> Evaluation:
    """Do all trials of a plan, `at_once` at a time, or continue from the existing results.

    No trial starts once all have cost `max_cost` US dollars together, including earlier sessions;
    running ones finish. `only` names configurations, `first` limits the cases. Raises `ConfigError`
    before anything is spent. After an error or a cancel, call it again to continue. `foresee` is
    called with the estimate before the start, `watch` after each trial.
    """
    if at_once < 1:
        raise ConfigError(f"at_once is {at_once}: give 1 or more")
    if max_cost is not None and not max_cost > 0:
        raise ConfigError(f"max_cost is {max_cost}: give US dollars above 0")
    trials = plan.trials(only, first)
    absent = await ready(plan)
    rows = _rows(plan, results)
    check_attachments(left := todo(trials, rows), plan)
    if foresee is not None:
        foresee(estimate(plan, trials, left, rows, absent))
    store = _store(results)
    try:
        if plan.judge is not None:  # before the file says that its word counts there
            await plan.judge.tried(store)
        there = Results.begin(results, plan_record(plan, wall_clock()))
        try:
            return await Work(plan, trials, there, store, max_cost, watch).all(at_once)
        finally:
            there.close()
    except FencedError as error:
        error.add_note("another evaluation works on these results: let one go on alone")
        raise
    finally:
        await store.close()


async def foreseen(
    plan: Plan, results: str | Path, *, only: Sequence[str] = (), first: int | None = None
) -> Estimate:
    """What `evaluate` would do and about spend, after all of its checks.

    It spends nothing, and creates or changes no results. Raises `ConfigError`.
    """
    trials = plan.trials(only, first)
    absent = await ready(plan)
    rows = _rows(plan, results)
    check_attachments(left := todo(trials, rows), plan)
    return estimate(plan, trials, left, rows, absent)


def _store(results: str | Path) -> SqliteStore:
    return SqliteStore(Path(results).expanduser())


def _rows(plan: Plan, results: str | Path) -> Mapping[str, Row]:
    """What a file already holds of a plan. Raises `ConfigError` where it is of another."""
    if not has_evaluation(results):
        return {}
    there = Results(results)
    try:
        there.check(plan_record(plan, 0))
        return there.rows
    finally:
        there.close()


async def ready(plan: Plan) -> tuple[str, ...]:
    """Read the documents, and see that every agent fits its world. Raises `ConfigError`.

    Gives the tools that golds name, and that no configuration has.
    """
    for library in plan.libraries:
        report = await _read(library)
        if not report.passages:
            raise ConfigError(f"there is no text in {library.folder}: name another folder")
    agents = [configuration.agent for configuration in plan.configurations]
    if plan.world.open is not quiet:
        async with plan.world.open(plan.world.cases[0]) as episode:
            agents = [configuration.inside(episode) for configuration in plan.configurations]
        for configuration, agent in zip(plan.configurations, agents, strict=True):
            configuration.check(agent)
    there = {FINISH, *(tool.name for agent in agents for tool in agent.tools)}
    named = {name: None for case in plan.world.cases for name in tools_of(case.gold)}
    return tuple(name for name in named if name not in there)


async def _read(library: Library) -> IndexReport:
    """Bring an index up to date; when cancelled, it stops after the file at hand."""
    stop = threading.Event()
    try:
        return await anyio.to_thread.run_sync(library.load, stop, abandon_on_cancel=True)
    finally:
        stop.set()


@dataclass
class Work:
    """What one process knows of an evaluation while it works on it."""

    plan: Plan
    trials: Sequence[Trial]
    results: Results
    store: Store
    max_cost: float | None
    watch: Watch | None
    done: int = 0
    spent: float = 0.0
    in_a_row: int = 0
    """So many trials ended one after the other because their model failed."""
    stopped: str = ""
    over_cost: bool = False
    _tally: PassCount = field(default_factory=PassCount)
    _before: Mapping[str, Row] = field(default_factory=dict[str, Row])
    _todo: deque[Trial] = field(default_factory=deque[Trial])

    async def all(self, at_once: int) -> Evaluation:
        """Do what is to be done."""
        rows = self._before = self.results.rows
        self.spent = sum(row.cost or 0.0 for row in rows.values())
        self._todo = deque(todo(self.trials, rows))
        self.done = len(self.trials) - len(self._todo)
        for trial in self.trials:
            if trial.run_id in rows:
                self._tally.add(rows[trial.run_id].outcome)
        with one_error():
            async with resources(), anyio.create_task_group() as group:
                for _ in range(min(at_once, len(self._todo))):
                    group.start_soon(self._one_by_one)
        rows = self.results.rows
        asked = [rows.get(trial.run_id) for trial in self.trials]
        failed = [row.outcome for row in asked if row is not None and row.failed]
        return Evaluation(
            about=self.results.about,
            outcomes=self.results.outcomes,
            left=asked.count(None),
            failed=failed,
            spent=self.spent,
            stopped=self.stopped,
            over_cost=self.over_cost,
        )

    async def _one_by_one(self) -> None:
        """Do one trial after the other, as long as there is one and it may begin."""
        while (trial := self._next()) is not None:
            row = await settle(trial, self.plan, self.store)
            self.results.add(row)
            self._count(row)
            if self.watch is not None:
                total = len(self.trials)
                passed = self._tally.passed
                self.watch(EvaluationProgress(self.done, total, passed, self.spent, row.outcome))

    def _next(self) -> Trial | None:
        """The trial to begin now; None where none is left, or none may begin any more."""
        max_cost = self.max_cost
        if self._todo and not self.stopped and max_cost is not None and self.spent >= max_cost:
            self.stopped, self.over_cost = f"cost: ${self.spent:.4f} of ${max_cost:.4f} spent", True
        return self._todo.popleft() if self._todo and not self.stopped else None

    def _count(self, row: Row) -> None:
        """Count what a trial came to; begin no more where it is hopeless, as with a wrong key."""
        before = self._before.get(row.outcome.run_id)
        self.done += 1
        self._tally.add(row.outcome)
        self.spent += (row.cost or 0.0) - (0.0 if before is None else before.cost or 0.0)
        self.in_a_row = self.in_a_row + 1 if row.failed else 0
        if self.in_a_row == HOPELESS and self._todo:
            self.stopped = f"failing: {HOPELESS} trials in a row, the last: {row.outcome.reason}"


def todo(trials: Sequence[Trial], rows: Mapping[str, Row]) -> list[Trial]:
    """Those that have no outcome yet, or one that is to be looked at again."""
    return [each for each in trials if each.run_id not in rows or rows[each.run_id].again]


evaluate_sync = twin(evaluate)
foreseen_sync = twin(foreseen)
