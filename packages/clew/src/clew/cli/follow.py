"""`clew follow`: a run as it happens, whichever process works on it."""

from dataclasses import replace
from functools import partial

import anyio
import click

from clew import Entry, Idle, Nested, Trajectory, follow, read
from clew.cli.errors import ANSWERED, INTERRUPTED
from clew.cli.options import DEBUG, JSON, RUN, STORE
from clew.cli.render import TextBlock, render_event
from clew.cli.run_here import unless_interrupted
from clew.cli.safe_text import json_text, say
from clew.cli.screen import RunScreen, console, watching
from clew.cli.store_option import existing, find_run
from clew.interfaces import Stop, Store
from clew.support.printable import inert


@click.command("follow")
@RUN
@click.option(
    "--after",
    metavar="PLACE",
    default="0",
    help="Begin behind this entry, or behind the `position` of an earlier line.",
)
@JSON
@STORE
@DEBUG
def follow_command(run: str, after: str, store: str | None, *, as_json: bool) -> int:
    """Follow RUN until it stops: an id, its beginning or end, or `last`.

    With --json, each entry is a line of JSON with its run and its position.
    """
    with watching(as_json=as_json, quiet=as_json) as screen:
        work = partial(_follow, run, after, store, screen, as_json=as_json)
        return anyio.run(work)


async def _follow(
    run: str, after: str, store: str | None, screen: RunScreen, *, as_json: bool
) -> int:
    async def watch() -> bool:
        async with existing(store) as opened:
            run_id = await find_run(opened, run)
            entries = _Entries(opened, run_id, screen)
            async with follow(run_id, after=_position(after), store=opened) as items:
                async for item in items:
                    path, entry = (item.path, item.item) if isinstance(item, Nested) else ((), item)
                    if isinstance(entry, Idle):
                        _tell(screen, entry, as_json=as_json)
                    if not isinstance(entry, Entry):
                        continue
                    if as_json:
                        below = (path or (run_id,))[-1]
                        line = {"run_id": below, "position": items.position}
                        say(json_text(line | entry.to_json()))
                    else:
                        await entries.show(path, entry)
        return True

    return ANSWERED if await unless_interrupted(watch) else INTERRUPTED


def _position(after: str) -> int | str:
    """A number is that of an entry; what else there is was a position."""
    return int(after) if after.isascii() and after.isdecimal() and len(after) < 16 else after


def _tell(screen: RunScreen, idle: Idle, *, as_json: bool) -> None:
    """Say that nobody works on the run; beside lines of JSON, on stderr."""
    if as_json:
        console(stderr=True).print(inert(idle.hint))
    else:
        screen.put(TextBlock("Waiting", inert(idle.hint), "yellow"))


class _Entries:
    """The entries of a run and of those below, each under the step of its own run."""

    def __init__(self, store: Store, run_id: str, screen: RunScreen) -> None:
        self._store = store
        self._run_id = run_id
        self._screen = screen
        self._records: dict[str, Trajectory] = {}

    async def show(self, path: tuple[str, ...], entry: Entry) -> None:
        """Show an entry; of a run below, behind the keys of the calls that lead to it."""
        run_id = path[-1] if path else self._run_id
        record = self._records.get(run_id)
        if record is None:
            before = (await read(run_id, store=self._store)).entries[: entry.seq - 1]
            record = self._records[run_id] = Trajectory(run_id, before)
        record.add(entry)
        if not path:
            self._screen.trajectory = record
            self._screen.entry(entry)
        if path or isinstance(entry.event, Stop):
            keys = run_id.removeprefix(f"{self._run_id}-")
            for piece in render_event(entry.event, record.step.number, complete=not path):
                label = f"{keys} {piece.label}" if path else piece.label
                self._screen.put(replace(piece, label=inert(label)))
