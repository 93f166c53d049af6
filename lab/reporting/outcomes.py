"""What was measured, as data: `lab/reports/outcomes/REPORT.json`, a section for each measurement.

A program that measures gives its section as Markdown or as parts with aims, and `keep` stores it.
Reports, charts and the list of headline figures are made from these files alone.
"""

import os
import platform
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from recordings.part import Figure, Part

REPORTS: Final = Path(__file__).resolve().parents[1] / "reports"
OUTCOMES: Final = REPORTS / "outcomes"
IMAGES: Final = REPORTS / "images"


class Table(msgspec.Struct):
    """A table: its columns, and the cells of each row."""

    columns: list[str]
    rows: list[list[str]]


class Section(msgspec.Struct, omit_defaults=True):
    """One measurement: the command that makes it, when and where it was made, and what came out."""

    command: str
    measured: str
    blocks: list[str | Table] = []
    parts: list[Part] = []

    @property
    def tables(self) -> list[Table]:
        """Its tables, in order."""
        return [block for block in self.blocks if isinstance(block, Table)]


Outcomes = dict[str, Section]


def here() -> str:
    """Today, and what this machine is."""
    system = platform.release().partition("-")[0]
    return (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} cores, "
        f"{platform.system()} {system}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}"
    )


def read(report: str) -> Outcomes:
    """The sections of a report, by name; none where nothing was measured."""
    path = OUTCOMES / f"{report}.json"
    return msgspec.json.decode(path.read_bytes(), type=Outcomes) if path.exists() else {}


def keep(report: str, name: str, section: Section) -> None:
    """Store a section in the place of the one before it."""
    written = msgspec.json.encode(read(report) | {name: section})
    path = OUTCOMES / f"{report}.json"
    path.write_bytes(msgspec.json.format(written, indent=1) + b"\n")


def of_markdown(command: str, text: str, measured: str = "") -> Section:
    """A section of what a program writes in Markdown, with its tables as data."""
    return Section(command, measured or here(), list(_blocks(text)))


def of_parts(command: str, parts: Sequence[Part], measured: str = "") -> Section:
    """A section of parts that have aims."""
    return Section(command, measured or here(), parts=list(parts))


def _blocks(text: str) -> Iterator[str | Table]:
    for block in re.split(r"\n{2,}", text.strip()):
        lines = block.splitlines()
        if len(lines) > 1 and re.fullmatch(r"\|(?:\s*:?-+:?\s*\|)+", lines[1]):
            columns, _, *rows = map(_cells, lines)
            yield Table(columns, rows)
        else:
            yield block


def _cells(line: str) -> list[str]:
    """The cells of a row; a bar that is part of a text has a backslash before it."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def markdown(section: Section) -> str:
    """A section's blocks in Markdown."""
    return "\n\n".join(
        block if isinstance(block, str) else "\n".join(_lines(block)) for block in section.blocks
    )


def _lines(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.columns)} |"
    yield "|---" * len(table.columns) + "|"
    yield from (f"| {' | '.join(row)} |" for row in table.rows)


def cell(table: Table, row: str, column: str) -> str:
    """The cell of the first row that begins with these words, without emphasis."""
    at = table.columns.index(column)
    row_cells = next(cells for cells in table.rows if cells[0].strip("*` ").startswith(row))
    return row_cells[at].strip("*` ")


def table_with(section: Section, column: str, word: str) -> Table:
    """The first table with a first column of this name, whose cells have this word."""
    return next(
        table for table in section.tables if table.columns[0] == column and word in table.rows[0][1]
    )


def number(text: str) -> float:
    """The number that a cell begins with."""
    match = re.match(r"\W*?(-?[\d,]+(?:\.\d+)?)", text)
    if match is None:
        raise ValueError(f"no number in {text!r}")
    return float(match[1].replace(",", ""))


def share(text: str, *, exact: bool = False) -> float:
    """The share in the brackets of `728 (98.4%)`, or of `45 (0.474; …)` where it is exact."""
    matches = re.search(r"\(\W*([\d.]+)", text)
    if matches is None:
        raise ValueError(f"no share in {text!r}")
    return float(matches[1]) / (1 if exact else 100)


def figure(parts: Sequence[Part], what: str) -> Figure:
    """The figure of this name, of whichever part has it. Raises `ValueError`."""
    for part in parts:
        for each in part.figures:
            if each.what == what:
                return each
    raise ValueError(f"no figure {what!r}")
