"""How often the rules of the strategy `auto` choose the way that suits a task.

    python -m benchmarks.choices          # both halves of the tasks, as a table
    python -m benchmarks.choices --seen   # what went wrong in the half that the rules were made by

`tasks.tsv` has tasks of ours: they and their labels were written before the rules. Others come from
BFCL v4 (Berkeley function calling leaderboard), where the recordings are ($CLEW_RECORDINGS): its
categories say whether one call answers a request, or several that do not need each other. Which
half a task is in, its hash says.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from clew_strategies import GOOD_FOR, choose
from recordings.data import missing, records

TASKS: Final = Path(__file__).with_name("tasks.tsv")
WAYS: Final = [name for name in GOOD_FOR if name != "reflexion"]
"""A test that can check the answer is no matter of words: where there is one, it decides."""


class Task(NamedTuple):
    """A task, the way that suits it, and who says so."""

    text: str
    label: str
    source: str

    @property
    def seen(self) -> bool:
        """Whether the rules were made by looking at it."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0

    @property
    def chosen(self) -> str:
        """What the rules choose."""
        return choose(self.text, WAYS).name


def tasks() -> Iterator[Task]:
    """All tasks, ours first."""
    for line in TASKS.read_text("utf-8").splitlines():
        label, text = line.split("\t")
        yield Task(text, label, "ours")
    for record in records("bfcl-single"):
        contents = [turn["content"] for turn in record["task"][0] if turn["role"] == "user"]
        if "relevance" not in record["category"]:  # of those no call answers it
            label = "rewoo" if "parallel" in record["category"] else "react"
            yield Task(" ".join(contents), label, "BFCL")


def figures() -> Iterator[str]:
    """How many are chosen right, by source, label and half."""
    yield "| tasks | suits | seen | right | not seen | right |"
    yield "|---|---|---|---|---|---|"
    every = list(tasks())
    for source, label in dict.fromkeys((task.source, task.label) for task in every):
        some = [task for task in every if (task.source, task.label) == (source, label)]
        yield _row(f"{source} | `{label}`", some)
    for source in dict.fromkeys(task.source for task in every):
        yield _row(f"{source} | all", [task for task in every if task.source == source])


def _row(head: str, some: list[Task]) -> str:
    cells: list[str] = []
    for seen in (True, False):
        half = [task for task in some if task.seen is seen]
        right = sum(task.chosen == task.label for task in half)
        cells.append(f"{len(half)} | {right} ({right / len(half):.0%})")
    return f"| {head} | {' | '.join(cells)} |"


def mistakes() -> Iterator[str]:
    """What the rules choose otherwise, in the half that they were made by."""
    for task in tasks():
        if task.seen and task.chosen != task.label:
            yield f"{task.label:>12} -> {task.chosen:<12} {' '.join(task.text.split())[:120]}"


if __name__ == "__main__":
    print("\n".join(mistakes() if "--seen" in sys.argv else figures()))
    if why := missing():
        print(f"BFCL is left out: {why}", file=sys.stderr)
