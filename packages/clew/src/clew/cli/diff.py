"""`clew diff`: where two runs part, and what each came to."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import anyio
import click
from rich.text import Text

from clew import Difference, Trajectory, diff, read
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.outcome import status, usage
from clew.cli.render import TextBlock, dollars, readable, shorten
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.cli.store_option import existing, find_run
from clew.interfaces import Json
from clew.support.printable import inert

ROWS: Final = ("status", "model", "codec", "steps", "calls", "tokens", "cost", "seconds")


@click.command("diff")
@click.argument("left")
@click.argument("right")
@STORE
@JSON
@DEBUG
def diff_runs(left: str, right: str, store: str | None, *, as_json: bool) -> int:
    """Compare two runs: where they part, and how answer, steps, calls, tokens and cost differ.

    LEFT and RIGHT are runs: an id, its beginning or end, or `last`.
    """
    difference = anyio.run(partial(_diff, left, right, store))
    if as_json:
        say(json_text(document(difference)))
        return ANSWERED
    out = console()
    for piece in render_difference(difference):
        put(out, piece)
    for label, one, other in table(difference):
        out.print(Text.assemble((f"{label:<10}", "bold"), f"{one:<28}{other}".rstrip()))
    return ANSWERED


async def _diff(left: str, right: str, store: str | None) -> Difference:
    async with existing(store) as opened:
        records = [await read(await find_run(opened, run), store=opened) for run in (left, right)]
    return diff(*records)


def document(difference: Difference) -> dict[str, Json]:
    """All of it, for programs."""
    parting = difference.parting
    return {
        "shared_entries": difference.shared,
        "shared_steps": difference.steps,
        "agents_differ_in": difference.agents,
        "parting": None
        if parting is None
        else {
            "step": parting.step,
            "what": parting.what,
            "left": parting.left,
            "right": parting.right,
        },
        "left": came_to(difference.left),
        "right": came_to(difference.right),
    }


def came_to(record: Trajectory) -> dict[str, Json]:
    """What a run came to, and what it took, its shared steps included."""
    spec = record.spec or record.started.spec
    return {
        "run_id": record.run_id,
        "status": status(record),
        "answer": record.stop.answer if record.stop is not None else None,
        "model": spec.model,
        "codec": spec.codec,
        "steps": len(record.steps),
        "calls": record.total.calls.total(),
        "usage": usage(record.usage),
        "active_ms": record.total.active_ms,
    }


def render_difference(difference: Difference) -> Iterator[TextBlock]:
    """The parting and the answers."""
    left, right = difference.left.run_id, difference.right.run_id
    if difference.shared:
        entries = "1 entry" if difference.shared == 1 else f"{difference.shared} entries"
        steps = {0: "no step", 1: "step 1"}.get(difference.steps, f"steps 1 to {difference.steps}")
        yield TextBlock("Shared", f"{entries}, {steps}", "dim")
    else:
        yield TextBlock("Shared", "nothing: neither is a fork of the other", "dim")
    if difference.agents:
        yield TextBlock("Agents differ in", inert(", ".join(difference.agents)), "dim")
    if (parting := difference.parting) is None:
        yield TextBlock("They part", "nowhere: the same was thought, done and seen", "bold")
    else:
        yield TextBlock("They part", inert(f"in step {parting.step}: {parting.what}"), "bold")
        for run_id, value, style in ((left, parting.left, "red"), (right, parting.right, "green")):
            yield TextBlock(f"  {inert(run_id)}", shorten(_render_value(value)), style)
    for record, style in ((difference.left, "red"), (difference.right, "green")):
        answer = record.stop.answer if record.stop is not None else None
        yield TextBlock(f"Answer of {inert(record.run_id)}", _render_value(answer), style)


def _render_value(value: Json) -> str:
    return "(none)" if value is None else inert(readable(value))


def table(difference: Difference) -> Iterator[tuple[str, str, str]]:
    """What each came to, a line for each figure."""
    yield "", inert(difference.left.run_id), inert(difference.right.run_id)
    left, right = _figures(difference.left), _figures(difference.right)
    for label in ROWS:
        yield label, left[label], right[label]


def _figures(record: Trajectory) -> dict[str, str]:
    used, took = record.usage, came_to(record)
    return {
        **{label: inert(str(took[label])) for label in ("status", "model", "codec", "calls")},
        "steps": str(took["steps"]),
        "tokens": f"{'about ' if used.estimated else ''}{used.tokens:,}",
        "cost": dollars(used).removeprefix("cost "),
        "seconds": f"{record.total.seconds:.1f}",
    }
