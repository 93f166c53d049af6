"""Whether nobody works on a run that is open, as the store's claims say it."""

from clew.agent.streaming.items import Idle
from clew.core.journal import load
from clew.core.pending import ancestors
from clew.core.stores import Store
from clew.stores.interface import Locks, Selects
from clew.stores.labels import Selection
from clew.stores.listing import summary
from clew.stores.locks import is_free, queue_of


async def idle(store: Store, run_id: str) -> Idle | None:
    """What a stream tells where nobody works on a run.

    None where somebody does, or where the store has no claims, so that nobody knows. A run below
    another is worked on by whoever has the first of them.
    """
    if not isinstance(store, Locks) or not await is_free(store, run_id):
        return None
    if isinstance(store, Selects) and (queue := await _queue_alone(store, run_id)) is not None:
        return Idle(run_id, queue)
    record = await load(store, run_id)
    if above := await ancestors(store, record):
        record = above[-1][0]
        if not await is_free(store, record.run_id):
            return None
    return Idle(record.run_id, queue_of(record))


async def _queue_alone(store: Selects, run_id: str) -> str | None:
    """The queue of a run that is below no other, without a look at its record; else None."""
    for info in await store.select(Selection(run_id=run_id), 1):
        begun = summary(info)
        if begun is not None and info.base is None and not begun.started.parent:
            return queue_of(info)
    return None
