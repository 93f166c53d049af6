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
    Idle,
    MemoryStore,
    Nested,
    SqliteStore,
    StoreError,
    Token,
    delegate,
    follow,
    open_run,
    read,
    resume,
    run,
    serving,
    start,
    stream,
    submit,
    sync,
)
from clew.core.stores import Store
from clew.stores.locks import claim, release_quietly, shared
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
    many = "9" * 5_000
    for wrong in ("x", "-1", "1,2.1", "1,2.1=x", "٣", -1, many, f"1,2.1={many}"):
        with pytest.raises(ConfigError, match="no place in a stream") as told:
            follow("r", after=wrong, store=store)
        assert len(str(told.value)) < 200
    for no_place in (None, True, 2.5, [1] * 3_000, 10**5_000, -(10**5_000)):
        with pytest.raises(ConfigError, match="no place in a stream") as told:
            follow("r", after=no_place, store=store)  # type: ignore[arg-type]  # it is refused
        assert len(str(told.value)) < 200
    for no_id in (5, None):
        with pytest.raises(ConfigError, match="give the id of a run"):
            follow(no_id, store=store)  # type: ignore[arg-type]  # it is refused
    with pytest.raises(StoreError) as unknown:
        await anext(follow("r" * 10_000, store=store))
    assert len(str(unknown.value)) < 400
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
    items, killed, left = list[object](), anyio.Event(), anyio.Event()
    with worker(place) as first:
        assert first.stdout
        assert await anyio.to_thread.run_sync(first.stdout.readline) == "begun\n"

        async def listen() -> None:
            async for item in follow("r", store=place):
                items.append(item)
                if len(items) == 3:
                    killed.set()
                if isinstance(item, Idle):
                    left.set()

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await killed.wait()
            first.send_signal(signal.SIGKILL)
            await anyio.to_thread.run_sync(first.wait)
            await left.wait()
            with worker(place, "resume") as second:
                await anyio.to_thread.run_sync(second.wait)
    length = len(await read("r", store=place))
    assert numbered(items) == [((), seq) for seq in range(1, length + 1)]


async def test_a_run_that_nobody_works_on_says_so_and_goes_on(store: Store) -> None:
    """By the store's claim: while somebody has it, however long that takes, nothing is told."""
    gate, items, idle = Gate(), list[object](), anyio.Event()

    async def begin() -> None:
        await start(paying(gate), "Pay.", store=store, run_id="r")
        await gate.begun.wait()

    async with serving(store=store):
        await begin()
        gate.go.set()  # an effect is seen to its end; the thought behind it is left
    length = len(await read("r", store=store))

    async def listen() -> None:
        async for item in follow("r", store=store):
            items.append(item)
            if isinstance(item, Idle):
                idle.set()

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await idle.wait()
        assert items[-1] == Idle("r")
        assert numbered(items) == [((), seq) for seq in range(1, length + 1)]
        lock = await claim(shared(store), "r") or ""
        assert "clew resume r" in Idle("r").hint
        await release_quietly(shared(store), lock)
        await resume(paying(gate), "r", store=store)
    whole = len(await read("r", store=store))
    assert numbered(items) == [((), seq) for seq in range(1, whole + 1)]
    assert items.count(Idle("r")) == 1


async def test_what_a_stream_of_an_open_run_tells_depends_on_its_claim(store: Store) -> None:
    gate = Gate()
    gate.go.set()
    async with open_run(agent(say("ok")), "What?", run_id="r", store=store):
        pass
    lock = await claim(shared(store), "r") or ""
    events = follow("r", store=store)
    for _ in (await read("r", store=store)).entries:  # it is begun, and was left in order
        assert isinstance(await anext(events), Entry)
    with anyio.move_on_after(0.3):
        pytest.fail(f"{await anext(events)} came while somebody has the run")
    await release_quietly(shared(store), lock)
    assert await anext(events) == Idle("r")
    await events.aclose()


async def test_a_run_below_is_idle_where_its_first_is_and_names_that(store: Store) -> None:
    """A run in a queue waits for a worker."""
    gate = Gate(effect="read")
    below = delegate(paying(gate), name="ask", description="Ask.")
    above = agent(act("ask", task="Pay."), say("ok"), tools=[below])
    async with serving(store=store) as app:
        await start(above, "Pay.", store=store, run_id="r")
        await gate.begun.wait()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await app.stop()
    events = follow("r-1.1", store=store)
    items = [await anext(events)]
    while not isinstance(items[-1], Idle):
        items.append(await anext(events))
    assert items[-1] == Idle("r")
    await events.aclose()
    await submit(agent(say("ok")), "What?", run_id="s", store=store)
    queued = follow("s", store=store)
    await anext(queued)
    told = await anext(queued)
    assert told == Idle("s", "default")
    assert isinstance(told, Idle)
    assert "a worker of queue 'default'" in told.hint
    await queued.aclose()


def test_without_a_loop(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    begun = sync.start(looking(), "Where?", store=place, run_id="r")
    assert begun.wait().answer == "It is found."
    whole = numbered(list(begun))
    later = sync.follow("r", after=3, store=place)
    assert numbered(list(later)) == whole[3:]
    assert later.position == str(len(whole))
    assert all(isinstance(item, Entry) for item in sync.follow("r", store=place))
