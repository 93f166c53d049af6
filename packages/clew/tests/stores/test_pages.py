"""Pages of a record: together they are the record, and each reads no more than it has."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from typing_extensions import override

from clew import (
    Agent,
    MemoryStore,
    PartError,
    SqliteStore,
    StoreError,
    fork,
    read,
    resume,
    rewind,
    run,
    tool,
)
from clew.core.stores import Append, Line, Store
from clew.stores import store_at
from clew.stores.listing import entries_after
from clew.testing import ScriptedModel, act, finish
from clew_testing.store_lines import append
from tests.stores.bare_store import BareStore

KEY = 0x5A
MILLION = 1_000_000


def turned(line: Line) -> Line:
    """The line as a cipher leaves it, or as it was before."""
    return replace(line, body=bytes(byte ^ KEY for byte in line.body))


class Ciphered(MemoryStore):
    """Somebody's store, of before there were pages: nobody reads what lies in it."""

    @override
    async def append(self, append: Append) -> bool:
        return await super().append(replace(append, lines=(*map(turned, append.lines),)))

    @override
    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return [turned(line) for line in await super().read(run_id, after)]


class Wrapped:
    """The same around another store, whose other methods it passes on."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def append(self, append: Append) -> bool:
        return await self.store.append(replace(append, lines=(*map(turned, append.lines),)))

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return [turned(line) for line in await self.store.read(run_id, after)]


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda place: SqliteStore(place / "runs.sqlite"),
    "bare": lambda _: cast("Store", BareStore()),
    "ciphered": lambda _: Ciphered(),
    "wrapped": lambda place: cast("Store", Wrapped(SqliteStore(place / "runs.sqlite"))),
}


@tool(effect="read")
def look() -> str:
    """Look."""
    return "x" * 20_000


async def records(store: Store) -> list[str]:
    """The ids of a run as it was, one forked, one rewound, and forks of both."""
    agent = Agent(ScriptedModel([act("look"), act("look"), finish("Seen.")]), [look])
    await run(agent, "Well?", store=store, run_id="plain")
    await fork(agent, "plain", at=1, say="And now?", store=store, new_id="forked")
    await run(agent, "Well?", store=store, run_id="rewound")
    await rewind("rewound", to=1, lesson="Not so.", store=store)
    await resume(agent, "rewound", store=store)
    await fork(agent, "rewound", at=1, store=store, new_id="of-rewound")
    await fork(agent, "forked", at=2, store=store, new_id="of-forked")
    return ["plain", "forked", "rewound", "of-rewound", "of-forked"]


@pytest.mark.parametrize("kind", STORES)
async def test_the_pages_of_a_record_are_the_record(kind: str, tmp_path: Path) -> None:
    async with store_at(STORES[kind](tmp_path)) as store:
        for run_id in await records(store):
            entries = (await read(run_id, store=store)).entries
            for size in range(1, len(entries) + 2):
                starts = range(0, len(entries) + 1, size)
                pages = [await entries_after(store, run_id, after, size) for after in starts]
                assert all(len(page) <= size for page in pages)
                assert [entry for page in pages for entry in page] == entries
        await store.close()


async def test_a_page_takes_no_memory_for_the_lines_that_it_has_not(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    epoch = await store.create("long")
    for seq in range(1, 41):
        (line,) = append("long", epoch, seq).lines
        await store.append(Append("long", epoch, (replace(line, body=b"x" * MILLION),)))
    tracemalloc.start()
    try:
        for after in (0, 20, 38):
            tracemalloc.reset_peak()
            assert len(await store.read_page("long", after, 2)) == 2
            assert tracemalloc.get_traced_memory()[1] < 6 * MILLION
    finally:
        tracemalloc.stop()
    await store.close()


class Odd(MemoryStore):
    """Its pages are none."""

    @override
    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return await super().read(run_id, after)

    @override
    async def read_page(self, run_id: str, after: int, limit: int) -> Any:
        return "no page"


async def test_a_page_that_is_none_is_told_of_the_store() -> None:
    own = Odd()
    await run(Agent(ScriptedModel([finish("Yes.")])), "Well?", store=own, run_id="r")
    async with store_at(own) as store:
        with pytest.raises(PartError, match=r"Odd \(read_page\)"):
            await entries_after(store, "r", 0, 1)
        with pytest.raises(PartError):
            await entries_after(store, "nobody", 0, 1)
    with pytest.raises(StoreError):
        await entries_after(MemoryStore(), "nobody", 0, 1)
