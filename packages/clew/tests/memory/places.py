"""What the bytes of a file of memories say, and processes that die while they write it."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[4]

DYING = """
import os, sqlite3, sys

path, work, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
statements = 0

class Dying(sqlite3.Connection):
    '''Ends the process, as a power cut would, in the place of one of its statements.'''
    def execute(self, *given):
        global statements
        statements += 1
        if statements == last:
            os._exit(9)
        return super().execute(*given)

real = sqlite3.connect

def connect(place, *given, **more):  # what else writes such files, as coverage does, goes on
    kind = Dying if str(place) == path else sqlite3.Connection
    return real(place, *given, factory=kind, **more)

sqlite3.connect = connect

from clew.memory import MemorySource, SqliteMemory
memories = SqliteMemory(path)
exec(work)
memories.close()
print(statements)
"""


def dies(path: Path, work: str, statement: int) -> bool:
    """Do the work on `memories` in a process that ends at its n-th statement, if it has so many."""
    command = [sys.executable, "-c", DYING, str(path), work, str(statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode in {0, 9}, done.stderr
    return done.returncode == 9


def traces(path: Path, texts: Iterable[str], least: int = 5) -> list[str]:
    """The words of these texts that stand in the file, or in one beside it, by their first letters.

    So they are found as they were written, as they are indexed, and cut to their stems.
    """
    raw = b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*")).lower()
    words = {word[:least].lower() for text in texts for word in re.findall(r"\w+", text)}
    return sorted(word for word in words if len(word) == least and word.encode() in raw)
