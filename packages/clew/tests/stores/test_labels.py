"""Runs are found by their labels and owner without a look at the lines of others."""

import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from clew import (
    Agent,
    MemoryStore,
    Observation,
    SqliteStore,
    StoreError,
    list_runs,
    read,
    run,
    tool,
)
from clew.core.stores import Append, Line, RunInfo, Store
from clew.stores import RunNotFoundError
from clew.stores.labels import Selection
from clew.stores.listing import entries_after, runs_with
from clew.testing import ScriptedModel, act, finish
from clew_testing.store_lines import append
from tests.stores.bare_store import BareStore

RARE = {"user": "ada"}
COMMON = {"plan": "gold"}


async def filled(store: Store, runs: int, every: int) -> list[str]:
    """So many runs of a common label, every so manieth of which has the rare one too."""
    rare: list[str] = []
    for number in range(runs):
        run_id = f"r{number}"
        labels = COMMON | (RARE if number % every == 0 else {})
        rare += [run_id] if number % every == 0 else []
        (line,) = append(run_id, await store.create(run_id), 1, at=number).lines
        named = ",".join(f'"{name}":"{value}"' for name, value in labels.items())
        body = f'{{"event":"started","question":[{{"text":"?"}}],"labels":{{{named}}}}}'.encode()
        first = Line(1, line.at, line.epoch, body, line.hash)
        await store.append(Append(run_id, 1, (first,)))
        if number % 2:
            stop = b'{"event":"stop","status":"answered","reason":"","answer":null}'
            await store.append(Append(run_id, 1, (Line(2, line.at, 1, stop, b"h"),)))
    return rare[::-1]


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda place: SqliteStore(place / "runs.sqlite"),
    "bare": lambda _: cast("Store", BareStore()),
}


@pytest.mark.parametrize("kind", STORES)
async def test_runs_are_found_by_their_labels(kind: str, tmp_path: Path) -> None:
    """In every store, whether it selects them itself or is asked for all."""
    store = STORES[kind](tmp_path)
    wanted = await filled(store, 230, 7)
    for limit in (0, 3, len(wanted), 400):
        listed = await runs_with(store, limit, labels=RARE | COMMON)
        assert [each.run_id for each in listed] == wanted[: limit or None]
    answered = await runs_with(store, 0, labels=RARE, status="answered")
    assert {each.run_id for each in answered} == {one for one in wanted if int(one[1:]) % 2}
    opened = await runs_with(store, 2, labels=RARE, status="open")
    assert [each.run_id for each in opened] == [one for one in wanted if not int(one[1:]) % 2][:2]
    assert await runs_with(store, labels=RARE, owner="bob") == []
    await store.close()


@pytest.mark.parametrize("labels", [{}, RARE], ids=["all", "some"])
@pytest.mark.parametrize("kind", STORES)
async def test_pages_behind_a_run_have_each_run_once(
    kind: str, labels: dict[str, str], tmp_path: Path
) -> None:
    store = STORES[kind](tmp_path)
    wanted = await filled(store, 30, 2)
    pages: list[RunInfo] = []
    while page := await runs_with(store, 4, labels=labels, after=pages[-1] if pages else None):
        pages += page
    listed = [each.run_id for each in pages]
    assert listed == (wanted if labels else [f"r{number}" for number in reversed(range(30))])
    await store.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_page_of_entries_reads_the_contents_of_that_page_alone(
    kind: str, tmp_path: Path
) -> None:
    @tool(effect="read")
    def look() -> str:
        """Look."""
        return "x" * 100_000

    store = STORES[kind](tmp_path)
    one = Agent(ScriptedModel([act("look"), finish("Seen.")]), [look])
    await run(one, "Well?", store=store, run_id="r")
    entries = (await read("r", store=store)).entries
    pages = [await entries_after(store, "r", after, 2) for after in range(0, len(entries), 2)]
    assert [entry for page in pages for entry in page] == entries
    (long,) = [each.seq for each in entries if isinstance(each.event, Observation)][:1]
    if kind == "memory":
        return
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection:
        connection.execute("DELETE FROM blobs")
        connection.commit()
    assert await entries_after(store, "r", long, 9) == entries[long:]
    with pytest.raises(StoreError):
        await entries_after(store, "r", long - 1, 1)
    await store.close()


async def test_a_page_of_an_owner_goes_on_behind_a_run_of_that_owner_alone() -> None:
    store, one = MemoryStore(), Agent(ScriptedModel([finish("Yes.")]))
    for number in range(4):
        owner = "ada" if number % 2 else "bob"
        await run(one, "Well?", store=store, run_id=f"r{number}", owner=owner)
    first = await list_runs(1, store=store, owner="ada")
    (rest,) = await list_runs(store=store, owner="ada", after=first[0].run_id)
    assert {first[0].run_id, rest.run_id} == {"r1", "r3"}
    with pytest.raises(RunNotFoundError):
        await list_runs(store=store, owner="ada", after="r0")
    with pytest.raises(RunNotFoundError):
        await list_runs(store=store, after="r9")


def grown(path: Path, runs: int, rare: int) -> SqliteStore:
    """A store of so many runs that have the common label, and so many that have the rare one."""
    SqliteStore(path)  # which makes the tables
    digests = [Selection(labels).digests[0] for labels in (COMMON, RARE)]
    numbers = range(1, runs + 1)
    chosen = numbers[:: runs // rare][:rare]
    with closing(sqlite3.connect(path)) as file, file:
        tables: dict[str, Iterable[tuple[Any, ...]]] = {
            "runs (number, run_id, epoch, indexed)": ((n, f"r{n}", 1, 1) for n in numbers),
            "entries (key, at, epoch, hash, body)": (
                ((n << 32) + 1, n, 1, b"h", b'"no event"') for n in numbers
            ),
            "stopped_runs (number, at, status)": ((n, n, "answered") for n in numbers),
            "labels (digest, number)": [
                *((digests[0], n) for n in numbers), *((digests[1], n) for n in chosen)
            ],
        }  # fmt: skip
        for table, rows in tables.items():
            places = ", ".join("?" for _ in table.split(","))
            file.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    return SqliteStore(path)


async def instructions(store: SqliteStore, ask: Awaitable[list[RunInfo]]) -> tuple[int, list[str]]:
    """How many instructions of SQLite a listing takes, in tens, and what it lists."""
    count = 0

    def more() -> None:
        nonlocal count
        count += 1

    connection = vars(store)["_connection"]
    connection.set_progress_handler(more, 10)
    try:
        listed = await ask
    finally:
        connection.set_progress_handler(None, 0)
    return count, [run.run_id for run in listed]


@pytest.mark.slow
async def test_a_listing_by_label_reads_no_other_runs(tmp_path: Path) -> None:
    """1,000 of 100,000 runs cost what they cost where there are no others."""
    costs: dict[str, list[int]] = {}
    for runs in (1000, 100_000):
        async with grown(tmp_path / f"{runs}.sqlite", runs, 1000) as store:
            every = runs // 1000
            rare = [f"r{n}" for n in range(1, runs + 1, every)][::-1]
            latest = [f"r{n}" for n in range(runs, runs - 50, -1)]
            for name, labels, limit, wanted in (
                ("rare", RARE, 0, rare),
                ("rare, a page", RARE, 50, rare[:50]),
                ("both", RARE | COMMON, 20, rare[:20]),
                ("common, a page", COMMON, 50, latest),
            ):
                cost, listed = await instructions(store, runs_with(store, limit, labels=labels))
                assert listed == wanted
                costs.setdefault(name, []).append(cost)
    assert {name for name, (few, many) in costs.items() if many > 2 * few} == set()
