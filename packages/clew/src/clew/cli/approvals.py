"""`clew approvals list`, or `clew approvals`: what waits for a person, over all runs of a store."""

import time
from functools import partial

import anyio
import click

from clew import ConfigError, PendingApproval, StoreError, pending_approvals, read
from clew.cli.approval_prompts import decide, document, post_ruling, render_approval, show_call
from clew.cli.continue_hint import continue_hint
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.render import TextBlock
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.cli.store_option import command, existing, exists, redacted_location
from clew.interfaces import Store


@click.command("list")
@click.option("--interactive", "-i", is_flag=True, help="Ask you about each.")
@STORE
@JSON
@DEBUG
def list_approvals(store: str | None, *, interactive: bool, as_json: bool) -> int:
    """List the calls that wait for approval in all runs of the store, the oldest first.

    For each it shows the arguments, why it waits, since when, and the commands to decide on it.
    With -i it asks you about each: allow it, edit its arguments, reject it, or leave it.
    """
    if interactive and as_json:
        message = "give --interactive or --json, not both"
        raise ConfigError(message)
    waiting = anyio.run(partial(_waiting, store)) if exists(store) else []
    if interactive and waiting:
        return _walk(waiting, store)
    if as_json:
        say(json_text([document(each) for each, _ in waiting]))
        return ANSWERED
    if not waiting:
        say(f"nothing waits for a person at {redacted_location(store)}")
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
            left = _leave_word(each, store)
        except (EOFError, KeyboardInterrupt):
            say()
            break
        if left:
            ruled[each.root] = hint
    for hint in ruled.values():
        put(console(), TextBlock("Then", hint))
    return ANSWERED


def _leave_word(each: PendingApproval, store: str | None) -> bool:
    """Ask for a word and leave it; whether there is one. Arguments that do not fit are asked for
    again.
    """
    while (ruling := decide(each)) is not None:
        try:
            post_ruling(each, ruling, store)
        except ConfigError as error:
            say(f"clew: {error}", err=True)
            if ruling.args is None:  # somebody else was faster
                return False
        else:
            return True
    return False


async def _waiting(store: str | None) -> list[tuple[PendingApproval, str]]:
    """What waits, and how its run goes on."""
    async with existing(store) as opened:
        waiting = await pending_approvals(store=opened)
        return [(each, await _continue_hint(opened, each.root, store)) for each in waiting]


async def _continue_hint(opened: Store, run_id: str, store: str | None) -> str:
    try:
        return continue_hint(await read(run_id, store=opened), store=store)
    except StoreError:  # it must be brought back first
        return command("resume", run_id, store=store)
