"""The gold set: tasks over a folder of notes about a small invented world, all of it offline.

Beside it lies a second set, `foreign`: questions over notes of thirty kinds in seven languages. The
offline rules were written beside the first, whose figure flatters them.
"""

from pathlib import Path
from typing import Final

from clew.evals.dataset import read_dataset
from clew.evals.world import World

__all__ = ["FOREIGN", "NOTES", "QUESTIONS", "TASKS", "foreign", "gold"]

NOTES: Final = Path(__file__).with_name("notes")
"""The folder of notes; an agent is given it with `docs_tools(NOTES)`, or `docs` in its file."""

TASKS: Final = Path(__file__).with_name("tasks.jsonl")
"""The tasks, a dataset as any other."""

FOREIGN: Final = Path(__file__).with_name("foreign")
"""Notes of other kinds: minutes, recipes, logs, tables, leases, in seven languages."""

QUESTIONS: Final = Path(__file__).with_name("foreign.jsonl")
"""The questions over them."""


def gold() -> World:
    """The world "gold": the tasks, without any environment, for an agent that can search `NOTES`.

    In its `extra` each has a `script`, what a good model does with the tools `docs`, `calc` and
    `planner`, and in `wrong` whole answers that it might wrongly give: simulated models play them.
    """
    return World("gold", tuple(read_dataset(TASKS)))


def foreign() -> World:
    """The world "foreign": 204 questions over the notes `FOREIGN`, a quarter without an answer."""
    return World("foreign", tuple(read_dataset(QUESTIONS)))
