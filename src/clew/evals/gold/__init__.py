"""The gold set: tasks over a folder of notes about a small invented world, all of it offline."""

from pathlib import Path
from typing import Final

from clew.evals.dataset import read_dataset
from clew.evals.world import World

__all__ = ["NOTES", "TASKS", "gold"]

NOTES: Final = Path(__file__).with_name("notes")
"""The folder of notes; an agent is given it with `docs_tools(NOTES)`, or `docs` in its file."""

TASKS: Final = Path(__file__).with_name("tasks.jsonl")
"""The tasks, a dataset as any other."""


def gold() -> World:
    """The world "gold": the tasks, without any environment, for an agent that can search `NOTES`.

    In its `extra` each has a `script`, what a good model does with the tools `docs`, `calc` and
    `planner`, and in `wrong` whole answers that it might wrongly give: simulated models play them.
    """
    return World("gold", tuple(read_dataset(TASKS)))
