"""Which repetitions of programs are useful and which are futile.

Those of plain calls are judged with the guard (`tests.guards`).
"""

from collections.abc import Sequence
from typing import Final

import pytest

from clew import NoProgress, Trajectory
from clew.guards.no_progress import EARLY
from clew.testing.models import Move, act
from clew_code.programs import run_code
from tests.guards import worlds
from tests.guards.worlds import ROUNDS, SEARCH, rounds, stopped


def program(code: str) -> Move:
    return act("run_code", code=code)


USEFUL: Final[dict[str, Sequence[Move]]] = {
    "mend a program that reads the same file": [
        program(f"text = read_file('a.py')\nprint(text, {n})") for n in range(ROUNDS)
    ],
    "mend a program that makes two look-ups": [
        program(f"print(search('mill'), open_note('doc_1'), {n})") for n in range(ROUNDS)
    ],
    "run a program that presses": rounds(program("print(press('down'))")),
    "press many times in a program": [program("for _ in range(9):\n    press('down')\nprint('x')")],
    "read in programs what a call has read": [SEARCH, SEARCH, program("print(search('mill'))")],
    "poll in a program": [program("while 'done' not in job():\n    pass\nprint(1)")],
}

FUTILE: Final[dict[str, Sequence[Move]]] = {
    "a program that only reads": rounds(program("print(read_file('a.py'))")),
    "a program without calls": rounds(program("print(1)")),
    "a loop in a program": [program("while True:\n    search('mill')"), *rounds(SEARCH, number=1)],
}


async def played(moves: Sequence[Move], guard: NoProgress) -> Trajectory:
    return await worlds.played(moves, guard, run_code())


@pytest.mark.parametrize("guard", [NoProgress(), EARLY], ids=["late", "early"])
@pytest.mark.parametrize("name", USEFUL)
async def test_a_useful_repetition_is_let_be(name: str, guard: NoProgress) -> None:
    early_polls = guard is EARLY and name.startswith("poll")  # what polls is named as such then
    guard = NoProgress(polling=frozenset({"job"})) if early_polls else guard
    assert not stopped(await played(USEFUL[name], guard))


MENDED: Final[dict[str, str]] = {
    "another print": "text = read_file('a.py')\nprint(text, {n})",
    "another comment and sum": "text = read_file('a.py')\nprint(len(text) + {n})  # {n}",
    "another slice": "print(read_file('a.py')[{n}:])",
    "another name": "found_{n} = search('mill')\nprint(found_{n}, {n})",
    "another note behind": "print(search('mill'), open_note(f'doc_{n}'))",
    "the look-up in a function": "def look():\n    return search('mill')\nprint(look(), {n})",
    "the look-up in a loop": "for word in ['mill', 'old']:\n    print(search(word), {n})",
    "mended where it failed": "text = read_file('a.py')\nprint(text['{n}'])",
    "mended where it cannot be read": "print(read_file('a.py'), {n}",
    "with a sum beside": "print(calc('1 + 1'), calc('{n} + 1'))",
    "two files": "print(list_files(), read_file('a.py'), {n})",
}


@pytest.mark.parametrize("guard", [NoProgress(), EARLY], ids=["late", "early"])
@pytest.mark.parametrize("code", MENDED.values(), ids=MENDED)
async def test_a_mended_program_is_not_its_predecessor(code: str, guard: NoProgress) -> None:
    """What it asked for inside came before, and it says something else."""
    moves = [program(code.replace("{n}", str(n))) for n in range(ROUNDS)]
    assert not stopped(await played(moves, guard))


@pytest.mark.parametrize("guard", [NoProgress(), EARLY], ids=["late", "early"])
@pytest.mark.parametrize("name", FUTILE)
async def test_a_futile_repetition_is_stopped(name: str, guard: NoProgress) -> None:
    assert stopped(await played(FUTILE[name], guard))
