"""`clew submit`: a question that a worker answers."""

import sys
from functools import partial

import anyio
import anyio.lowlevel
import click

from clew.agent_files import Spec, make_agent, make_library
from clew.api import store_at
from clew.cli.agents import options, origin, with_model
from clew.cli.ask import readable, tell_model, watching
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON, QUEUE, QUIET, STORE, agent_options
from clew.cli.outcome import Outcome, finish
from clew.cli.places import command, shared_place
from clew.cli.render import Shown
from clew.cli.screen import Screen
from clew.cli.visible import json_text
from clew.cli.work import unless_interrupted
from clew.core.agent import Agent
from clew.core.events import Json
from clew.core.interfaces import Store
from clew.core.result import whole_result
from clew.core.trajectory import Trajectory
from clew.workers.queue import follow, submit

EPILOG = """\b
Examples:
  clew submit "What is 17 * 23?"
  clew submit "Who keeps the lighthouse?" --docs ~/notes --wait
  clew submit "…" --queue nightly
\b
It prints the run's id. `clew worker` works on it, here or elsewhere.
"""


@click.command("submit", epilog=EPILOG)
@click.argument("question")
@QUEUE
@click.option("--wait", is_flag=True, help="Show the run as a worker carries it, to its end.")
@agent_options
@STORE
@JSON
@QUIET
@DEBUG
def submit_command(
    question: str,
    queue: str,
    store: str | None,
    *,
    wait: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **given: Json,
) -> int:
    """Begin a run for QUESTION and leave it to whoever serves the queue.

    With - as the question it is read from stdin. With --wait the exit codes are those of `clew
    ask`; Ctrl-C then only ends the waiting.
    """
    said = readable(sys.stdin.read() if question == "-" else question)
    wanted = options(given)
    with watching(as_json=as_json, quiet=quiet, debug=debug) as screen:
        end = anyio.run(partial(_submit, said, wanted, queue, screen, store=store, wait=wait))
    if isinstance(end, Outcome):
        return finish(end, as_json=as_json)
    click.echo(json_text({"run_id": end, "queue": queue}) if as_json else end)
    return ANSWERED


async def _submit(
    question: str, wanted: Spec, queue: str, screen: Screen, *, store: str | None, wait: bool
) -> Outcome | str:
    wanted, why = await with_model(wanted)
    tell_model(wanted, why)
    agent = make_agent(wanted, make_library(wanted))
    screen.warn(agent.warnings)
    store = store or wanted.store or None
    async with store_at(shared_place(store)) as place:
        await anyio.lowlevel.checkpoint()  # no record after a Ctrl-C while the parts were imported
        run_id = await submit(agent, question, store=place, queue=queue, origin=origin(wanted))
        if not wait:
            return run_id
        screen.put(Shown("Submitted", f"{run_id}, to the queue {queue}", "dim"))
        return await _wait(agent, run_id, place, screen, store=store, why=why)


async def _wait(
    agent: Agent, run_id: str, place: Store, screen: Screen, *, store: str | None, why: str
) -> Outcome:
    """Follow the run to its end, which is the worker's doing."""
    record = screen.so_far = Trajectory(run_id)
    screen.doing("waiting for a worker")

    async def watch() -> bool:
        async for entry in follow(run_id, store=place):
            record.add(entry)
            screen.entry(entry)
        return True

    if await unless_interrupted(watch):
        return Outcome(record, await whole_result(agent, record, place), store=store, why=why)
    left = KeyboardInterrupt()
    left.add_note(f"the run goes on without you: {command('show', run_id, store=store)}")
    return Outcome(record, None, store=store, why=why, error=left, reason="no longer waited for")
