"""`clew records verify`: whether records are what was written."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio
import click
import msgspec

from clew import ConfigError
from clew.cli.errors import ANSWERED, FAILED
from clew.cli.offers import offers
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.progress import count, progress
from clew.cli.safe_text import json_text, say
from clew.cli.store_option import existing, find_run
from clew.interfaces import Store
from clew.retention import Remark, Verification, run_ids
from clew.retention import verify as check
from clew.stores import StoreDamagedError
from clew.support.printable import inert

_HASH: Final = re.compile(r"[0-9a-fA-F]{32}")
"""A hash of a record's chain, as `clew records verify` tells it."""


@click.command()
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=offers("runs"))
@click.option(
    "--expect",
    metavar="HASH",
    default="",
    help="Check that RUN has this hash, at its end or before.",
)
@STORE
@JSON
@DEBUG
def verify(runs: tuple[str, ...], expect: str, store: str | None, *, as_json: bool) -> int:
    """Verify these runs, all by default: hashes, numbers, epochs, blobs, bases and sub-runs.

    It prints the last hash of each run. Keep that elsewhere: with --expect you can check later that
    nothing was cut off at the end, which a record alone cannot show.
    """
    if expect and not _HASH.fullmatch(expect):
        message = (
            f"--expect {expect!r} is no hash: `clew records verify RUN` shows the one it ends with."
        )
        raise click.UsageError(message)
    if expect and len(runs) != 1:
        message = "--expect is the hash of one run: name that run"
        raise ConfigError(message)
    verified, lost = anyio.run(partial(_verify, runs, expect, store))
    if as_json:
        told = [{**msgspec.to_builtins(one), "ok": one.ok} for one in verified]
        say(json_text({"runs": told, "lost": [one.why for one in lost]}))
    else:
        for line in _lines(verified, lost):
            say(inert(line))
    return ANSWERED if not lost and all(one.ok for one in verified) else FAILED


async def _verify(
    runs: Sequence[str], expect: str, store: str | None
) -> tuple[list[Verification], list[Remark]]:
    async with existing(store) as opened:
        wanted = [await _find_run(opened, run) for run in runs]
        with progress("verifying") as show:
            return await check(wanted or None, store=opened, expect=expect, on_run=show)


async def _find_run(store: Store, named: str) -> str:
    """The run a person means, also one that is too damaged to be listed."""
    try:
        return await find_run(store, named)
    except (ConfigError, StoreDamagedError):
        if named in await run_ids(store):
            return named
        raise


def _lines(verified: Sequence[Verification], lost: Sequence[Remark]) -> list[str]:
    lines = [_line(one) for one in verified] + [f"lost   {one.why}" for one in lost]
    newer = sum(one.newer for one in verified)
    wrong = sum(not one.ok for one in verified) - newer
    line = f"{count(len(verified), 'run')} verified"
    counts = {"wrong": wrong, "of a newer clew": newer, "lost": len(lost)}
    told = [f"{number:,} {what}" for what, number in counts.items() if number]
    return [*lines, ", ".join([line, *told]) if told else f"{line}: all is well"]


def _line(one: Verification) -> str:
    if one.newer:
        return f"newer  {one.run_id}  {one.wrong}"
    if one.wrong:
        good = f" (good up to entry {one.entries})" if one.entries else ""
        return f"wrong  {one.run_id}  {one.wrong}{good}"
    line = f"{one.run_id}  {count(one.entries, 'entry').replace('entrys', 'entries')}"
    line += f", ends with {one.hash}"
    if one.expected == 0:
        return f"wrong  {line}, and never had the expected hash: its end was cut off or changed"
    if one.expected is not None and one.expected < one.entries:
        line += f"; had the expected hash at entry {one.expected}, and went on"
    return f"ok     {line}"
