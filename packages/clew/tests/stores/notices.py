"""What a store must do that remembers who was told of a run; PostgreSQL is held to it too."""

import pytest

from clew import StoreError
from clew.core.stores import Store
from clew.stores.interface import Deletes, RemembersNotices
from clew_testing.store_lines import Make, append


def _remembers(store: Store) -> RemembersNotices:
    assert isinstance(store, RemembersNotices)
    return store


async def notices_are_kept_for_every_instance_and_go_with_the_run(make: Make) -> None:
    store, other = await make(), await make()
    for run_id in ("r", "s"):
        await store.append(append(run_id, await store.create(run_id), 1, 2, barrier=True))
    assert await _remembers(other).notified("r") == 0
    await _remembers(store).set_notified("r", 2)
    assert await _remembers(other).notified("r") == 2
    await _remembers(other).set_notified("r", 5)
    assert await _remembers(store).notified("r") == 5
    assert await _remembers(store).notified("s") == 0
    assert isinstance(store, Deletes)
    await store.forget("r")
    for unknown in ("r", "t"):
        with pytest.raises(StoreError):
            await _remembers(store).notified(unknown)
        with pytest.raises(StoreError):
            await _remembers(store).set_notified(unknown, 1)
    await store.append(append("r", await store.create("r"), 1, barrier=True))
    assert await _remembers(other).notified("r") == 0, "a new run of that id was not told of"
    await store.close()
    await other.close()
