"""`clew batches`: what was handed in to providers and is not done yet."""

from datetime import datetime
from functools import partial
from typing import Final

import anyio
import click
import msgspec

from clew import ConfigError
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON
from clew.cli.safe_text import inert, json_text, say

try:
    from clew.models.batches import Batched, BatchInfo, forget_batch, open_batches
except ImportError as missing:
    raise ConfigError(str(missing)) from missing

ID: Final = click.argument("batch", metavar="ID")
_STATUS: Final = {
    "preparing": "not handed in yet",
    "unsure": "perhaps handed in: its runs look it up when they go on",
}


@click.command("list")
@JSON
@DEBUG
def list_batches(*, as_json: bool) -> int:
    """List the batches that are out: id, time, model, how far it was, whose key.

    The ledger is $CLEW_BATCHES, or a file in your data folder. What is done is of the last look.
    """
    listed = open_batches()
    if as_json:
        say(json_text([_document(batch) for batch in listed]))
        return ANSWERED
    for batch in listed:
        say(_line(batch))
    if not listed:
        say("no batches are out")
    return ANSWERED


@click.command()
@ID
@DEBUG
def cancel(batch: str) -> int:
    """Have the provider do no more of a batch; what is done stays, and is paid.

    ID may be its beginning. Runs that wait for it fail and can be resumed; so can those of later.
    """
    canceled = anyio.run(_cancel, batch)
    say(f"canceled  {inert(canceled)}")
    return ANSWERED


@click.command()
@ID
@DEBUG
def forget(batch: str) -> int:
    """Forget a batch whose key or provider is gone: its runs ask, and pay, anew."""
    anyio.run(partial(forget_batch, batch))
    say(f"forgotten  {inert(batch)}")
    return ANSWERED


async def _cancel(batch: str) -> str:
    """The id of what is canceled, by its own model at its own address."""
    fitting = [each for each in open_batches() if batch and each.id.startswith(batch)]
    exact = [each for each in fitting if each.id == batch] or fitting
    if len(exact) != 1:
        why = f"{len(exact)} batches begin with {batch}" if exact else f"no batch {batch} is out"
        raise ConfigError(f"{why}: `clew batches` lists those that are")
    (info,) = exact
    model = Batched(info.model.partition(":")[2], base_url=info.base_url)
    try:
        await model.cancel(info.id)
    finally:
        await model.close()
    return info.id


def _document(batch: BatchInfo) -> dict[str, object]:
    return {**msgspec.to_builtins(batch), "base_url": batch.public_url}


def _line(batch: BatchInfo) -> str:
    since = datetime.fromtimestamp(batch.since).astimezone()
    far = _STATUS.get(batch.status, f"{batch.done:,} done")
    requests = f"{batch.requests:,} request{'' if batch.requests == 1 else 's'}, {far}"
    parts = [batch.id, f"{since:%Y-%m-%d %H:%M}", batch.model, requests, f"account {batch.account}"]
    return "  ".join(map(inert, parts))
