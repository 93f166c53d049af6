"""`clew approvals`: what waits for a person, over all runs of a store."""

import time
from functools import partial

import anyio
import click

from clew.approvals import held
from clew.cli.errors import ANSWERED
from clew.cli.held import document, shown
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.places import command, existing, shown_place, there
from clew.cli.render import Shown, inert
from clew.cli.screen import console, put
from clew.drivers.claiming import queue_of
from clew.events import encode
from clew.waiting import Held


@click.command(short_help="List what waits for a person.")
@STORE
@JSON
@DEBUG
def approvals(store: str | None, *, as_json: bool, debug: bool) -> int:
    """List every call that waits for a ruling, in all runs of the store: what waits longest first.

    With each: why, since when, what it would be made with, and the commands that rule on it.
    """
    del debug
    waiting = anyio.run(partial(_waiting, store)) if there(store) else []
    if as_json:
        click.echo(encode([document(each) for each, _ in waiting]))
        return ANSWERED
    if not waiting:
        click.echo(f"nothing waits for a person at {shown_place(store)}")
    out = console()
    for each, queue in waiting:
        for piece in shown(each, store):
            put(out, piece)
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.at / 1000))
        put(out, Shown("Since", since, "dim"))
        carried = f"a worker of the queue {queue} goes on with it, or: " if queue else ""
        put(out, Shown("Then", inert(carried) + command("resume", each.root, store=store)))
    return ANSWERED


async def _waiting(store: str | None) -> list[tuple[Held, str]]:
    """What waits, and the queue whose workers go on with it, "" for none."""
    async with existing(store) as found:
        waiting = await held(store=found)
        queues = {info.run_id: queue_of(info) for info in await found.runs()} if waiting else {}
        return [(each, queues.get(each.root, "")) for each in waiting]
