"""`docs/durability.md`, from the parts that were measured."""

import os
import platform
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from durability.nursery import ROOT
from recordings.part import Part
from recordings.report import cases_of, section

PAGE: Final[Path] = ROOT / "docs" / "durability.md"

MACHINE: Final = "Measured on {cores} cores, Linux {system}, Python {python}, SQLite {sqlite}.\n"

INTRODUCTION: Final = """\
# Durability: killed, frozen and damaged

`make durability` writes this page, and fails if a figure misses its aim. It tests the
[contract of the record](record.md). Only the model is simulated, by a script in the process: the
workers are real processes that are killed, the stores are real files and a real PostgreSQL, and
effects are counted in a file outside of clew. The tests contain a short version of every part
(`tests/durability/`).
"""


def page(parts: Sequence[Part]) -> str:
    """The page in Markdown."""
    machine = MACHINE.format(
        cores=os.cpu_count(),
        system=platform.release().partition("-")[0],
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
    )
    told = (
        text for part in parts for text in (section(part), cases_of(part) if part.misses else "")
    )
    return "\n".join([INTRODUCTION, machine, *filter(None, told)])
