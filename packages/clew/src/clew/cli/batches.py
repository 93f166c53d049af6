"""`clew records batches`: what was handed in to providers and is not done yet."""

from datetime import datetime
from functools import partial
from typing import Final

import anyio
import click
import msgspec

from clew import ConfigError
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON
from clew.cli.safe_text import json_text, say
from clew.support.printable import inert

try:
    from clew.models.batches import Batched, BatchInfo, forget_batch, open_batches
except ImportError as missing:
    raise ConfigError(str(missing)) from missing

_STATUS: Final = {
    "preparing": "not handed in yet",
    "unsure": "perhaps handed in: its runs look it up when they go on",
    "canceled": "canceled: its runs get what was done when they go on",
}


@click.command()
@click.option("--cancel", metavar="ID", help="Have the provider do no more of this batch.")
@click.option(
    "--forget", metavar="ID", help="Forget this one: its key or provider is gone; runs pay anew."
)
@JSON
@DEBUG
def batches(cancel: str | None, forget: str | None, *, as_json: bool) -> int:
    """List the batches that are out: id, time, model, how far it was, whose key.

    The ledger is $CLEW_BATCHES, or a file in your data folder. What is done is of the last look.

    Of a canceled batch what is done stays, and is paid; runs that wait for it fail and can be
    resumed. An ID may be its beginning.
    """
    if cancel is not None and forget is not None:
        raise ConfigError("--cancel and --forget: give one of them")
    if cancel is not None:
        say(f"canceled  {inert(anyio.run(_cancel, cancel))}")
    elif forget is not None:
        anyio.run(partial(forget_batch, forget))
        say(f"forgotten  {inert(forget)}")
    elif as_json:
        say(json_text([_document(batch) for batch in open_batches()]))
    else:
        lines = [_line(batch) for batch in open_batches()]
        say("\n".join(lines or ["no batches are out"]))
    return ANSWERED


async def _cancel(batch: str) -> str:
    """The id of what is canceled, by its own model at its own address."""
    fitting = [each for each in open_batches() if batch and each.id.startswith(batch)]
    exact = [each for each in fitting if each.id == batch] or fitting
    if len(exact) != 1:
        why = f"{len(exact)} batches begin with {batch}" if exact else f"no batch {batch} is out"
        raise ConfigError(f"{why}: `clew records batches` lists those that are")
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
    parts = [
        batch.id,
        f"{since:%Y-%m-%d %H:%M}",
        batch.model,
        requests,
        f"account {batch.account or 'unknown'}",
    ]
    return "  ".join(map(inert, parts))
