"""`clew export`: a record for other tools."""

import importlib
import sys
from functools import partial

import anyio
import click

from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, RUN, STORE
from clew.cli.places import existing, find_run
from clew.errors import ConfigError
from clew.journal import load
from clew.models.resolve import hidden, reached
from clew.trajectory import Trajectory


@click.command(short_help="Send a record as OpenTelemetry spans.")
@RUN
@click.option("--otel", is_flag=True, required=True, help="As spans, over OTLP/HTTP.")
@click.option(
    "--endpoint",
    metavar="URL",
    default="",
    help="Where a collector takes them.  [default: $OTEL_EXPORTER_OTLP_ENDPOINT, "
    "or http://localhost:4318/v1/traces]",
)
@click.option("--content", is_flag=True, help="With texts, arguments and results.")
@STORE
@DEBUG
def export(
    run: str, endpoint: str, store: str | None, *, otel: bool, content: bool, debug: bool
) -> int:
    """Send the record of RUN to a collector: a span for each invocation, reply and call.

    Times are those of the record. Needs the extra `otel`.
    """
    del otel, debug
    if endpoint and reached(endpoint) is None:
        message = f"{hidden(endpoint)!r} is no address: give --endpoint http://host:4318/v1/traces"
        raise ConfigError(message)
    try:
        send = importlib.import_module("clew.otel.send").send
    except ModuleNotFoundError as missing:
        message = f"{missing.name} is not installed: run pip install 'clew[otel]'"
        raise ConfigError(message) from missing
    record = anyio.run(partial(_read, run, store))
    if sys.stderr.isatty():  # a collector that is not there is asked for some seconds
        click.echo("sending …", err=True)
    number: int = send(record, endpoint=endpoint, content=content)
    click.echo(f"sent {number} spans of run {record.run_id}")
    return ANSWERED


async def _read(run: str, store: str | None) -> Trajectory:
    async with existing(store) as place:
        return await load(place, await find_run(place, run))
