"""`clew runs`: what there is in the store."""

import contextlib
import time
from functools import partial
from typing import Any

import anyio
import click

from clew import StoreError
from clew.cli.errors import ANSWERED, FAILED
from clew.cli.options import DEBUG, JSON, ONLY_LABEL, ONLY_OWNER, SESSION, STORE
from clew.cli.run_here import unless_interrupted
from clew.cli.safe_text import json_text, say
from clew.cli.store_option import command, existing, exists, redacted_location
from clew.cli.watch import watch
from clew.conversations import session_of, session_run
from clew.interfaces import Forked, Json, RunInfo, Store, decode
from clew.retention import verify
from clew.stores.listing import runs_with, summary
from clew.support.printable import inert
from clew.support.short_text import one_line
from clew.workers import is_set_aside

GOAL = 60


@click.command()
@click.option(
    "-n",
    "--most",
    "max_runs",
    default=20,
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N runs; 0 shows all.  [default: 20]",
)
@click.option(
    "--broken", is_flag=True, help="Show only runs that were set aside, and how to continue them."
)
@click.option("--watch", "watching", is_flag=True, help="Show their status until Ctrl-C.")
@ONLY_LABEL
@ONLY_OWNER
@SESSION
@STORE
@JSON
@DEBUG
def runs(
    max_runs: int,
    store: str | None,
    labels: dict[str, str],
    owner: str | None,
    session: str | None,
    *,
    broken: bool,
    watching: bool,
    as_json: bool,
) -> int:
    """List runs, the latest first: id, time, status, entries, question.

    With --watch, a table of their status (waiting for a worker, working, held, answered …), kept up
    to date; without a terminal, a line for each change.

    With --broken, the runs that crashed their workers repeatedly and were set aside: why, and the
    command that continues them.
    """
    if broken and watching:
        message = "--broken and --watch exclude each other: give one of them."
        raise click.UsageError(message)
    if watching:
        if labels or owner or session:
            message = "--watch shows all runs: leave --label, --owner and --session out."
            raise click.UsageError(message)
        anyio.run(partial(_watch, max_runs, store, as_json=as_json))
        return ANSWERED
    named = "" if session is None else session_run(session, owner or "")
    listing = partial(_list, max_runs, store, labels, owner, named, broken=broken)
    listed, lost = anyio.run(listing) if exists(store) else ([], [])
    code = FAILED if lost else ANSWERED
    if as_json:
        say(json_text(listed))
        return code
    for line in lost:
        say(f"clew: {inert(line)}", err=True)
    if lost:
        say(f"no run can be listed at {inert(redacted_location(store))}: it is damaged", err=True)
    else:
        _show(listed, store, broken=broken)
    return code


def _show(listed: list[dict[str, Any]], store: str | None, *, broken: bool) -> None:
    part_width = max((len(_part_of(run)) for run in listed), default=0)
    width = max((len(inert(run["run_id"])) for run in listed), default=0)
    if not exists(store):
        say(f"there is no store at {redacted_location(store)}: `clew ask QUESTION` makes one")
    elif not listed:
        none = "no run was set aside" if broken else "no runs yet"
        say(f"{none} at {redacted_location(store)}")
    else:
        part = (f"{'PART OF':<{max(part_width, 7)}}",) if part_width else ()
        head = (f"{'RUN':<{width}}", f"{'WRITTEN':<16}", f"{'STATUS':<11}", "ENTRY", *part)
        say("  ".join((*head, "QUESTION")))
    for run in listed:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run["at"] / 1000))
        short = one_line(inert(run["question"]), GOAL)
        of = run["fork_of"]
        cut = inert(f"  (fork of {of['run_id']} after step {of['step']})") if of else ""
        of_run = f"{_part_of(run):<{max(part_width, 7)}}  " if part_width else ""
        begun = f"{inert(run['run_id']):<{width}}  {when}  {run['status']:<11} {run['entries']:>5}"
        say(f"{begun}  {of_run}{short}{cut}")
        if broken:
            say(f"  {inert(run['reason'])}")
            say(f"  go on: {command('resume', run['run_id'], store=store)}")


def _part_of(run: dict[str, Any]) -> str:
    """The run that a sub-run was made for, and the call of it."""
    parent, _, call = str(run["parent"]).rpartition(":")
    return inert(f"{parent}, call {call}" if parent else call)


async def _watch(max_runs: int, store: str | None, *, as_json: bool) -> None:
    async with existing(store) as opened:
        await unless_interrupted(partial(watch, opened, max_runs, as_json=as_json))


async def _list(
    max_runs: int,
    store: str | None,
    labels: dict[str, str],
    owner: str | None,
    named: str,
    *,
    broken: bool,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The runs to show; where there is none, also what of a damaged store is lost."""
    async with existing(store) as opened:
        if broken:
            failed = await runs_with(
                opened, status="failed", labels=labels, owner=owner or "", run_id=named
            )
            infos = [info for info in failed if _is_broken(info)][: max_runs or None]
        else:
            infos = await runs_with(
                opened, max_runs, labels=labels, owner=owner or "", run_id=named
            )
        _, lost = ([], []) if infos or labels or owner or named else await verify(store=opened)
        described = [_described(info, await _fork_of(opened, info)) for info in infos]
        return described, [remark.why for remark in lost]


async def _fork_of(store: Store, info: RunInfo) -> dict[str, Json] | None:
    """Which run a fork was cut from, and after which step: its first own line tells."""
    if info.base is None:
        return None
    with contextlib.suppress(StoreError, ValueError):  # a listing tells what it can
        own = await store.read(info.run_id, info.base.seq)
        if isinstance(event := decode(own[0].body), Forked):
            return {"run_id": event.parent, "step": event.step}
    return {"run_id": info.base.run_id, "step": None}


def _is_broken(info: RunInfo) -> bool:
    run = summary(info)
    return run is not None and is_set_aside(run.stop)


def _described(info: RunInfo, fork_of: dict[str, Json] | None) -> dict[str, Json]:
    """What the first and last line of a run tell; a line of a newer clew tells nothing."""
    run = summary(info)
    stop = None if run is None else run.stop
    return {
        "run_id": info.run_id,
        "at": info.last.at,
        "status": "unreadable" if run is None else "open" if stop is None else stop.status,
        "reason": "" if stop is None else stop.reason,
        "entries": info.entries,
        "fork_of": fork_of,
        "parent": "" if fork_of or run is None else run.started.parent,
        "question": "" if run is None else run.started.words,
        "labels": {} if run is None else {**run.started.labels},
        "owner": "" if run is None else run.started.owner,
        "session": session_of(info.run_id),
    }
