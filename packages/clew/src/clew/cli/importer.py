"""`clew records import`: the runs of an archive come into the store."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

import anyio
import click
import msgspec

from clew import StoreError, read
from clew.agent_files import is_foreign
from clew.cli.errors import ANSWERED, FAILED
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.progress import count, progress
from clew.cli.safe_text import inert, json_text, say
from clew.interfaces import Store
from clew.retention import Imported, import_runs
from clew.stores import store_at

FOREIGN = (
    "clew: some of these runs were not begun by you on this machine: what their records name is "
    "shown (clew show RUN), and not made without --trust-origin"
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
    done, foreign = anyio.run(partial(_import, file, store))
    if as_json:
        say(json_text(msgspec.to_builtins(done)))
    else:
        _report(done)
    if foreign:
        say(FOREIGN, err=True)
    return FAILED if done.refused or done.missing or not done.complete else ANSWERED


async def _import(file: str, store: str | None) -> tuple[Imported, bool]:
    async with store_at(store) as opened:
        with progress("importing") as show:
            source = sys.stdin.buffer if file == "-" else file
            done = await import_runs(
                source, store=opened, on_run=lambda number, run_id: show(number, 0, run_id)
            )
        return done, await _has_foreign(opened, done.runs)


async def _has_foreign(store: Store, runs: Iterable[str]) -> bool:
    """Whether somebody else began any of them."""
    for run_id in runs:
        with suppress(StoreError):  # one that lost a blob is told as that, and does not go on
            if is_foreign(await read(run_id, store=store)):
                return True
    return False


def _report(done: Imported) -> None:
    for told in done.refused:
        say(inert(f"clew: {told.run_id or '?'} is refused: {told.why}"), err=True)
    for told in done.missing:
        name = told.run_id or "something"
        say(inert(f"clew: {name} could not be read whole: {told.why}"), err=True)
    if not done.complete:
        say(
            "clew: the archive is not whole: it ends early, or runs that it had are not in it",
            err=True,
        )
    there = f", {count(len(done.there), 'run')} there already" if done.there else ""
    say(f"{count(len(done.runs), 'run')} imported{there}")
