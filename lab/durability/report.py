"""`docs/durability.md`, from the parts that were measured."""

import os
import platform
import re
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

`make durability` writes this page, and fails if a figure misses its aim;
`python -m durability --update --parts NAMES` measures some parts anew. It tests the
[contract of the record](record.md). Only the model is simulated, by a script in the process: the
workers are real processes that are killed, the stores are real files and a real PostgreSQL, and
effects are counted in a file outside of clew. The tests contain a short version of every part
(`lab/tests/durability/`).
"""


def page(parts: Sequence[Part]) -> str:
    """The page in Markdown."""
    return "\n".join([_head(), *map(_told, parts)])


def updated(text: str, parts: Sequence[Part]) -> str:
    """The page with these parts in place of what it says of them; new ones come last."""
    _, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    told = {section.partition("\n")[0]: section.strip("\n") for section in sections}
    told |= {f"## {part.title}": _told(part).strip("\n") for part in parts}
    return "\n".join([_head(), "\n\n".join(told.values()), ""])


def is_of_this_machine(text: str) -> bool:
    """Whether a page was measured on a machine like this one."""
    return _machine() in text


def _told(part: Part) -> str:
    return "\n".join([section(part), *([cases_of(part)] if part.misses else ())])


def _head() -> str:
    return f"{INTRODUCTION}\n{_machine()}"


def _machine() -> str:
    return MACHINE.format(
        cores=os.cpu_count(),
        system=platform.release().partition("-")[0],
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
    )
