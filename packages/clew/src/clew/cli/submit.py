"""`clew submit`: a question that a worker answers."""

import shlex
from functools import partial
from typing import Final, NamedTuple

import anyio
import click

from clew import Entry, Question, Trajectory, follow, result_of, submit
from clew.agent_files import Spec, origin
from clew.cli.agents import Assembled, assemble, options
from clew.cli.errors import ANSWERED
from clew.cli.options import (
    ATTACH,
    DEBUG,
    JSON,
    LABEL,
    OWNER,
    QUESTION,
    QUEUE,
    QUIET,
    STORE,
    Attached,
    agent_options,
    with_attached,
)
from clew.cli.outcome import ShownResult, finish
from clew.cli.render import TextBlock
from clew.cli.run_here import unless_interrupted
from clew.cli.safe_text import json_text, say
from clew.cli.screen import RunScreen, watching
from clew.cli.store_option import command, shared_location
from clew.interfaces import Json, Store
from clew.stores import store_at, without_password

PATIENCE: Final = 3.0
"""Seconds after which it is said that no worker has taken up the run."""

EPILOG = """\b
Examples:
  clew submit "What is 17 * 23?"
  clew submit "Who keeps the lighthouse?" --docs ~/notes --wait
  clew submit "…" --queue nightly

\b
It prints the run's id. `clew worker` executes the run, here or elsewhere.
"""


@click.command("submit", epilog=EPILOG)
@QUESTION
@ATTACH
@QUEUE
@LABEL
@OWNER
@click.option(
    "--priority", metavar="N", type=int, default=0,
    help="Come as soon as a run that waited N minutes longer.  [default: 0]",
)  # fmt: skip
@click.option("--wait", is_flag=True, help="Show the run while a worker executes it, to its end.")
@agent_options
@STORE
@JSON
@QUIET
@DEBUG
def submit_command(
    question: str,
    attached: Attached,
    queue: str,
    store: str | None,
    labels: dict[str, str],
    owner: str | None,
    priority: int,
    *,
    wait: bool,
    as_json: bool,
    quiet: bool,
    **arguments: Json,
) -> int:
    """Create a run for QUESTION, and leave it to the workers of the queue.

    If QUESTION is -, it is read from stdin. With --wait the exit codes are those of `clew ask`;
    Ctrl-C then ends only the waiting.
    """
    wanted, asked = options(arguments), with_attached(question, attached)
    with watching(as_json=as_json, quiet=quiet) as screen:
        whose = Whose(labels, owner, priority)
        submitting = partial(_submit, asked, wanted, queue, screen, whose, store=store, wait=wait)
        end = anyio.run(submitting)
    if isinstance(end, ShownResult):
        return finish(end, as_json=as_json)
    say(json_text({"run_id": end, "queue": queue}) if as_json else end)
    return ANSWERED


class Whose(NamedTuple):
    """What is said of a run to find it again, and when it is to be taken up."""

    labels: dict[str, str]
    owner: str | None
    priority: int = 0


async def _submit(
    question: Question,
    spec: Spec,
    queue: str,
    screen: RunScreen,
    whose: Whose,
    *,
    store: str | None,
    wait: bool,
) -> ShownResult | str:
    made = await assemble(spec, screen)
    store = store or made.spec.store or None
    async with store_at(shared_location(store)) as opened:
        run_id = await submit(
            made.agent, question, store=opened, queue=queue, origin=origin(made.spec),
            labels=whose.labels, owner=whose.owner, priority=whose.priority,
        )  # fmt: skip
        if not wait:
            return run_id
        screen.put(TextBlock("Submitted", f"{run_id}, to the queue {queue}", "dim"))
        return await _wait(made, run_id, queue, opened, screen, store=store)


async def _wait(
    made: Assembled, run_id: str, queue: str, opened: Store, screen: RunScreen, *, store: str | None
) -> ShownResult:
    """Follow the run to its end, which is the worker's doing."""
    record = screen.trajectory = Trajectory(run_id)
    screen.doing("waiting for a worker")

    async def remind() -> None:
        await anyio.sleep(PATIENCE)
        if len(record.entries) == 1:  # the question alone
            where = ("--store", without_password(store)) if store else ()
            start = shlex.join(["clew", "worker", "--queue", queue, *where])
            screen.put(TextBlock("Waiting", f"no worker has taken it up yet; start one: {start}"))

    async def watch() -> bool:
        async with anyio.create_task_group() as group:
            group.start_soon(remind)
            async for item in follow(run_id, store=opened):
                if isinstance(item, Entry):
                    record.add(item)
                    screen.entry(item)
            group.cancel_scope.cancel()
        return True

    if await unless_interrupted(watch):
        result = await result_of(made.agent, run_id, store=opened)
        return ShownResult(
            record, result, store=store, why=made.why, references=made.spec.references
        )
    left = KeyboardInterrupt()
    left.add_note(f"the run goes on without you: {command('show', run_id, store=store)}")
    return ShownResult(
        record, None, store=store, why=made.why, error=left, reason="no longer waited for"
    )
