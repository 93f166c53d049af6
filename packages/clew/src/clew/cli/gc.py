"""`clew records gc`: runs that may go are forgotten."""

import re
from functools import partial
from typing import Any, Final, cast

import anyio
import click
import msgspec
from typing_extensions import override

from clew.cli.errors import ANSWERED, FAILED
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.progress import count, progress, size
from clew.cli.safe_text import json_text, say
from clew.cli.store_option import existing
from clew.retention import STATUSES, GcReport, RunState
from clew.retention import gc as sweep
from clew.support.printable import inert

SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
BYTES: Final = {
    "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip


class Amount(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.2.2
    """A number with a unit."""

    name = "amount"

    def __init__(self, units: dict[str, int], example: str) -> None:
        self.units = units
        self.example = example

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", str(value).strip())
        if match is None or match[2].lower() not in self.units:
            self.fail(f"{value!r} is not a number with its unit, as in {self.example}.", param, ctx)
        return float(match[1]) * self.units[match[2].lower()]


@click.command()
@click.option(
    "--older", metavar="AGE", type=Amount(SECONDS, "30d, 12h or 2w"),
    help="Only runs last written to longer ago than this (30d, 12h, 2w).",
)  # fmt: skip
@click.option(
    "--keep-under", metavar="SIZE", type=Amount(BYTES, "2GB or 500MB"),
    help="Only until the store is this small (2GB, 500MB), the oldest runs first.",
)  # fmt: skip
@click.option(
    "--status", multiple=True, type=click.Choice(STATUSES),
    help="Only runs with this status. Repeatable.  [default: all but held and open]",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@STORE
@JSON
@DEBUG
def gc(
    older: float | None, keep_under: float | None, status: tuple[str, ...], store: str | None,
    *, dry_run: bool, as_json: bool,
) -> int:  # fmt: skip
    """Delete runs for good: those that meet all conditions given. At least one is required.

    Held and open runs are deleted only if --status names them. A run is kept while a fork that is
    kept shares its entries, while a worker has it, or while a message waits for it. Sub-runs are
    deleted with their root.
    """
    if older is None and keep_under is None and not status:
        message = "say which runs may go: --older AGE, --keep-under SIZE or --status STATUS"
        raise click.UsageError(message, click.get_current_context())
    wanted = cast("tuple[RunState, ...]", status)
    done = anyio.run(partial(_sweep, older, keep_under, wanted, store, dry_run=dry_run))
    if as_json:
        say(json_text({"dry_run": dry_run, **msgspec.to_builtins(done)}))
    else:
        _report(done, dry_run=dry_run)
    return FAILED if done.failed else ANSWERED


async def _sweep(
    older: float | None, keep_under: float | None, status: tuple[RunState, ...], store: str | None,
    *, dry_run: bool,
) -> GcReport:  # fmt: skip
    async with existing(store) as opened:
        with progress("forgetting") as show:
            return await sweep(
                older=older,
                keep_under=None if keep_under is None else int(keep_under),
                status=status or None,
                store=opened,
                dry_run=dry_run,
                on_run=show,
            )


def _report(done: GcReport, *, dry_run: bool) -> None:
    for run_id in done.removed:
        say(inert(f"{'would go' if dry_run else 'removed'}  {run_id}"))
    for told in done.kept:
        say(inert(f"kept  {told.run_id}: {told.why}"))
    for told in done.failed:
        say(inert(f"clew: {told.run_id} was not removed: {told.why}"), err=True)
    runs = count(len(done.removed), "run")
    if dry_run:
        say(f"{runs} would go, about {size(done.bytes)}")
    else:
        say(f"{runs} removed, {size(done.bytes)} came free")
