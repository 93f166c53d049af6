"""Tables of figures on a terminal, in parts where they are too wide."""

from collections.abc import Iterator
from typing import Final

from rich.table import Table as Grid
from rich.text import Text

from clew.support.printable import inert
from clew.support.short_text import one_line
from clew_evals import Column, Table

NAMES: Final = 2
"""So many columns say what a row is of: they stand in each part of a table."""


def grids(table: Table, width: int) -> Iterator[Grid]:
    """The table; where it is too wide in parts, each with the names of its rows."""
    rows = [[inert(one_line(cell)) for cell in row] for row in table.formatted_rows()]
    heads = [inert(column.name) for column in table.columns]
    wide = [
        2 + max(len(text) for text in (head, *(row[index] for row in rows)))
        for index, head in enumerate(heads)
    ]
    parts: list[list[int]] = [[]]
    for index in range(NAMES, len(heads)):
        taken = sum(wide[:NAMES]) + sum(wide[one] for one in parts[-1])
        if parts[-1] and taken + wide[index] > width:
            parts.append([])
        parts[-1].append(index)
    for part in parts:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for index in (*range(min(NAMES, len(heads))), *part):
            _column(grid, table.columns[index], heads[index])
        for row in rows:
            grid.add_row(*(Text(row[index]) for index in (*range(min(NAMES, len(heads))), *part)))
        yield grid


def _column(grid: Grid, column: Column, head: str) -> None:
    text = column.form == "text"
    grid.add_column(
        Text(head), justify="left" if text else "right", overflow="fold", no_wrap=not text
    )
