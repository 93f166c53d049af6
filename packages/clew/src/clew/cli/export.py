"""`clew records export`: runs for another store, a record for other tools."""

import sys
from collections.abc import Sequence
from functools import partial

import anyio
import click

from clew import ConfigError, Trajectory, read
from clew.cli.errors import ANSWERED, FAILED
from clew.cli.groups import import_extra
from clew.cli.offers import offers
from clew.cli.options import DEBUG, STORE, named
from clew.cli.progress import count, progress, size
from clew.cli.safe_text import say
from clew.cli.store_option import existing, find_run
from clew.retention import Exported, export_runs
from clew.support.printable import inert


@click.command()
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=offers("runs"))
@click.option(
    "--archive",
    metavar="FILE",
    callback=named,
    type=click.Path(),
    help="Write the runs (default: all) to this new file; - is stdout.",
)
@click.option("--otel", is_flag=True, help="Send RUN as OpenTelemetry spans, over OTLP/HTTP.")
@click.option(
    "--endpoint",
    metavar="URL",
    default="",
    help="The address of the collector.  [default: $OTEL_EXPORTER_OTLP_ENDPOINT, "
    "or http://localhost:4318/v1/traces]",
)
@click.option("--content", is_flag=True, help="Put texts, arguments and results into the spans.")
@STORE
@DEBUG
def export(
    runs: tuple[str, ...], archive: str | None, endpoint: str, store: str | None,
    *, otel: bool, content: bool,
) -> int:  # fmt: skip
    """Write runs to an archive for `clew records import`, or send one run as spans.

    An archive contains verified runs, with their sub-runs and the runs they were forked from. Runs
    that cannot be read are left out and named. There is a span for each invocation, reply and call,
    with the times of the record; spans need the extra `otel`.
    """
    if otel == (archive is not None):
        message = "say what is to become of it: --archive FILE or --otel"
        raise ConfigError(message)
    if archive is not None:
        if archive == "-" and sys.stdout.isatty():
            raise ConfigError("an archive is not for a terminal: name a file, or send it to a pipe")
        return _report(anyio.run(partial(_archive, runs, archive, store)), archive)
    if len(runs) != 1:
        message = "--otel sends one run: name it"
        raise ConfigError(message)
    return _send(runs[0], endpoint, store, content=content)


async def _archive(runs: Sequence[str], archive: str, store: str | None) -> Exported:
    async with existing(store) as opened:
        wanted = [await find_run(opened, run) for run in runs]
        with progress("exporting") as show:
            to = sys.stdout.buffer if archive == "-" else archive
            return await export_runs(to, wanted or None, store=opened, on_run=show)


def _report(done: Exported, archive: str) -> int:
    """What was written, on stderr where the archive itself is on stdout."""
    for told in done.unreadable:
        how = ": " if told.run_id in done.runs else " is left out: "
        name = f"{told.run_id}{how}" if told.run_id else ""
        say(inert(f"clew: {name}{told.why}"), err=True)
    message = f"{count(len(done.runs), 'run')} exported, {size(done.bytes)}"
    say(message, err=archive == "-")
    return FAILED if done.unreadable else ANSWERED


def _send(run: str, endpoint: str, store: str | None, *, content: bool) -> int:
    send = import_extra("clew.otel.send", "otel").send
    record = anyio.run(partial(_read, run, store))
    if sys.stderr.isatty():  # a collector that is not there is asked for some seconds
        say("sending …", err=True)
    number: int = send(record, endpoint=endpoint, content=content)
    say(f"sent {number} spans of run {record.run_id}")
    return ANSWERED


async def _read(run: str, store: str | None) -> Trajectory:
    async with existing(store) as opened:
        return await read(await find_run(opened, run), store=opened)
