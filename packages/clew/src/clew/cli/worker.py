"""`clew worker`: work on the runs that were submitted."""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import anyio
import click

from clew import ConfigError
from clew.agent_files import read_agent_file
from clew.cli.errors import ANSWERED, FAILED, INTERRUPTED
from clew.cli.groups import import_extra
from clew.cli.options import AT_ONCE, DEBUG, JSON, QUEUE, STORE, TRUST_ORIGIN
from clew.cli.progress import of_many
from clew.cli.safe_text import json_text, say
from clew.cli.store_option import shared_location
from clew.cli.worker_signals import finish_on_signals
from clew.operations import Operations, operate
from clew.support.printable import inert
from clew.support.short_text import one_line
from clew.support.street import names_of
from clew.support.wings import WORKERS, names
from clew.workers import WorkerConfig, WorkerEvent

GOAL = 60

EPILOG = """\b
Examples:
  clew worker
  clew worker --agent support.toml --queue support --at-once 4
  clew worker --until-idle

\b
On Ctrl-C or SIGTERM it finishes the current step of each run, then releases
it; a second Ctrl-C stops at once. Exit codes: 0, 2 usage, 5 if a run failed
with --until-idle, 130 stopped at once.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--agent",
    "agents",
    metavar="AGENT",
    multiple=True,
    type=click.Path(),
    help="An agent file, or module:name. Repeatable. Other agents are made from your own records.",
)
@click.option("--only", is_flag=True, help="Use no agents but those of --agent.")
@click.option(
    "--accept-change",
    is_flag=True,
    help="Continue runs of an earlier form of an agent with that of --agent which is nearest.",
)
@TRUST_ORIGIN
@QUEUE
@AT_ONCE
@click.option("--name", metavar="NAME", help="The worker's name.  [default: machine and process]")
@click.option("--until-idle", is_flag=True, help="Exit when nothing is left to do.")
@click.option(
    "--take-over",
    is_flag=True,
    help="At the start, take the runs of other workers, for example of one that hangs.",
)
@click.option(
    "--day-cost", metavar="USD", type=float, help="What the queue may spend in a day (UTC)."
)
@click.option("--day-tokens", metavar="N", type=int, help="The same, in tokens.")
@click.option(
    "--driver",
    type=click.Choice(sorted({*names(WORKERS), *names_of(WORKERS)})),
    default="local",
    help="What executes the runs.  [default: local, which is this process]",
)
@click.option("--health", metavar="[HOST:]PORT", help="Answer /healthz, /readyz and /metrics.")
@click.option(
    "--on-held",
    metavar="CMD|URL",
    help="Whom to tell of a held run: JSON on stdin, or signed POST.",
)
@click.option("--otel", is_flag=True, help="Send spans and metrics to a collector, over OTLP/HTTP.")
@click.option(
    "--log", type=click.Choice(["json"]), help="Write a dated line of JSON for each event, instead."
)
@STORE
@JSON
@DEBUG
def worker(
    agents: tuple[str, ...],
    store: str | None,
    name: str | None,
    health: str | None,
    on_held: str | None,
    log: str | None,
    *,
    otel: bool,
    only: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Execute the runs of a queue.

    Several workers may share a store. Runs of a worker that stops or is killed are continued by
    others. A worker skips runs whose agent it does not have, and says so.
    """
    if only and not agents:
        message = "--only leaves no agents: name some with --agent."
        raise click.UsageError(message)
    if name is not None:
        options["name"] = name
    location = shared_location(store or store_of(agents))
    config = WorkerConfig(store=location, agents=agents, only=only, **options)
    printer = EventPrinter(as_json=as_json, silent=log is not None)
    with ExitStack() as stack:
        stack.enter_context(of_many())
        telemetry = stack.enter_context(_telemetry()) if otel else None
        operations = Operations(
            health=health or "", on_held=on_held or "", telemetry=telemetry,
            log=printer.say if log else None,
        )  # fmt: skip
        return anyio.run(_work, config, operations, printer)


def _telemetry() -> AbstractContextManager[Any]:
    """What OpenTelemetry is told, while it lasts."""
    exporting: Callable[[], AbstractContextManager[Any]] = import_extra(
        "clew.otel.telemetry", "otel"
    ).exporting
    return exporting()


def store_of(agents: Iterable[str]) -> str | None:
    """The store named by the agent files, if they agree."""
    files = (read_agent_file(agent) for agent in agents if agent.endswith(".toml"))
    asked = {spec.store for spec in files if spec.store}
    if len(asked) > 1:
        message = "the agent files name several stores: say with --store which to serve"
        raise ConfigError(message)
    return next(iter(asked), None)


class EventPrinter:
    """Prints the events of a worker, one per line; a closed stdout does not stop the worker."""

    def __init__(self, *, as_json: bool, silent: bool = False) -> None:
        self.as_json = as_json
        self.silent = silent
        self.failed = 0
        self.working: set[str] = set()

    def print_event(self, event: WorkerEvent) -> None:
        """Print an event of the worker."""
        self.failed += event.what in {"failed", "refused"}
        if event.what == "taken":
            self.working.add(event.run_id)
        else:
            self.working.discard(event.run_id)
        if self.silent:
            return
        if self.as_json:
            self.say(json_text({"what": event.what, "run_id": event.run_id, "text": event.text}))
            return
        text = one_line(inert(event.text), GOAL if event.what == "taken" else None)
        what = {"taken": "took up", "ended": "ended"}.get(event.what, event.what)
        parts = (time.strftime("%H:%M:%S"), f"{what:<8}", inert(event.run_id), text)
        self.say("  ".join(part for part in parts if part))

    def say(self, line: str) -> None:
        """Print a line, if anyone still reads."""
        try:
            say(line)
        except OSError:
            self.say = _print_nothing  # type: ignore[method-assign]  # the reader has closed the pipe


def _print_nothing(line: str) -> None:
    del line


async def _work(config: WorkerConfig, operations: Operations, printer: EventPrinter) -> int:
    """Execute runs until a signal, or until there are none; the exit code."""

    def on_health(port: int) -> None:
        say(f"clew: health is answered at port {port}", err=True)

    async def serve(leaving: anyio.Event) -> None:
        await operate(
            config, operations, on_event=printer.print_event, leaving=leaving, on_health=on_health
        )

    if not await finish_on_signals(serve, printer.working):
        return INTERRUPTED
    return FAILED if config.until_idle and printer.failed else ANSWERED
