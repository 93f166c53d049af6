"""`lab/reports/README.md`: every headline figure, with the command that makes it again.

Which figures these are stands in `headlines.toml`; their values come from the outcomes on file.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.measure import Row
from benchmarks.report import RESULTS, target, with_unit
from live import outcomes
from live.configurations import BASE
from live.figures import Row as Group
from live.forms import current
from live.outcomes import of
from recordings.__main__ import kept
from reporting.outcomes import figure, markdown, read

LIST: Final = Path(__file__).with_name("headlines.toml")

INTRODUCTION: Final = """\
# Reports

What was measured, by the programs of [the lab](../README.md), with the command that measures it
again. Each report says how, on what machine, and what falls short. Programs write all of it from
the outcomes in `outcomes/`; `python -m reporting` writes it again without measuring anything.

The commands run from a checkout, in its environment (`make check` sets it up, then
`source .venv/bin/activate`). An aim in brackets is what the figure has to meet.
"""


class Headline(msgspec.Struct, forbid_unknown_fields=True):
    """A figure: what it is of, what makes it again, and where its value stands.

    That is a row of `make bench` (`measured`), a figure of a part, a cell of a table (`row` is how
    the row begins; the last column where none is named), a line that a command printed (`line` is a
    word of it), or the outcomes of the small model.
    """

    what: str
    report: str
    command: str
    measured: str = ""
    figure: str = ""
    section: str = ""
    row: list[str] = []
    column: str = ""
    line: str = ""
    special: str = ""

    @property
    def value(self) -> str:
        """Its value, as the report has it."""
        if self.section and self.section not in read(self.report):
            return "not measured yet"
        if self.measured:
            return self._row_of_bench()
        if self.figure:
            return self._figure()
        if self.line:
            return self._line()
        return small_model() if self.special else self._cell()

    def _row_of_bench(self) -> str:
        rows = json.loads(RESULTS.read_text("utf-8"))["rows"]
        row = next(Row(**each) for each in rows if each["name"] == self.measured)
        aim = f" (aim: {target(row)})" if row.target is not None else ""
        return f"{with_unit(row, row.median)}{aim}"

    def _figure(self) -> str:
        parts = kept() if self.report == "evidence" else read(self.report)[self.section].parts
        try:
            results = figure(parts, self.figure)
        except ValueError:
            return "not measured yet"
        of_ = f" of {results.of}" if results.of.replace(",", "").isdigit() else f" ({results.of})"
        aim = f" (aim: {results.aim})" if results.aim and results.aim != results.of else ""
        return f"{results.got}{of_ if results.of else ''}{aim}"

    def _line(self) -> str:
        """The first line with this word, of what a command printed."""
        text = markdown(read(self.report)[self.section]).splitlines()
        results = next(
            each for each in text if re.search(rf"\b{self.line}\b", each) and each[0] != "|"
        )
        return " ".join(results.split())

    def _cell(self) -> str:
        table = read(self.report)[self.section].tables[0]
        plain = ([cell.strip("*` ") for cell in row] for row in table.rows)
        begins = [each.strip("`") for each in self.row]
        results = next(row for row in plain if all(map(str.startswith, row, begins)))
        return results[table.columns.index(self.column or table.columns[-1])]


def small_model() -> str:
    """How many of the unseen questions the small model answers under clew as it is."""
    results = current(outcomes.read())
    mine = Group(BASE, of(results, BASE, "unseen"))
    return f"{mine.right} of {len(mine.measurements)}: {mine.share}"


def headlines() -> list[Headline]:
    """All of them, in the order of the page."""
    listed = tomllib.loads(LIST.read_text("utf-8"))["headline"]
    return msgspec.convert(listed, list[Headline])


def text() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_table(), ""])


def _table() -> Iterator[str]:
    yield from ("| what | figure | made by | report |", "|---|---|---|---|")
    for each in headlines():
        report = f"[{each.report}]({each.report}.md)"
        yield f"| {each.what} | {each.value} | `{each.command}` | {report} |"
