"""`clew report`: what an evaluation came to."""

import importlib
from functools import partial
from pathlib import Path
from types import ModuleType

import click

from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON
from clew.core.errors import ConfigError
from clew.support.extras import install


@click.command()
@click.argument("results", type=click.Path())
@click.option("--html", metavar="FILE", type=click.Path(), help="Write it as one page of HTML.")
@click.option("--csv", metavar="FILE", type=click.Path(), help="Write a row for each trial.")
@click.option(
    "--tables",
    metavar="FOLDER",
    type=click.Path(),
    help="Write each table there, as CSV.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    default="",
    help="The configuration that the others are compared with.  [default: the first]",
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
    debug: bool,
) -> int:
    """Show the tables of RESULTS, a file that `clew eval` made, and what failed alike.

    An evaluation that is still under way can be looked at too. Needs the extra `eval`.
    """
    del debug
    if html is not None and csv is not None and Path(html).absolute() == Path(csv).absolute():
        message = f"--html and --csv would both be written to {html}: name two files."
        raise click.UsageError(message)
    made = _loaded("clew.cli.reported").Report(results, baseline)
    say = partial(click.echo, err=as_json)  # stdout is the document's
    if html is not None:
        say(made.write_html(html, _loaded("clew.evals.page")))
    if csv is not None:
        say(made.write_trials(csv))
    if tables is not None:
        say(made.write_tables(tables))
    if as_json:
        click.echo(made.json())
    elif (html, csv, tables) == (None, None, None):
        made.show()
    return ANSWERED


def _loaded(name: str) -> ModuleType:
    """A module that stands on the extra: it is not loaded before it is needed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        message = f"{missing.name} is not installed: run {install('eval')}"
        raise ConfigError(message) from missing
