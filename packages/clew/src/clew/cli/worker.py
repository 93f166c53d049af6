"""`clew worker`: work on the runs that were submitted."""

import time
from collections.abc import Iterable
from typing import Any

import anyio
import click

from clew import ConfigError
from clew.agent_files import read_agent_file
from clew.cli.errors import ANSWERED, FAILED, INTERRUPTED
from clew.cli.options import AT_ONCE, DEBUG, JSON, QUEUE, STORE, TRUST_ORIGIN
from clew.cli.progress import of_many
from clew.cli.safe_text import inert, json_text, say
from clew.cli.store_option import shared_location
from clew.cli.worker_signals import finish_on_signals
from clew.support.short_text import one_line
from clew.support.street import names_of
from clew.support.wings import WORKERS, names
from clew.workers import WorkerConfig, WorkerEvent, work

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
    "--driver",
    type=click.Choice(sorted({*names(WORKERS), *names_of(WORKERS)})),
    default="local",
    help="What executes the runs.  [default: local, which is this process]",
)
@STORE
@JSON
@DEBUG
def worker(
    agents: tuple[str, ...],
    store: str | None,
    name: str | None,
    *,
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
    printer = EventPrinter(as_json=as_json)
    with of_many():
        return anyio.run(_work, config, printer)


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

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.failed = 0
        self.working: set[str] = set()

    def print_event(self, event: WorkerEvent) -> None:
        """Print an event of the worker."""
        self.failed += event.what in {"failed", "refused"}
        if event.what == "taken":
            self.working.add(event.run_id)
        else:
            self.working.discard(event.run_id)
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


async def _work(config: WorkerConfig, printer: EventPrinter) -> int:
    """Execute runs until a signal, or until there are none; the exit code."""

    async def serve(leaving: anyio.Event) -> None:
        await work(config, on_event=printer.print_event, leaving=leaving)

    if not await finish_on_signals(serve, printer.working):
        return INTERRUPTED
    return FAILED if config.until_idle and printer.failed else ANSWERED
