"""`clew show`: a record, readable or for programs."""

from collections.abc import Callable
from functools import partial
from typing import Final

import anyio
import click

from clew import RenderedPrompt, Trajectory, prompt_of, read
from clew.agent.approvals import root_of
from clew.cli.audit import audited
from clew.cli.audit import document as audit_document
from clew.cli.audit import render_audit as tell_audit
from clew.cli.context_view import context_document, context_text
from clew.cli.continue_hint import continue_hint
from clew.cli.errors import ANSWERED
from clew.cli.foreign_runs import pieces_with_origin
from clew.cli.html_file import write_html
from clew.cli.markdown import markdown
from clew.cli.options import DEBUG, RUN, STORE, named
from clew.cli.outcome import fork_of, status, usage
from clew.cli.prompt_view import prompt_document, prompt_text
from clew.cli.render import TextBlock
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.cli.store_option import existing, find_run
from clew.cli.votes import refuse_vote
from clew.context import context_history
from clew.evidence import THRESHOLD
from clew.retention import trace
from clew.support.printable import inert
from clew.workers import queue_of


@click.command()
@RUN
@click.option("--json", "form", flag_value="json", help="Print one JSON document.")
@click.option(
    "--jsonl", "form", flag_value="jsonl", help="Print a line of JSON for each entry and action."
)
@click.option("--md", "form", flag_value="md", help="Print Markdown.")
@click.option(
    "--html",
    metavar="FILE",
    callback=named,
    type=click.Path(),
    help="Write a page of its own to this new file; - is stdout.",
)
@click.option("--audit", is_flag=True, help="Check each claim of the answer against the evidence.")
@click.option(
    "--threshold",
    metavar="T",
    type=click.FloatRange(0, 1),
    help="With --audit: the score that evidence needs.  [default: 0.5]",
)
@click.option("--prompt", is_flag=True, help="Show the prompt of a step, as it was sent.")
@click.option("--step", metavar="K", type=int, help="With --prompt: the step.  [default: the last]")
@click.option("--context", is_flag=True, help="Show what the prompt of each step held, and took.")
@STORE
@DEBUG
def show(
    run: str,
    form: str | None,
    step: int | None,
    store: str | None,
    threshold: float | None,
    html: str | None,
    *,
    prompt: bool,
    audit: bool,
    context: bool,
) -> int:
    """Show the record of RUN: an id, its beginning or end, or `last`."""
    if html is not None:
        if any((form, prompt, audit, context, step is not None, threshold is not None)):
            raise click.UsageError("--html goes with no other form.")
        return anyio.run(write_html, run, html, store)
    if context:
        if prompt or audit or step is not None or form not in {None, "json"}:
            raise click.UsageError("--context goes with --json only.")
        record = anyio.run(partial(_read, run, store))
        rows = context_history(record)
        document = context_document(record.run_id, rows) if form else {}
        say(json_text(document) if form else context_text(rows))
        return ANSWERED
    if audit:
        if prompt or step is not None or form not in {None, "json"}:
            raise click.UsageError("--audit goes with --json and --threshold only.")
        return _audit(run, threshold, store, form)
    if threshold is not None:
        raise click.UsageError("--threshold is for the audit: add --audit.")
    if prompt:
        return _prompt(run, step, store, form)
    if step is not None:
        raise click.UsageError("--step names the thought whose prompt is shown: add --prompt.")
    if form is None:
        _text(*anyio.run(partial(_further, run, store)))
    else:
        FORMS[form](anyio.run(partial(_read, run, store)))
    return ANSWERED


def _audit(run: str, threshold: float | None, store: str | None, form: str | None) -> int:
    record = anyio.run(partial(_read, run, store))
    refuse_vote(record, "audit")
    checked = audited(record, THRESHOLD if threshold is None else threshold)
    if form == "json":
        say(json_text(audit_document(record, checked)))
    else:
        tell_audit(record, checked)
    return ANSWERED


def _prompt(run: str, step: int | None, store: str | None, form: str | None) -> int:
    if form not in {None, "json"}:
        message = f"a prompt is shown as text or with --json, not with --{form}."
        raise click.UsageError(message)
    loaded = anyio.run(partial(_load_prompt, run, step, store))
    say(json_text(prompt_document(loaded)) if form == "json" else prompt_text(loaded))
    return ANSWERED


async def _read(run: str, store: str | None) -> Trajectory:
    async with existing(store) as opened:
        return await read(await find_run(opened, run), store=opened)


async def _load_prompt(run: str, step: int | None, store: str | None) -> RenderedPrompt:
    async with existing(store) as opened:
        return await prompt_of(await find_run(opened, run), step, store=opened)


def _text(record: Trajectory, further: str) -> None:
    out = console()
    of = fork_of(record)
    cut = f", fork of {of['run_id']} after step {of['step']}" if of is not None else ""
    put(out, TextBlock("Run", f"{record.run_id} ({status(record)}){inert(cut)}", "bold"))
    for piece in pieces_with_origin(record):
        put(out, piece)
    if further:
        put(out, TextBlock("Go on", further))


async def _further(run: str, store: str | None) -> tuple[Trajectory, str]:
    """The record and, where it is open, how it is gone on with: through the run that it serves."""
    async with existing(store) as opened:
        record = await read(await find_run(opened, run), store=opened)
        if status(record) != "open":
            return record, ""
        if queue := queue_of(record):
            return record, f"a worker of the queue {inert(queue)} goes on with it: clew worker"
        root = await root_of(opened, record)
        serves = record if root == record.run_id else await read(root, store=opened)
        return record, continue_hint(serves, store=store)


def _json(record: Trajectory) -> None:
    document = {
        "run_id": record.run_id,
        "status": status(record),
        "question": record.goal,
        "steps": len(record.steps),
        "usage": usage(record.usage),
        "lost": usage(record.total.lost),
        "entries": [entry.to_json() for entry in record.entries],
    }
    say(json_text(document))


def _jsonl(record: Trajectory) -> None:
    for line in trace(record):
        say(json_text(line))


def _markdown(record: Trajectory) -> None:
    say(markdown(record, pieces_with_origin(record)))


FORMS: Final[dict[str, Callable[[Trajectory], None]]] = {
    "json": _json,
    "jsonl": _jsonl,
    "md": _markdown,
}
