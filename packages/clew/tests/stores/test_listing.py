"""Listings: what a page costs does not grow with the runs that have stopped."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.core.stores import Append, Line
from clew.stores import open_store
from clew.stores.interface import Deletes
from clew.stores.listing import status_of
from clew_testing.store_contract import append

pytestmark = pytest.mark.both_loops

STOP = b'{"event":"stop","status":"answered","reason":"","answer":"4","fallback":false}'
HELD = STOP.replace(b"answered", b"held")
AT = 1_790_000_000_000


async def fill(store: SqliteStore, first: int, last: int) -> None:
    """Write runs that were answered; one in a hundred is held, one in two hundred is open."""
    for number in range(first, last):
        run_id = f"2026{number:06}-{number * 7919 % 99_991:05}"
        lines = [Line(seq, AT + number, 1, b"{}", b"h") for seq in (1, 2)]
        if number % 200:
            lines.append(Line(3, AT + number, 1, STOP if number % 100 else HELD, b"h"))
        await store.create(run_id)
        await store.append(Append(run_id, 1, tuple(lines)))


async def cost(store: SqliteStore, work: Callable[[SqliteStore], Awaitable[object]]) -> int:
    """How many instructions of SQLite's machine a listing takes."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    store._connection.set_progress_handler(step, 1)  # noqa: SLF001 - nobody else can be asked
    await work(store)
    store._connection.set_progress_handler(None, 1)  # noqa: SLF001 - the same
    return count


async def test_a_page_costs_the_same_in_a_store_of_twenty_times_the_runs(tmp_path: Path) -> None:
    """Of held and open runs there are as many in both: those are looked through."""
    few, many = SqliteStore(tmp_path / "few.sqlite"), SqliteStore(tmp_path / "many.sqlite")
    for store in (few, many):
        await fill(store, 1, 301)
    for number in range(1, 6000):
        run_id = f"2025{number:06}"
        await many.create(run_id)
        await many.append(Append(run_id, 1, (Line(1, AT - number, 1, STOP, b"h"),)))
    (newest,) = await many.runs(1)
    asked: list[Callable[[SqliteStore], Awaitable[object]]] = [
        lambda store: store.runs(20),
        lambda store: store.runs(20, newest),
        lambda store: store.runs(20, None, "answered"),
        lambda store: store.runs(0, None, "held"),
        lambda store: store.runs(0, None, "open"),
        lambda store: store.ids("2026000007-"),
    ]
    for what in asked:
        costs = [await cost(store, what) for store in (few, many)]
        assert 0 < costs[1] <= costs[0] * 1.5
    assert len(await many.runs()) == 6299
    await few.close()
    await many.close()


@pytest.mark.parametrize("kind", ["memory:", "runs.sqlite"])
async def test_a_page_follows_one_that_ended_with_a_run_forgotten_since(
    kind: str, tmp_path: Path
) -> None:
    """What was written at the same time may be left out; nothing comes twice."""
    store = open_store(kind if kind == "memory:" else f"{tmp_path}/{kind}")
    assert isinstance(store, Deletes)
    for at, run_id in enumerate("abcd"):
        await store.append(append(run_id, await store.create(run_id), 1, at=at))
    (_, last) = await store.runs(2)
    await store.forget(last.run_id)
    assert [run.run_id for run in await store.runs(2, last)] == ["b", "a"]
    await store.close()


def test_a_stop_that_cannot_be_read_is_none() -> None:
    """Somebody wrote into the record by hand."""
    assert status_of(STOP[:-2]) == "open"
    assert status_of(STOP) == "answered"
    assert status_of(b"{}") == "open"


async def test_ids_are_found_in_a_damaged_file(tmp_path: Path) -> None:
    """Where the index of ids is broken, among those that can be read another way."""
    store = SqliteStore(tmp_path / "runs.sqlite")
    for number in range(300):
        await store.append(append(f"run-{number}", await store.create(f"run-{number}"), 1))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection:
        page = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_runs_1'"
        ).fetchone()[0]
    with (tmp_path / "runs.sqlite").open("r+b") as file:
        file.seek((page - 1) * 512)
        file.write(b"\xff" * 512)
    store = SqliteStore(tmp_path / "runs.sqlite")
    assert await store.ids("run-29", 3) == ["run-29", "run-290", "run-291"]
    salvaged = await store.salvage()
    assert salvaged is not None
    assert await salvaged[0].ids("run-29", 1) == ["run-29"]
    await store.close()
