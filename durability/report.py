"""`docs/durability.md`, from the parts that were measured."""

import os
import platform
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from durability.nursery import ROOT
from recordings.part import Part
from recordings.report import section

PAGE: Final[Path] = ROOT / "docs" / "durability.md"

MACHINE: Final = "Measured on {cores} cores, Linux {system}, Python {python}, SQLite {sqlite}.\n"

INTRODUCTION: Final = """\
# Durability: killed, frozen, torn, and what is left

`make durability` writes this page, and fails where a figure misses its aim. Nothing in it is
simulated but the model, which is a script in the process: the workers are processes that are really
killed, the stores are real files and a real PostgreSQL, and effects are counted in a file that no
worker of clew owns. What the contract is that this holds clew to: [record.md](record.md). A short
form of every part is among the tests (`tests/durability/`).
"""


def page(parts: Sequence[Part]) -> str:
    """The page in Markdown."""
    machine = MACHINE.format(
        cores=os.cpu_count(),
        system=platform.release().partition("-")[0],
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
    )
    return "\n".join([INTRODUCTION, machine, *(section(part) for part in parts)])
