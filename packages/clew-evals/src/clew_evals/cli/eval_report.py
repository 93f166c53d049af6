"""`clew eval report`: what an evaluation came to."""

from functools import partial
from pathlib import Path

import click

from clew.cli.errors import ANSWERED
from clew.cli.groups import import_extra
from clew.cli.options import DEBUG, JSON
from clew.cli.safe_text import say


@click.command()
@click.argument("results", type=click.Path())
@click.option("--html", metavar="FILE", type=click.Path(), help="Write the report as an HTML page.")
@click.option(
    "--csv", metavar="FILE", type=click.Path(), help="Write a row for each trial, as CSV."
)
@click.option(
    "--tables",
    metavar="FOLDER",
    type=click.Path(),
    help="Write each table to a CSV file there.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    default="",
    help="The configuration to compare the others with.  [default: the first]",
)
@JSON
@DEBUG
def report(
    results: str,
    html: str | None,
    csv: str | None,
    tables: str | None,
    baseline: str,
    *,
    as_json: bool,
) -> int:
    """Show the tables of RESULTS, a file that `clew eval run` wrote, and group similar failures.

    The evaluation may still be running. Needs the extra `reports` of clew-evals.
    """
    if html is not None and csv is not None and Path(html).absolute() == Path(csv).absolute():
        message = f"--html and --csv would both be written to {html}: name two files."
        raise click.UsageError(message)
    made = import_extra("clew_evals.cli.report", "reports", "clew-evals").Report(results, baseline)
    tell = partial(say, err=as_json)  # stdout is the document's
    if html is not None:
        tell(made.write_html(html, import_extra("clew_evals.page", "reports", "clew-evals")))
    if csv is not None:
        tell(made.write_trials(csv))
    if tables is not None:
        tell(made.write_tables(tables))
    if as_json:
        say(made.json())
    elif (html, csv, tables) == (None, None, None):
        made.show()
    return ANSWERED
