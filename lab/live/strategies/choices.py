"""`python -m live.strategies.choices`: the form that `auto` chooses by task, in `choices.jsonl`.

Its rules read the task and nothing else, so what it comes to can be composed of what the chosen
forms came to. They are kept on file, since not everybody has all tasks.
"""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from clew_strategies import GOOD_FOR, choose
from live.strategies.tasks import Task, listed, task

CHOICES: Final = Path(__file__).with_name("choices.jsonl")


class Choice(msgspec.Struct, frozen=True):
    """A task, the form that the rules choose for it, and why."""

    id: str
    form: str
    why: str


def chosen(asked: Task) -> Choice:
    """What the rules say; `code` is there, and `reflexion` where tests judge."""
    tested = asked.tests is not None
    ways = [name for name in GOOD_FOR if name != "reflexion" or tested]
    results = choose(asked.case.question, ways, tested=tested)
    return Choice(asked.listed.id, results.name, results.why)


@cache
def choices() -> dict[str, Choice]:
    """Those on file, by task."""
    lines = CHOICES.read_bytes().splitlines()
    return {one.id: one for one in (msgspec.json.decode(line, type=Choice) for line in lines)}


if __name__ == "__main__":
    made = (msgspec.json.encode(chosen(task(one))) + b"\n" for one in listed())
    CHOICES.write_bytes(b"".join(made))
