"""`docs/durability.md`, from the parts that were measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from durability.nursery import ROOT
from recordings.part import Part
from recordings.report import section

PAGE: Final[Path] = ROOT / "docs" / "durability.md"

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
    return "\n".join([INTRODUCTION, *(section(part) for part in parts)])
