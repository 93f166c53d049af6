"""`clew runs --watch`: how the runs stand, as that changes."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import click
import msgspec
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from clew.cli.safe_text import inert, json_text
from clew.cli.screen import console
from clew.core.errors import StoreError
from clew.core.events import Started, Stop, decode
from clew.core.interfaces import Locks, RunInfo, Store
from clew.core.journal import load
from clew.workers.locks import claim, queue_of

LOOK: Final = 0.5
_SHARE: Final = 5.0  # times what a look took: the least pause to the next
GOAL: Final = 60

STYLES: Final = {"working": "bold", "held": "yellow", "answered": "green", "failed": "red"}


@dataclass(frozen=True, slots=True)
class Row:
    """How a run stands: `standing` is open, waiting, working or the status of its stop."""

    run_id: str
    standing: str
    entries: int
    queue: str
    question: str


@dataclass(slots=True)
class Watched:
    """A store under somebody's eyes, with what was read of runs that have not changed since."""

    store: Store
    most: int
    _stops: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    async def rows(self) -> list[Row]:
        """The last runs, the one last written first."""
        infos = await self.store.runs(max(self.most, 0))
        due = self.store
        waiting = {run.run_id for run in await due.due()} if isinstance(due, Locks) else None
        return [await self._row(info, waiting) for info in infos]

    async def _row(self, info: RunInfo, waiting: set[str] | None) -> Row:
        goal, standing = "", "unreadable"
        queue = queue_of(info)
        try:
            first, last = decode(info.first.body), decode(info.last.body)
        except (ValueError, RecursionError):  # of a newer clew, or damaged
            return Row(info.run_id, standing, info.entries, queue, goal)
        goal = first.goal if isinstance(first, Started) else ""
        if isinstance(last, Stop) and (waiting is None or info.run_id not in waiting):
            standing = last.status
        else:
            with suppress(StoreError):  # damaged, or forgotten just now
                standing = await self._queue_status(info, queue)
        return Row(info.run_id, standing, info.entries, queue, goal)

    async def _queue_status(self, info: RunInfo, queue: str) -> str:
        """Of a run that may be due."""
        spoken_to = bool(await self.store.inbox(info.run_id))
        if not spoken_to:
            read, status = self._stops.get(info.run_id, (0, ""))
            if read != info.entries:  # what came after its stop may change nothing
                record = await load(self.store, info.run_id)
                status = record.stop.status if record.stop is not None else ""
                self._stops[info.run_id] = (len(record), status)
            if status:
                return status
        store = self.store
        if not queue or not isinstance(store, Locks):
            return "open"
        lock = await claim(store, info.run_id)
        if lock is None:
            return "working"
        await store.release(lock)
        return "waiting"


async def watch(store: Store, most: int, *, as_json: bool) -> None:
    """Show how runs stand until cancelled: a table on a terminal, else a line for each change."""
    out, watched = console(), Watched(store, most)
    if as_json or not out.is_terminal or out.is_dumb_terminal:
        await _lines(watched, as_json=as_json)
        return
    with Live(console=out, auto_refresh=False, screen=False) as live:
        while True:
            began = anyio.current_time()
            live.update(_table(await watched.rows(), out), refresh=True)
            await _pause(began)


async def _lines(watched: Watched, *, as_json: bool) -> None:
    before: dict[str, str] = {}
    while True:
        began = anyio.current_time()
        rows = await watched.rows()
        for row in reversed(rows):
            if before.get(row.run_id) != row.standing:
                click.echo(json_text(msgspec.to_builtins(row)) if as_json else _line(row))
        before = {row.run_id: row.standing for row in rows}
        await _pause(began)


async def _pause(began: float) -> None:
    await anyio.sleep(max(LOOK, _SHARE * (anyio.current_time() - began)))


def _line(row: Row) -> str:
    return (
        f"{time.strftime('%H:%M:%S')}  {inert(row.run_id)}  {row.standing:<11} {row.entries:>5}  "
        f"{_short(row.question)}"
    )


def _short(question: str) -> str:
    text = " ".join(inert(question).split())
    return text if len(text) <= GOAL else f"{text[:GOAL]}…"


def _table(rows: Sequence[Row], out: Console) -> Table:
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
            Text(_short(row.question)),
        )
    return table
