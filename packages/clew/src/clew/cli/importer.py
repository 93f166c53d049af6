"""`clew records import`: the runs of an archive come into the store."""

import sys
from functools import partial

import anyio
import click
import msgspec

from clew.cli.errors import ANSWERED, FAILED
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.progress import count, progress
from clew.cli.safe_text import json_text, say
from clew.retention import Imported, import_runs
from clew.stores import store_at
from clew.support.printable import inert

FOREIGN = (
    "clew: what was imported counts as somebody else's: what these records name and are about to "
    "do is shown (clew show RUN), and not made without --trust-origin"
)


@click.command("import")
@click.argument("file", type=click.Path())
@STORE
@JSON
@DEBUG
def import_command(file: str, store: str | None, *, as_json: bool) -> int:
    """Import the runs of an archive into the store: FILE, or - for stdin.

    Each run is verified and keeps its id and hashes. A run that the store already has is skipped;
    if its entries differ, it is refused, and the others are imported. After an interruption, run
    the import again.
    """
    done = anyio.run(partial(_import, file, store))
    if as_json:
        say(json_text(msgspec.to_builtins(done)))
    else:
        _report(done)
    if done.runs:
        say(FOREIGN, err=True)
    return FAILED if done.refused or done.missing or not done.complete else ANSWERED


async def _import(file: str, store: str | None) -> Imported:
    async with store_at(store) as opened:
        with progress("importing") as show:
            source = sys.stdin.buffer if file == "-" else file
            return await import_runs(
                source, store=opened, on_run=lambda number, run_id: show(number, 0, run_id)
            )


def _report(done: Imported) -> None:
    for told in done.refused:
        say(inert(f"clew: {told.run_id or '?'} is refused: {told.why}"), err=True)
    for told in done.missing:
        name = told.run_id or "something"
        say(inert(f"clew: {name} could not be read whole: {told.why}"), err=True)
    if done.unsaid:
        count_of = count(len(done.unsaid), "run")
        say(f"clew: messages that waited for {count_of} were left out: say them again", err=True)
    if not done.complete:
        say(
            "clew: the archive is not whole: it ends early, or runs that it had are not in it",
            err=True,
        )
    there = f", {count(len(done.there), 'run')} there already" if done.there else ""
    say(f"{count(len(done.runs), 'run')} imported{there}")
