"""Which batches are out, for a person: listed, named, given up."""

from collections.abc import Collection
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from clew.models.batches.ledger import BatchRow, Ledger, ledger_at, ledger_path
from clew.support.addresses import hidden
from clew.support.errors import ConfigError

BatchStatus: TypeAlias = Literal["preparing", "unsure", "out", "canceled"]
"""Not handed in yet; perhaps handed in, which its runs look up when they go on; handed in; canceled
here, and no run has looked yet what was done of it.
"""

LIST: Final = "`clew records batches` lists those that are"


class BatchInfo(msgspec.Struct, frozen=True):
    """A batch that has not ended, as far as the ledger knows: `done` is of the last look at it.

    `id` is that of the provider, or clew's own where that is not known. `account` tells keys apart
    and says nothing of them ("": an older clew handed it in, and noted none). `since` is Unix time
    in seconds.
    """

    id: str
    model: str
    base_url: str
    account: str
    status: BatchStatus
    requests: int
    done: int
    since: float

    @property
    def public_url(self) -> str:
        """The address without a password."""
        return hidden(self.base_url)


def open_batches(ledger: str | Path | None = None) -> list[BatchInfo]:
    """The batches of a ledger that have not ended, the latest first. Raises `ConfigError`."""
    if not ledger_path(ledger).exists():
        return []
    there = ledger_at(ledger)
    canceled = there.canceled()
    return [_info(row, canceled) for row in there.batches() if row.ended is None]


async def forget_batch(batch: str, ledger: str | Path | None = None) -> None:
    """Forget a batch that nobody can ask for any more: its runs ask, and pay, anew.

    Raises `ConfigError` where no such batch is out.
    """
    if not ledger_path(ledger).exists():
        raise ConfigError(f"no batch {batch} is out: {LIST}")
    there = ledger_at(ledger)
    row = open_batch(there, batch)
    async with there.handing_in():
        there.forget(row.id)


def open_batch(ledger: Ledger, name: str) -> BatchRow:
    """The open batch of an id, or of the beginning of one. Raises `ConfigError`."""
    rows = {_id(row): row for row in ledger.batches() if row.ended is None}
    fitting = [row for each, row in rows.items() if name and each.startswith(name)]
    if name in rows or len(fitting) == 1:
        return rows.get(name) or fitting[0]
    if fitting:
        raise ConfigError(f"{len(fitting)} batches begin with {name}: give more of the id")
    raise ConfigError(f"no batch {name} is out: {LIST}")


def _info(row: BatchRow, canceled: Collection[str]) -> BatchInfo:
    status: BatchStatus = "out" if row.remote else "unsure" if row.sending else "preparing"
    if row.mark in canceled:
        status = "canceled"
    base_url, _, _ = row.scope.partition("\n")
    return BatchInfo(
        _id(row), row.model, base_url, row.account, status, row.total, row.done, row.begun
    )


def _id(row: BatchRow) -> str:
    return row.remote or row.mark
