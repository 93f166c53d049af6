"""Promises without their settings: one that is kept then says nothing about its setting."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.matrix.cells import Cell, cells
from tests.matrix.promises import USUAL

KEPT: Final = {
    "limits.unknown": "a call is in doubt only where a run was killed or its tool failed midway",
    "labels": "they are for the guard that cells turn off: no model here plans",
    "screens": "a file has them unless it says otherwise",
    "rewinds.by": "a file has this one unless it says otherwise",
    "strategy": "it is the way to answer, which cells set",
    "workspace.unsafe_kernel": "it counts only where the kernel lacks a part of the sandbox",
}
"""Promises that are kept all the same, and why."""

SLOW: Final = frozenset(
    {
        *("settings.timeout", "connection.total", "connection.patience", "limits.seconds"),
        *("limits.part_seconds", "mcp.timeout", "mcp.connect_timeout"),
        *("programs.timeout", "processes.timeout", "processes.cpu"),
    }
)
"""Deadlines: without them a cell takes minutes."""


def without_settings() -> Iterator[Cell]:
    """One cell of each promise, its first plain one, whose file does not say the settings."""
    seen = {USUAL, *SLOW}
    for cell in cells():
        if cell.situation == "plain" and cell.promise.name not in seen:
            seen.add(cell.promise.name)
            values = cell.promise.values
            for path in cell.promise.paths:
                values = stripped(values, path)
            yield replace(cell, promise=replace(cell.promise, values=values))


def stripped(values: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Values without a key of a table, or of all tables of a list or under names of one's own."""
    head, _, rest = path.partition(".")
    fields = dict(values)
    if not rest or isinstance(fields.get(head), str):
        fields.pop(head, None)
    elif head in fields:
        fields[head] = _inner(fields[head], rest)
    return fields


def _inner(value: Any, path: str) -> Any:
    if isinstance(value, list | tuple):
        return [_inner(each, path) for each in value]
    if not isinstance(value, Mapping):
        return value
    if path.partition(".")[0] in value:
        return stripped(value, path)
    return {name: _inner(each, path) for name, each in value.items()}
