"""A stream of each strategy and of a vote has every run below, with its place in the tree."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    Entry,
    MemoryStore,
    Nested,
    SqliteStore,
    follow,
    list_runs,
    read,
    serving,
    start,
)
from clew.interfaces import Store
from tests.strategies.test_deps import NAMES, Desk, answered, made, worker

DESK = Desk("u17")
ROOT = "s"


def asking() -> Agent[Any, Any]:
    return worker(deps=lambda _: DESK)


def numbers(items: Sequence[object]) -> dict[tuple[str, ...], list[int]]:
    """Which entries of which runs these are, in their order."""
    seen: dict[tuple[str, ...], list[int]] = {}
    for item in items:
        path, inner = (item.path, item.item) if isinstance(item, Nested) else ((), item)
        if isinstance(inner, Entry):
            seen.setdefault(path, []).append(inner.seq)
    return seen


async def check_tree(items: Sequence[object], store: Store) -> None:
    """Hold a stream to telling each entry of each run once, in its place."""
    seen = numbers(items)
    listed = await list_runs(0, store=store)
    assert {(path or (ROOT,))[-1] for path in seen} == {each.run_id for each in listed}
    for path, told in seen.items():
        record = await read((path or (ROOT,))[-1], store=store)
        assert told == list(range(1, len(record) + 1)), path
        above = (path[:-1] or (ROOT,))[-1]
        served = record.parent_call or record.started.parent
        assert not path or served.rpartition(":")[0] == above
    assert len(seen) > 1


@pytest.mark.parametrize("name", NAMES)
async def test_who_follows_from_the_beginning_has_the_whole_tree(name: str) -> None:
    store, live, begun = MemoryStore(), list[object](), anyio.Event()

    async def listen() -> None:
        await begun.wait()
        live.extend([item async for item in follow(ROOT, store=store)])

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        if name == "vote":
            await answered(name, asking(), store, run_id=ROOT)
            begun.set()
        else:
            events = await start(made(name, asking()), "Whose desk?", store=store, run_id=ROOT)
            begun.set()
            items = [item async for item in events]
            await check_tree(items, store)
    await check_tree(live, store)
    later = [item async for item in follow(ROOT, store=store)]
    assert numbers(later) == numbers(live)


async def test_who_follows_a_vote_while_it_is_taken_has_the_whole_tree() -> None:
    store, live = MemoryStore(), list[object]()

    async def listen() -> None:
        while not await store.ids(ROOT):
            await anyio.lowlevel.checkpoint()
        live.extend([item async for item in follow(ROOT, store=store)])

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await answered("vote", asking(), store, run_id=ROOT)
    await check_tree(live, store)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"vote"}))
async def test_who_leaves_at_an_item_ends_nothing_and_goes_on_behind_it(name: str) -> None:
    store = MemoryStore()
    for leave_at in (1, 4, 9):
        run_id = f"{ROOT}{leave_at}"
        async with serving(store=store) as app:
            events = await start(made(name, asking()), "Whose desk?", store=store, run_id=run_id)
            seen = list[object]()
            async with events:
                async for item in events:
                    seen.append(item)
                    if len(seen) == leave_at:
                        break
            await app.wait()
        rest = [item async for item in follow(run_id, after=events.position, store=store)]
        whole = [item async for item in follow(run_id, store=store)]
        both = numbers([*seen, *rest])
        assert both == numbers(whole)


WORKER = """
import sys, anyio
from clew import SqliteStore
from tests.strategies.test_deps import answered
from tests.strategies.test_streams import ROOT, asking

async def main():
    store = SqliteStore(sys.argv[1])
    await answered(sys.argv[2], asking(), store, run_id=ROOT)
    await store.close()

anyio.run(main)
"""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    opened = SqliteStore(tmp_path / "runs.sqlite")
    yield opened
    await opened.close()


@pytest.mark.slow
@pytest.mark.share(4)
@pytest.mark.parametrize("name", NAMES)
async def test_another_process_works_on_it(name: str, store: SqliteStore) -> None:
    command = [sys.executable, "-c", WORKER, str(store.path), name]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=env) as process:
        while not await store.ids(ROOT):
            assert process.poll() is None
            await anyio.sleep(0.01)
        items = [item async for item in follow(ROOT, store=store)]
        assert await anyio.to_thread.run_sync(process.wait) == 0
    await check_tree(items, store)
