"""Following a run from an entry on: nothing is lost, nothing comes twice, whoever works on it."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Entry,
    MemoryStore,
    Nested,
    SqliteStore,
    StoreError,
    Token,
    follow,
    read,
    run,
    start,
    stream,
    sync,
)
from clew.core.interfaces import Store
from clew.testing import act, say
from tests.streaming.runs import Gate, agent, family, look_up, numbered, paying

pytestmark = pytest.mark.both_loops


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.sqlite")
    yield made
    await made.close()


def looking() -> Agent:
    return agent(act("look"), act("look"), say("It is found."), tools=[look_up()])


async def test_an_ended_run_is_followed_from_every_entry_on(store: Store) -> None:
    await run(looking(), "Where?", store=store, run_id="r")
    length = len(await read("r", store=store))
    for after in range(length + 1):
        items = [item async for item in follow("r", after=after, store=store)]
        assert numbered(items) == [((), seq) for seq in range(after + 1, length + 1)]
    with pytest.raises(ConfigError, match=f"has {length} entries"):
        await anext(follow("r", after=length + 1, store=store))


async def test_what_is_no_place_or_no_run_is_told(store: Store) -> None:
    for wrong in ("x", "-1", "1,2.1", "1,2.1=x", -1):
        with pytest.raises(ConfigError, match="no place in a stream"):
            follow("r", after=wrong, store=store)
    with pytest.raises(StoreError):
        await anext(follow("unknown", store=store))


async def test_a_stream_left_at_each_item_goes_on_where_it_was(store: Store) -> None:
    gate = Gate()
    seen, position = list[object](), "0"
    events = await start(paying(gate), "Pay.", store=store, run_id="r")
    gate.go.set()
    while True:
        async with follow("r", after=position, store=store) as again:
            if (item := await anext(again, None)) is None:
                break
            seen.append(item)
            position = again.position
    result = await events.wait()
    assert result.answer == "It is paid."
    length = len(await read("r", store=store))
    assert numbered(seen) == [((), seq) for seq in range(1, length + 1)]
    assert gate.calls == 1


async def test_runs_below_come_with_their_place_in_the_tree(store: Store) -> None:
    async with stream(family(), "Where?", store=store, run_id="r") as events:
        items = [item async for item in events]
    expected = {
        path: [seq for it, seq in numbered(items) if it == path]
        for path in {path for path, _ in numbered(items)}
    }
    assert set(expected) == {(), ("r-1.1",), ("r-2.1",), ("r-2.1", "r-2.1-1.1")}
    for path, numbers in expected.items():
        length = len(await read(path[-1] if path else "r", store=store))
        assert numbers == list(range(1, length + 1)), path
    words = {item.path for item in items if isinstance(item, Nested) and type(item.item) is Token}
    assert words == set(expected) - {()}
    again = [item async for item in follow("r", store=store)]
    assert numbered(again) == numbered(items)  # what was shown live, and what the store has


async def test_a_stream_of_a_tree_left_at_each_item_goes_on_where_it_was(store: Store) -> None:
    await run(family(), "Where?", store=store, run_id="r")
    everything = [item async for item in follow("r", store=store)]
    seen, position = list[object](), "0"
    while True:
        events = follow("r", after=position, store=store)
        if (item := await anext(events, None)) is None:
            break
        seen.append(item)
        position = events.position
    assert numbered(seen) == numbered(everything)


async def test_whoever_stops_waiting_for_an_item_can_wait_again(store: Store) -> None:
    gate = Gate()
    events = await start(paying(gate), "Pay.", store=store, run_id="r")
    items = list[object]()
    await gate.begun.wait()
    for _ in range(3):
        with anyio.move_on_after(0.01):
            while True:
                items.append(await anext(events))
    gate.go.set()
    items += [item async for item in events]
    assert (
        numbered(items) == [((), seq) for seq in range(1, len(items) + 1)][: len(numbered(items))]
    )
    assert events.result is not None
    assert events.result.answer == "It is paid."


async def test_a_run_that_begins_later_is_followed_with_its_words() -> None:
    """Who follows an open run is shown it at work as soon as this process takes it up."""
    store, gate = MemoryStore(), Gate()
    first = await start(paying(gate), "Pay.", store=store, run_id="r")
    await gate.begun.wait()
    items = list[object]()

    async def listen() -> None:
        items.extend([item async for item in follow("r", store=store)])

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await anyio.wait_all_tasks_blocked()
        gate.go.set()
    await first.wait()
    assert [item.text for item in items if isinstance(item, Token)] == ["It", " is", " paid."]


WORKER = """
import sys, anyio
from clew import SqliteStore, run, resume
from tests.streaming.runs import paying, Gate

async def main():
    gate = Gate()
    store = SqliteStore(sys.argv[1])
    async with anyio.create_task_group() as group:
        async def let_go():
            await gate.begun.wait()
            print("begun", flush=True)
            await anyio.to_thread.run_sync(sys.stdin.readline)
            gate.go.set()
        group.start_soon(let_go)
        if sys.argv[2] == "run":
            await run(paying(gate), "Pay.", store=store, run_id="r")
        else:
            await resume(paying(gate), "r", store=store)
            group.cancel_scope.cancel()
    await store.close()

anyio.run(main)
"""


def worker(place: Path, what: str = "run") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(place), what],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


@pytest.mark.slow
async def test_another_process_works_is_killed_and_the_next_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    items, killed = list[object](), anyio.Event()
    with worker(place) as first:
        assert first.stdout
        assert await anyio.to_thread.run_sync(first.stdout.readline) == "begun\n"

        async def listen() -> None:
            async for item in follow("r", store=place):
                items.append(item)
                if len(items) == 3:
                    killed.set()

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await killed.wait()
            first.send_signal(signal.SIGKILL)
            await anyio.to_thread.run_sync(first.wait)
            with worker(place, "resume") as second:
                await anyio.to_thread.run_sync(second.wait)
    length = len(await read("r", store=place))
    assert numbered(items) == [((), seq) for seq in range(1, length + 1)]


def test_without_a_loop(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    begun = sync.start(looking(), "Where?", store=place, run_id="r")
    assert begun.wait().answer == "It is found."
    whole = numbered(list(begun))
    later = sync.follow("r", after=3, store=place)
    assert numbered(list(later)) == whole[3:]
    assert later.position == str(len(whole))
    assert all(isinstance(item, Entry) for item in sync.follow("r", store=place))
