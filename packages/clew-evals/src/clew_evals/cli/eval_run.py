"""`clew eval run`: an evaluation, begun or gone on with; its cost, its progress, its end."""

import contextlib
import math
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Self

import anyio
import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from clew import ConfigError
from clew.agent_files import with_model
from clew.cli.agents import options
from clew.cli.errors import ANSWERED, EXITS, FAILED, debugging
from clew.cli.options import DEBUG, JSON, trial_options
from clew.cli.progress import of_many
from clew.cli.run_here import unless_interrupted
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console
from clew.cli.store_option import command
from clew.interfaces import Json
from clew.support.printable import inert
from clew_evals import (
    GOLD,
    SHIPPED,
    Estimate,
    Evaluation,
    EvaluationProgress,
    Plan,
    evaluate,
    foreseen,
    overview,
    plan_of,
    read_matrix,
)
from clew_evals.cli.tables import grids

LINES: Final = 20
"""Progress lines when output is not a terminal."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


EPILOG = """\b
Examples:
  clew eval run
  clew eval run --model openai:gpt-4.1-mini --first 10 --check
  clew eval run ablation.toml --max-cost 20
  clew eval run questions.jsonl --docs ~/notes --checks grounded

\b
`clew eval report RESULTS` has its tables; with clew-serve, `clew view RESULTS`
shows each trial and its run in a browser.

\b
Exit codes: 0 done, 2 usage, 3 stopped at the cost limit, 5 trials failed (the
same command tries them again), 130 interrupted (the same command goes on).
"""


@dataclass(frozen=True)
class EvalOptions:
    """What the command line says; `arguments` are the options that make up the agent."""

    target: str | None
    judge: str | None
    results: str | None
    at_once: int
    max_cost: float | None
    only: tuple[str, ...]
    first: int | None
    arguments: Mapping[str, Json]


@click.command("run", epilog=EPILOG)
@click.argument(
    "target",
    required=False,
    metavar="[MATRIX.toml | DATA.jsonl | gold | foreign]",
    type=click.Path(),
)
@click.option(
    "--results",
    metavar="FILE",
    type=click.Path(),
    help="The SQLite file for records and results.  [default: NAME.sqlite in this folder]",
)
@click.option(
    "--at-once",
    metavar="N",
    type=int,
    default=8,
    show_default=True,
    help="Run up to N trials at a time.",
)
@click.option(
    "--max-cost",
    metavar="USD",
    type=float,
    help="Start no further trial once all have cost this much.  [default: 5]",
)
@click.option(
    "--only", metavar="NAME", multiple=True, help="Run only this configuration. Repeatable."
)
@click.option("--first", metavar="N", type=int, help="Run only the first N cases.")
@click.option(
    "--judge", metavar="NAME", help="The model that judges answers; only without a matrix file."
)
@click.option("--check", is_flag=True, help="Check the input and estimate the cost; run nothing.")
@trial_options
@JSON
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@DEBUG
def run_evaluation(
    target: str | None,
    judge: str | None,
    results: str | None,
    at_once: int,
    max_cost: float | None,
    only: tuple[str, ...],
    first: int | None,
    *,
    check: bool,
    as_json: bool,
    quiet: bool,
    **arguments: Json,
) -> int:
    """Run every case with every configuration of a matrix file, and score the answers.

    Without a matrix file, the agent of the options answers the questions of DATA.jsonl or of a data
    set that ships (default: gold). Results are kept: after an interruption the same command
    continues, and pays for nothing twice.
    """
    chosen = {name: value for name, value in arguments.items() if value is not None}
    wanted = EvalOptions(target, judge, results, at_once, max_cost, only, first, chosen)
    with contextlib.nullcontext() if debugging() else of_many():
        return evaluate_and_report(wanted, check=check, as_json=as_json, quiet=quiet)


def evaluate_and_report(wanted: EvalOptions, *, check: bool, as_json: bool, quiet: bool) -> int:
    """Evaluate, and tell; the exit code says how it ended."""
    plan, why = _plan(wanted)
    results_path = wanted.results or f"{_UNSAFE.sub('-', plan.name)}.sqlite"
    screen = EvaluationScreen(plan, None if quiet else console(stderr=True))
    screen.say(f"Model: {plan.configurations[0].model} ({why})" if why else "")
    if check:
        look = partial(foreseen, plan, results_path, only=wanted.only, first=wanted.first)
        estimated = anyio.run(look)
        if as_json:
            say(json_text(msgspec.to_builtins(estimated)))
        else:
            told = EvaluationScreen(plan, console())
            told.say(f"{inert(plan.name)}: everything fits.")
            told.foresee(estimated)
        return ANSWERED
    work = partial(
        evaluate,
        plan,
        results_path,
        at_once=wanted.at_once,
        **_limit(wanted, plan),
        only=wanted.only,
        first=wanted.first,
        foresee=screen.foresee,
        watch=screen.watch,
    )
    with screen:
        done = anyio.run(unless_interrupted, work)
    if done is None:
        raise _interrupted(results_path, plan)
    return _report(done, results_path, as_json=as_json)


def _plan(wanted: EvalOptions) -> tuple[Plan, str]:
    """What is to be done, and why with that model where nobody named one."""
    target = wanted.target or GOLD
    if Path(target).suffix == ".toml":
        if wanted.arguments or wanted.judge:
            names = [*wanted.arguments, *(["judge"] if wanted.judge else [])]
            option = f"--{names[0].replace('_', '-')}"
            message = f"{target} says what is evaluated: write it there, and leave {option} out."
            raise click.UsageError(message)
        return read_matrix(target), ""
    if target not in SHIPPED and Path(target).suffix != ".jsonl":
        shipped = " or ".join(SHIPPED)
        message = (
            f"{target!r} is neither a matrix file (.toml), nor a dataset (.jsonl), nor {shipped}."
        )
        raise click.UsageError(message)
    spec, why = anyio.run(with_model, options(wanted.arguments))
    return plan_of(spec, target, judge=wanted.judge or ""), why


def _limit(wanted: EvalOptions, plan: Plan) -> dict[str, float]:
    """The cost limit, if one was named. Raises `ConfigError` for one that cannot hold."""
    if wanted.max_cost is None:
        return {}
    if plan.unpriced:
        message = (
            "--max-cost needs models with known prices, and that of "
            f"{plan.unpriced[0]} is not known: "
            "say it ([prices] in an agent or matrix file), or leave --max-cost out"
        )
        raise ConfigError(message)
    return {"max_cost": wanted.max_cost}


class EvaluationScreen:
    """Tells how far an evaluation is: as a bar on a terminal, else in a few lines; to nobody
    where `out` is None.
    """

    def __init__(self, plan: Plan, out: Console | None) -> None:
        self._plan = plan
        self._out = out
        self._bar: Progress | None = None
        self._failed = 0
        self._unpriced = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """A line, unless it is empty."""
        if self._out is not None and text:
            self._out.print(text)

    def foresee(self, estimate: Estimate) -> None:
        """What there is to do, what it may cost, and which documents nobody will find."""
        runs = (
            ""
            if estimate.runs == estimate.todo
            else f" ({estimate.runs:,} run{'' if estimate.runs == 1 else 's'})"
        )
        before = f", {estimate.trials_done:,} done before" if estimate.trials_done else ""
        self.say(f"{_trials(estimate.trials)}, {estimate.todo:,} to do{runs}{before}")
        if estimate.todo:
            self.say(_cost(estimate))
        if estimate.absent:
            names = inert(", ".join(estimate.absent))
            self.say(f"no configuration has what golds name as a tool: {names}")
        for library in self._plan.libraries:
            if skipped := library.report().skipped:
                path, why = skipped[0]
                more = f" ({len(skipped) - 1:,} more)" if len(skipped) > 1 else ""
                self.say(inert(f"not searched in {library.folder}{more}: {path}: {why}"))

    def watch(self, step: EvaluationProgress) -> None:
        """A trial has ended."""
        self._failed += not step.outcome.stopped
        failed = f" · {self._failed:,} failed" if self._failed else ""
        self._unpriced |= step.outcome.counted.usage.unpriced
        told = f"{step.passed:,} passed{failed} · {_spent(step.spent, unpriced=self._unpriced)}"
        if self._out is None:
            return
        if self._out.is_terminal and not self._out.is_dumb_terminal:
            self._draw(self._out, step, told)
        elif step.done % math.ceil(step.total / LINES) == 0 or step.done == step.total:
            self.say(f"{step.done:>{len(str(step.total))},} of {step.total:,} · {told}")

    def _draw(self, out: Console, step: EvaluationProgress, told: str) -> None:
        if self._bar is None:
            columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(TextColumn("{task.description}"), *columns, console=out)
            self._bar.add_task(told, total=step.total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=step.done, description=told)


def _spent(dollars: float, *, unpriced: bool) -> str:
    """What all trials cost, as far as prices are known."""
    if not unpriced:
        return f"${dollars:.4f}"
    return f"at least ${dollars:.4f}" if dollars else "cost unknown"


def _trials(number: int) -> str:
    return f"{number:,} trial{'' if number == 1 else 's'}"


def _cost(estimate: Estimate) -> str:
    """What it may cost, and what that is gathered from."""
    if estimate.measured == estimate.todo:
        from_ = "the mean of trials that have ended"
    else:
        from_ = f"guessed from {estimate.guessed_steps} steps a run"
        if estimate.measured:
            from_ += f", {estimate.measured:,} from trials that have ended"
    bound = f"at most ${estimate.max_cost:,.2f} by the runs' limits"
    amount = f"about ${estimate.about:,.2f} ({from_}), {bound}"
    if estimate.unknown:
        amount += (
            f"; no price is known of {inert(', '.join(estimate.unknown))}, which is not counted"
        )
    return amount


def _interrupted(path: str, plan: Plan) -> KeyboardInterrupt:
    """What a Ctrl-C leaves: everything that has ended, and what providers have."""
    batched = any(each.model.startswith("batch:") for each in plan.configurations)
    out = ", batches that are out stay (clew records batches)" if batched else ""
    error = KeyboardInterrupt()
    again = shlex.join(["clew", *sys.argv[1:]])
    error.add_note(
        f"what has ended is kept in {path}{out}, and what has begun goes on with: {again}"
    )
    return error


def _report(done: Evaluation, path: str, *, as_json: bool) -> int:
    """The end, and the exit code."""
    if as_json:
        say(json_text(document(done, path)))
    else:
        out = console()
        table = overview(done.outcomes, done.about)
        for grid in grids(table, out.width):
            out.print(grid)
        if table.note:
            out.print(Text(inert(table.note), style="dim"), soft_wrap=False)
        unpriced = any(one.counted.usage.unpriced for one in done.outcomes)
        spent = _spent(done.spent, unpriced=unpriced)
        out.print(f"{spent} · {inert(shlex.join(['clew', 'eval', 'report', path]))}")
    tell = console(stderr=True)
    if done.stopped:
        tell.print(inert(f"stopped by {done.stopped}"))
    if done.left:
        how = "a higher --max-cost" if done.over_cost else "the same command"
        tell.print(f"{_trials(done.left)} not done: {how} goes on")
    if held := [one.run_id for one in done.outcomes if one.status == "held"]:
        look = inert(command("show", held[0], store=path))
        tell.print(f"{_trials(len(held))} held: {look} says what for; ruled on, it goes on")
    if done.failed:
        why = inert(done.failed[-1].reason)
        failed = f"{_trials(len(done.failed))} failed (the last: {why})"
        tell.print(f"{failed}: the same command tries again")
    if done.over_cost:
        return EXITS["bound"]
    return ANSWERED if done.complete else FAILED


def document(done: Evaluation, path: str) -> dict[str, Json]:
    """How it ended, for programs."""
    return {
        "name": done.about.name,
        "results": path,
        "complete": done.complete,
        "stopped": done.stopped,
        "left": done.left,
        "failed": len(done.failed),
        "spent": done.spent,
        "outcomes": msgspec.to_builtins(done.outcomes),
    }
