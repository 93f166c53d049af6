"""How a run goes on: by a worker, a command, or the program that began it."""

from clew import ConfigError, Trajectory
from clew.agent_files import spec_of
from clew.cli.store_option import command
from clew.support.printable import inert
from clew.workers import queue_of


def continue_hint(root: Trajectory, *further: str, store: str | None) -> str:
    """What goes on with a run: words that may follow "then" and "go on with".

    `further` are options of the command. A run of a program has no description of its agent, so
    no command can go on with it.
    """
    again = command("resume", root.run_id, *further, store=store)
    if queue := queue_of(root):
        return f"a worker of the queue {inert(queue)} goes on with it, or: {again}"
    if not is_described(root):
        return f"the program that began it: resume(agent, {inert(root.run_id)!r})"
    return again


def is_described(root: Trajectory) -> bool:
    """Whether the record says what its agent is made of, also where this clew cannot read it."""
    try:
        return spec_of(root) is not None
    except ConfigError:
        return True
