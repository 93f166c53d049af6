"""Giving a batch up at its provider."""

from clew.models.batches.interface import BatchApi
from clew.models.batches.ledger import Ledger
from clew.models.batches.listing import open_batch
from clew.models.batches.waves import PASSES, Asker, as_model_error, check_account
from clew.models.http.failures import FailureSource, StatusError, failure
from clew.support.errors import ConfigError, ModelError


async def cancel(
    api: BatchApi, ledger: Ledger, who: Asker, source: FailureSource, batch: str
) -> None:
    """Have no more of it done. Raises `ConfigError` where it is not of this model and address."""
    row = open_batch(ledger, batch)
    if row.scope != who.scope:
        message = f"batch {batch} is one of {row.model} at {row.scope.partition(chr(10))[0]}"
        raise ConfigError(f"{message}: cancel it by that model")
    check_account(row, who.account)
    try:
        async with ledger.handing_in():  # a process may be about to hand it in
            row = ledger.batch(row.id)
            remote: str | None = row.remote
            if not remote:
                remote = "" if row.sending is None else await api.find(ledger.handed(row))
            if remote is None:
                message = f"it is not known yet whether batch {batch} was handed in"
                raise ModelError(f"{message}: try again when other batches have ended")
            if not remote:
                ledger.forget(row.id)
                return
            ledger.sent(row.id, remote)
        await api.cancel(remote)
        ledger.cancel(row)
    except StatusError as error:
        if error.trouble.status == 404:
            message = f"batch {batch} is not at {source.base_url} any more"
            raise ModelError(f"{message}: clew records batches --forget {batch}") from error
        raise as_model_error(failure(source, error.trouble, error.headers)) from error
    except PASSES as error:
        message = f"{who.name} is not reached ({source.tell(repr(error))}): try again"
        raise ModelError(message) from error
