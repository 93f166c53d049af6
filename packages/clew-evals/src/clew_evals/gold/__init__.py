"""The gold set: tasks over a folder of notes about a small invented world, all offline.

A second set, `foreign`, has questions over notes of thirty kinds in seven languages, because the
offline rules were written beside the first, whose figure flatters them.
"""

from pathlib import Path
from typing import Final

from clew_evals.dataset import read_dataset
from clew_evals.world import World

__all__ = ["FOREIGN", "NOTES", "QUESTIONS", "TASKS", "foreign", "gold"]

NOTES: Final = Path(__file__).with_name("notes")
"""The folder of notes; give it to an agent with `docs_tools(NOTES)`, or `docs` in its file."""

TASKS: Final = Path(__file__).with_name("tasks.jsonl")
"""The tasks, as a dataset."""

FOREIGN: Final = Path(__file__).with_name("foreign")
"""Notes of other kinds: minutes, recipes, logs, tables, leases, in seven languages."""

QUESTIONS: Final = Path(__file__).with_name("foreign.jsonl")
"""The questions over them."""


def gold() -> World:
    """The world "gold": the tasks, without an environment, for an agent that can search `NOTES`.

    The `extra` of each has a `script` (what a good model does with `docs`, `calc` and `planner`)
    and `wrong` (whole wrong answers); simulated models play them.
    """
    return World("gold", tuple(read_dataset(TASKS)))


def foreign() -> World:
    """The world "foreign": 204 questions over the notes `FOREIGN`, a quarter without an answer."""
    return World("foreign", tuple(read_dataset(QUESTIONS)))
