"""What the research scripts stand on: a library that takes a moment for each look-up.

`look_up` writes down when it begins and ends. Where a file `kill` names a city, its look-up dies
once the four others of the step have ended, before anybody hears of it.
"""

import os
import signal
import time
from pathlib import Path

PEOPLE = {"Vienna": 2.0, "Berlin": 3.7, "Paris": 2.1, "Rome": 2.8, "Madrid": 3.4}
"""Millions of people in cities, as the passages have it."""
MOMENT = 0.3
"""Seconds that a look-up takes."""
LOG = Path("looked.txt")
KILL = Path("kill")


def look_up(city: str) -> str:
    """Give the passage about a city."""
    _note(f"begin {city}")
    time.sleep(MOMENT)
    if KILL.exists() and KILL.read_text() == city:
        while LOG.read_text().count("end") < len(PEOPLE) - 1:
            time.sleep(MOMENT / 10)
        time.sleep(MOMENT)  # so that what was given to the others can be kept
        KILL.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    _note(f"end {city}")
    return f"{city} has {PEOPLE.get(city, 1.0)} million people."


def _note(line: str) -> None:
    with LOG.open("a") as file:
        file.write(f"{line}\n")
