"""`clew runs --watch`: how the runs stand, as that changes."""

import time
from collections.abc import Sequence
from typing import Final

import anyio
import msgspec
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from clew.cli.safe_text import json_text, say
from clew.cli.screen import console
from clew.interfaces import Store
from clew.support.printable import inert
from clew.support.short_text import one_line
from clew.workers import Monitor, RunStatus

LOOK: Final = 0.5
_SHARE: Final = 5.0  # times what a look took: the least pause to the next
GOAL: Final = 60

STYLES: Final = {"working": "bold", "held": "yellow", "answered": "green", "failed": "red"}


async def watch(store: Store, max_runs: int, *, as_json: bool) -> None:
    """Show how runs stand until cancelled: a table on a terminal, else a line for each change."""
    out, watched = console(), Monitor(store, max_runs)
    if as_json or not out.is_terminal or out.is_dumb_terminal:
        await _lines(watched, as_json=as_json)
        return
    with Live(console=out, auto_refresh=False, screen=False) as live:
        while True:
            began = anyio.current_time()
            live.update(_table(await watched.rows(), out), refresh=True)
            await _pause(began)


async def _lines(watched: Monitor, *, as_json: bool) -> None:
    before: dict[str, str] = {}
    while True:
        began = anyio.current_time()
        rows = await watched.rows()
        for row in reversed(rows):
            if before.get(row.run_id) != row.standing:
                say(json_text(msgspec.to_builtins(row)) if as_json else _line(row))
        before = {row.run_id: row.standing for row in rows}
        await _pause(began)


async def _pause(began: float) -> None:
    await anyio.sleep(max(LOOK, _SHARE * (anyio.current_time() - began)))


def _line(row: RunStatus) -> str:
    return (
        f"{time.strftime('%H:%M:%S')}  {inert(row.run_id)}  {row.standing:<11} {row.entries:>5}  "
        f"{one_line(inert(row.question), GOAL)}"
    )


def _table(rows: Sequence[RunStatus], out: Console) -> Table:
    """As many of the runs as fit."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("run", "standing", "entries", "queue", "question"):
        table.add_column(name, no_wrap=True, justify="right" if name == "entries" else "left")
    for row in rows[: max(1, out.height - 2)]:
        table.add_row(
            inert(row.run_id),
            Text(row.standing, STYLES.get(row.standing, "")),
            str(row.entries),
            inert(row.queue),
            Text(one_line(inert(row.question), GOAL)),
        )
    return table
