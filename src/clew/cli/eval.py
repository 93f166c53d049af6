"""`clew eval`: an evaluation, begun or gone on with."""

import contextlib

import click

from clew.cli.evaluating import Wanted, carry_out
from clew.cli.logs import of_many
from clew.cli.options import DEBUG, JSON, trial_options
from clew.core.events import Json

EPILOG = """\b
Examples:
  clew eval
  clew eval --model openai:gpt-4.1-mini --first 10 --check
  clew eval ablation.toml --max-cost 20
  clew eval questions.jsonl --docs ~/notes --grounded
\b
Exit codes: 0 done, 2 usage, 3 stopped at the cost limit, 5 trials failed (the
same command tries them again), 130 interrupted (the same command goes on).
"""


@click.command("eval", epilog=EPILOG)
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
    help="Where records and results lie (SQLite).  [default: NAME.sqlite in the working folder]",
)
@click.option(
    "--at-once", metavar="N", type=int, default=8, show_default=True, help="Trials at a time."
)
@click.option(
    "--max-cost",
    metavar="USD",
    type=float,
    help="Begin no trial once all have cost so much together.  [default: 5]",
)
@click.option("--only", metavar="NAME", multiple=True, help="Only this configuration (repeatable).")
@click.option("--first", metavar="N", type=int, help="Only the first N cases.")
@click.option("--judge", metavar="NAME", help="The model that judges answers, without a matrix.")
@click.option("--check", is_flag=True, help="Read, check and estimate; spend nothing.")
@trial_options
@JSON
@click.option("--quiet", "-q", is_flag=True, help="Say nothing while it goes on.")
@DEBUG
def evaluate(
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
    debug: bool,
    **given: Json,
) -> int:
    """Answer every case with every configuration of a matrix file, and score the answers.

    Without a matrix the agent of the options answers the questions of DATA.jsonl, or those of a set
    that ships (gold, if none is named). What has ended is kept: the same command goes on after a
    kill, and pays nothing twice.
    """
    said = {name: value for name, value in given.items() if value is not None}
    wanted = Wanted(target, judge, results, at_once, max_cost, only, first, said)
    with contextlib.nullcontext() if debug else of_many():
        return carry_out(wanted, check=check, as_json=as_json, quiet=quiet)
