"""How a run goes on: by a worker, a command, or the program that began it."""

from clew import Trajectory
from clew.agent_files.origin import origin_of
from clew.cli.places import command
from clew.cli.safe_text import inert
from clew.workers import queue_of


def way_on(root: Trajectory, *further: str, store: str | None) -> str:
    """What goes on with a run: words that may follow "then" and "go on with".

    `further` are options of the command. A run of a program has no description of its agent, so
    no command can go on with it.
    """
    again = command("resume", root.run_id, *further, store=store)
    if queue := queue_of(root):
        return f"a worker of the queue {inert(queue)} goes on with it, or: {again}"
    if not origin_of(root):
        return f"the program that began it: resume(agent, {inert(root.run_id)!r})"
    return again
