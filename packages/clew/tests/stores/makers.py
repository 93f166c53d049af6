"""Makers of our own stores, as the contracts that ship for other people's want them."""

from pathlib import Path

from clew import SqliteStore
from clew.core.stores import Store
from clew.stores.memory import MemoryStore
from clew_testing.store_contract import Make


def memory(_: Path) -> Make:
    """The one store, however often it is made: nothing of it outlives the process."""
    store = MemoryStore()

    async def make() -> Store:
        return store

    return make


def sqlite(place: Path) -> Make:
    """A file, opened anew each time."""

    async def make() -> Store:
        return SqliteStore(place / "runs.sqlite")

    return make
