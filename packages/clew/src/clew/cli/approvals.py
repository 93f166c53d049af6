"""`clew approvals`: what waits for a person, over all runs of a store."""

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import anyio
import click

from clew import ConfigError, PendingApproval, StoreError, pending_approvals, read
from clew.cli.approval_prompts import leave_word, render_approval, show_call
from clew.cli.continue_hint import continue_hint
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON, ONLY_LABEL, ONLY_OWNER, STORE
from clew.cli.render import TextBlock
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.cli.store_option import command, existing, redacted_location
from clew.interfaces import Store
from clew.stores.listing import runs_with
from clew.support.printable import inert


@click.command("approvals")
@click.option("--interactive", "-i", is_flag=True, help="Ask you about each.")
@ONLY_LABEL
@ONLY_OWNER
@STORE
@JSON
@DEBUG
def list_approvals(
    store: str | None,
    labels: dict[str, str],
    owner: str | None,
    *,
    interactive: bool,
    as_json: bool,
) -> int:
    """List the calls that wait for approval in all runs of the store, the oldest first.

    For each it shows the arguments, why it waits, since when, and the commands to decide on it.
    With -i it asks you about each: allow it, edit its arguments, reject it, or leave it.
    """
    if interactive and as_json:
        message = "give --interactive or --json, not both"
        raise ConfigError(message)
    waiting, foreign = anyio.run(partial(_waiting, store, labels, owner))
    if foreign:
        say(_untrusted(foreign, store), err=as_json)
    if interactive and waiting:
        return _walk(waiting, store)
    if as_json:
        say(json_text([each.to_json() for each, _ in waiting]))
        return ANSWERED
    if not waiting and not foreign:
        say(f"nothing waits for a person in {redacted_location(store)}")
    out = console()
    for each, hint in waiting:
        for piece in render_approval(each, store):
            put(out, piece)
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.at / 1000))
        put(out, TextBlock("Since", since, "dim"))
        put(out, TextBlock("Then", hint))
    return ANSWERED


def _walk(waiting: list[tuple[PendingApproval, str]], store: str | None) -> int:
    """Ask about each, and leave every word at once: Ctrl-C takes none of them back."""
    ruled: dict[str, str] = {}
    for each, hint in waiting:
        put(console(), show_call(each))
        try:
            left = leave_word(each, store)
        except (EOFError, KeyboardInterrupt):
            say(f"\n{inert(each.call)} {inert(each.tool)} still waits")
            break
        if left:
            ruled[each.root] = hint
    for hint in ruled.values():
        put(console(), TextBlock("Then", hint))
    return ANSWERED


async def _waiting(
    store: str | None, labels: dict[str, str], owner: str | None
) -> tuple[list[tuple[PendingApproval, str]], list[str]]:
    """What waits, and how its run goes on; and the runs that wait and that somebody else began."""
    async with existing(store) as opened:
        waiting = await pending_approvals(store=opened, labels=labels, owner=owner)
        listed = {run_id for each in waiting for run_id in (each.run_id, each.root)}
        stopped = await runs_with(opened, status="held", labels=labels, owner=owner or "")
        held = [it.run_id for it in stopped if it.run_id not in listed]
        foreign = [run_id for run_id in held if await _is_foreign(opened, run_id)]
        told = [(each, await _continue_hint(opened, each.root, store)) for each in waiting]
        return told, foreign


async def _is_foreign(opened: Store, run_id: str) -> bool:
    with suppress(StoreError):  # one that cannot be read is told by the log
        return (await read(run_id, store=opened)).is_foreign
    return False


def _untrusted(foreign: Sequence[str], store: str | None) -> str:
    """That runs wait whose calls are not made here, and how one looks at them and trusts them."""
    count = "1 imported run waits" if len(foreign) == 1 else f"{len(foreign)} imported runs wait"
    look = command("show", foreign[0], store=store)
    trust = command("resume", foreign[0], "--trust-origin", store=store)
    return f"{count}, and nothing is made of it until you trust it: {look}; then {trust}"


async def _continue_hint(opened: Store, run_id: str, store: str | None) -> str:
    try:
        return continue_hint(await read(run_id, store=opened), store=store)
    except StoreError:  # it must be brought back first
        return command("resume", run_id, store=store)
