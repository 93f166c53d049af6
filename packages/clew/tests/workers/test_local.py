"""Workers in this process: what they take up, leave alone, hand on and tell."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from anyio.streams.memory import MemoryObjectSendStream
from typing_extensions import override

from clew import (
    Agent,
    ConfigError,
    Entry,
    MemoryStore,
    ModelError,
    SqliteStore,
    StoreError,
    Verdict,
    follow,
    fork,
    read,
    resume,
    rule,
    submit,
    sync,
    tool,
)
from clew.agent.runner import start, take_up
from clew.agent_files import ORIGIN, Spec, make_agent, origin
from clew.core.contents import Observation, text_parts
from clew.core.events import Cancel, Note, Stop
from clew.core.prompts import Prompt
from clew.core.stores import Append, Store
from clew.core.tools import Tool
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode
from clew.stores.locks import claim, queue_of
from clew.testing.models import Line, ScriptedModel, act, say
from clew.workers import Monitor, WorkerConfig, WorkerEvent, status, work
from clew.workers.agents import KnownAgents
from clew.workers.backoff import FIRST, MAX_DELAY, Backoff
from tests.patience import PATIENCE
from tests.stores.bare_store import BareStore

pytestmark = pytest.mark.both_loops


@dataclass
class Teller:
    """What a worker told, and somebody who can wait for it."""

    told: list[WorkerEvent] = field(default_factory=list[WorkerEvent])
    _more: anyio.Event = field(default_factory=anyio.Event)

    def __call__(self, news: WorkerEvent) -> None:
        self.told.append(news)
        self._more.set()
        self._more = anyio.Event()

    async def hears(self, what: str, times: int = 1) -> WorkerEvent:
        """The news of this kind, the first or a later one, once it is told."""
        with anyio.fail_after(PATIENCE):
            while len(found := self.of(what)) < times:
                await self._more.wait()
        return found[times - 1]

    def of(self, what: str) -> list[WorkerEvent]:
        return [news for news in self.told if news.what == what]


@asynccontextmanager
async def serving(store: Store, *agents: Agent, **how: Any) -> AsyncGenerator[Teller]:
    """A worker at work; in the end it is told to leave."""
    teller = Teller()
    config = WorkerConfig(store=store, agents=agents, **how)
    async with anyio.create_task_group() as group:
        group.start_soon(partial(work, config, on_event=teller))
        yield teller
        group.cancel_scope.cancel()


async def serve_all(store: Store, *agents: Agent, **how: Any) -> list[WorkerEvent]:
    """Serve until nothing is left to do: what was told."""
    teller = Teller()
    config = WorkerConfig(store=store, agents=agents, until_idle=True, **how)
    with anyio.fail_after(PATIENCE):
        await work(config, on_event=teller)
    return teller.told


def answering(*script: Line, tools: Sequence[Tool] = (), **more: Any) -> Agent:
    return Agent(model=ScriptedModel(script or [say("yes")]), tools=tools, **more)


@dataclass
class Gate:
    """A tool that waits until it is let through."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    open: anyio.Event = field(default_factory=anyio.Event)

    @property
    def tool(self) -> Tool:
        @tool(effect="unsafe")
        async def cross() -> str:
            """Cross the bridge."""
            self.begun.set()
            await self.open.wait()
            return "crossed"

        return cross


async def standing(store: Store, run_id: str) -> str:
    return await status(run_id, store=store)


# ------------------------------------------------------------- what is done


async def entries_of(run_id: str, store: Store) -> AsyncGenerator[Entry]:
    """What is shown of a run, without what its record does not hold."""
    async with aclosing(follow(run_id, store=store)) as items:
        async for each in items:
            if isinstance(each, Entry):
                yield each


async def test_runs_are_carried_so_many_at_once() -> None:
    store, now, most, three = MemoryStore(), 0, 0, anyio.Event()

    @tool(effect="read")
    async def look() -> str:
        """Look, and wait until three do: then a fourth has had the time to come too."""
        nonlocal now, most
        now += 1
        most = max(most, now)
        if now == 3:
            await anyio.wait_all_tasks_blocked()
            three.set()
        await three.wait()
        now -= 1
        return "seen"

    agent = answering(act("look"), say("yes"), tools=[look])
    ids = [await submit(agent, f"question {number}", store=store) for number in range(10)]
    assert await standing(store, ids[0]) == "waiting"
    told = await serve_all(store, agent, at_once=3, name="one")
    assert told[0] == WorkerEvent("serving", text="one serves the queue 'default'")
    taken = [news.run_id for news in told if news.what == "taken"]
    assert sorted(taken) == sorted(ids)
    assert set(taken[:3]) == set(ids[:3])  # the oldest first
    assert {await standing(store, run_id) for run_id in ids} == {"answered"}
    assert most == 3
    assert await store.claim("worker:one")


async def test_two_workers_do_nothing_twice(tmp_path: Path) -> None:
    one, other = SqliteStore(tmp_path / "runs"), SqliteStore(tmp_path / "runs")
    agent = answering()
    ids = [await submit(agent, "?", store=one) for _ in range(20)]
    told: list[WorkerEvent] = []

    async def serve(store: Store) -> None:
        told.extend(await serve_all(store, agent, at_once=2, name=str(id(store))))

    async with anyio.create_task_group() as group:
        group.start_soon(serve, one)
        group.start_soon(serve, other)
    assert sorted(news.run_id for news in told if news.what == "ended") == sorted(ids)
    records = [await read(run_id, store=one) for run_id in ids]
    assert {
        tuple(type(entry.event).__name__ for entry in record.entries) for record in records
    } == {("Started", "Thought", "Stop")}
    assert {record.entries[-1].epoch for record in records} == {2}
    await one.close()
    await other.close()


async def test_a_worker_serves_its_own_queue_only() -> None:
    store, agent = MemoryStore(), answering()
    usual = await submit(agent, "?", store=store)
    nightly = await submit(agent, "?", store=store, queue="nightly")
    own = (await start(agent, "?", store)).run_id
    told = await serve_all(store, agent, queue="nightly")
    assert [news.run_id for news in told if news.what == "ended"] == [nightly]
    assert [await standing(store, run_id) for run_id in (usual, nightly)] == [
        "waiting", "answered",
    ]  # fmt: skip
    assert (await read(own, store=store)).stop is None


async def test_a_held_run_holds_no_worker_and_comes_back_when_ruled_on() -> None:
    async def ask(call: Call, _: object) -> Verdict:
        return Verdict("hold", "a person decides")

    @tool(effect="unsafe")
    def pay() -> str:
        """Pay."""
        return "paid"

    store = MemoryStore()
    agent = answering(act("pay"), say("done"), tools=[pay], guards=[ask])
    async with serving(store, agent, at_once=1) as teller:
        held = await submit(agent, "Pay", store=store)
        assert (await teller.hears("ended")).text == "held"
        assert await standing(store, held) == "held"
        other = answering(act("pay"), say("done"), tools=[pay], guards=[ask])
        assert await submit(other, "Pay too", store=store)  # the one hand is free for it
        assert (await teller.hears("ended", 2)).text == "held"
        await rule(f"{held}:1.1", allow=True, store=store)
        last = await teller.hears("ended", 3)
    assert (last.run_id, last.text) == (held, "answered")


async def test_a_word_that_changes_nothing_is_taken_in_once() -> None:
    store, agent = MemoryStore(), answering()
    run_id = await submit(agent, "?", store=store)
    await serve_all(store, agent)
    await store.post(run_id, encode(Cancel("too late")))
    assert [run.run_id for run in await store.due()] == [run_id]
    await serve_all(store, agent)
    record = await read(run_id, store=store)
    assert [type(entry.event) for entry in record.entries[-3:]] == [Stop, Cancel, Stop]
    assert await store.due() == []
    told = await serve_all(store, agent)
    assert [news.what for news in told] == ["serving"]
    assert await store.open(run_id) == record.entries[-1].epoch + 1


async def test_what_was_left_open_by_others_is_taken_up_at_the_start() -> None:
    store, agent = MemoryStore(), answering()
    run_id = await submit(agent, "?", store=store)
    lock = await claim(store, run_id)
    assert await standing(store, run_id) == "working"
    assert [news.what for news in await serve_all(store, agent)] == ["serving"]
    assert lock is not None
    await store.release(lock)  # as the kernel does when its holder is killed
    assert [news.what for news in await serve_all(store, agent)] == ["serving", "taken", "ended"]


async def test_the_agent_of_a_run_that_another_has_is_made_beforehand() -> None:
    store, agent, made = MemoryStore(), answering(), list[str]()

    async def agents(record: Trajectory) -> Agent:
        made.append(record.run_id)
        if len(made) > 1:
            raise KeyError("a part of it fails while it is made")
        return agent

    ids = [await submit(agent, "?", store=store) for _ in range(2)]
    other = await submit(agent.replace(prompt="Be short."), "?", store=store)
    for run_id in (*ids, other):
        await store.claim(run_id)
    told: list[WorkerEvent] = []
    config = WorkerConfig(store=store, agents=agents, until_idle=True)
    await work(config, on_event=told.append)
    assert [news.what for news in told] == ["serving"]
    assert made == [ids[0], other]  # once for each agent


# ------------------------------------------------------------- leaving


async def test_a_worker_that_leaves_ends_the_step_and_others_go_on() -> None:
    store, gate = MemoryStore(), Gate()
    agent = answering(act("cross"), say("done"), tools=[gate.tool])
    run_id = await submit(agent, "Cross", store=store)
    teller = Teller()
    config = WorkerConfig(store=store, agents=[agent])
    ended = anyio.Event()

    async def serve() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await work(config, on_event=teller)
        ended.set()

    scopes: list[anyio.CancelScope] = []
    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        await gate.begun.wait()
        scopes[0].cancel()
        await anyio.wait_all_tasks_blocked()
        assert not ended.is_set()  # the call is at work, and its step is ended
        gate.open.set()
        with anyio.fail_after(PATIENCE):
            await ended.wait()
    assert [news.what for news in teller.told] == ["serving", "taken", "left"]
    record = await read(run_id, store=store)
    assert [call.observation is None for call in record.calls] == [False]
    assert (len(record.steps), record.stop) == (1, None)
    await serve_all(store, agent)
    assert [type(entry.event) for entry in (await read(run_id, store=store)).entries].count(
        Observation
    ) == 1
    assert await standing(store, run_id) == "answered"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_of_asyncio_that_serves_and_is_cancelled_ends_the_step_too() -> None:
    store, gate = MemoryStore(), Gate()
    agent = answering(act("cross"), say("done"), tools=[gate.tool])
    run_id = await submit(agent, "Cross", store=store)
    teller = Teller()
    config = WorkerConfig(store=store, agents=[agent])
    with anyio.fail_after(PATIENCE):
        task = asyncio.create_task(work(config, on_event=teller))
        await gate.begun.wait()
        task.cancel()
        await anyio.wait_all_tasks_blocked()
        gate.open.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [news.what for news in teller.told] == ["serving", "taken", "left"]
    record = await read(run_id, store=store)
    assert [call.observation is None for call in record.calls] == [False]


# ------------------------------------------------------------- what is refused


async def test_a_run_whose_agent_is_not_here_is_left_to_others_and_told_once() -> None:
    store = MemoryStore()
    here, there = answering(), answering(say("no"), prompt="Answer in verse.")
    ids = [await submit(there, "?", store=store) for _ in range(3)]
    own = await submit(here, "?", store=store)
    told = await serve_all(store, here)
    (refused,) = [news for news in told if news.what == "refused"]
    mark, mine = (agent.spec.fingerprint[:8] for agent in (there, here))
    assert refused.text == (
        f"the agent scripted:test ({mark}) is not here: agent 1 differs in prompt "
        f"(here: agent 1 scripted:test ({mine}))"
    )
    assert [await standing(store, run_id) for run_id in (*ids, own)] == [
        "waiting", "waiting", "waiting", "answered",
    ]  # fmt: skip
    assert await store.open(ids[0]) == 2  # nobody had opened it
    await serve_all(store, there)
    assert {await standing(store, run_id) for run_id in ids} == {"answered"}


async def test_an_agent_is_made_of_what_the_record_says_unless_it_comes_out_differently() -> None:
    store, agents = MemoryStore(), KnownAgents({}, recorded=True)
    spec = Spec(model="offline", tools=("calc",))
    made = make_agent(spec)
    same = await submit(made, "?", store=store, origin=origin(spec))
    other = await submit(made.replace(prompt="Be short."), "?", store=store, origin=origin(spec))
    program = await submit(answering(), "?", store=store)
    agent = await agents(await read(same, store=store))
    assert agent.spec == made.spec
    assert await agents(await read(same, store=store)) is agent
    with pytest.raises(ConfigError, match="differs in prompt from what is made of it here"):
        await agents(await read(other, store=store))
    with pytest.raises(ConfigError, match="a program began the run"):
        await agents(await read(program, store=store))
    bad = await submit(made, "?", store=store, origin={ORIGIN: {"colour": "red"}})
    with pytest.raises(ConfigError, match="options this clew does not know"):
        await agents(await read(bad, store=store))


async def test_two_workers_of_one_name_and_stores_that_cannot_be_shared_are_refused() -> None:
    store = MemoryStore()
    async with serving(store, answering(), name="one") as teller:
        await teller.hears("serving")
        second = WorkerConfig(store=store, name="one")
        with pytest.raises(ConfigError, match="there is a worker 'one' at this store"):
            await work(second)
    with pytest.raises(ConfigError, match="workers cannot share this store"):
        await work(WorkerConfig(store=cast("Store", BareStore())))
    with pytest.raises(ConfigError, match=r"store is <object.*: give a store"):
        await work(WorkerConfig(store=cast("Store", object())))
    wrongs: list[dict[str, Any]] = [{"at_once": 0}, {"queue": ""}, {"name": ""}]
    for wrong in wrongs:
        with pytest.raises(ConfigError):
            WorkerConfig(**wrong)
    with pytest.raises(ConfigError, match="the queue has no name"):
        await submit(answering(), "?", store=store, queue="")


# ------------------------------------------------------------- what fails


async def test_a_run_whose_model_fails_is_told_and_tried_again() -> None:
    failures = [1]

    def flaky(prompt: Prompt) -> str:
        if failures.pop() if failures else 0:
            raise ModelError("the provider is down")
        return "yes"

    store, agent = MemoryStore(), answering(flaky)
    async with serving(store, agent) as teller:
        await submit(agent, "?", store=store)
        assert (await teller.hears("failed")).text == (
            "the provider is down (it is tried again in 1 s)"
        )
        assert (await teller.hears("ended")).text == "answered"


async def test_until_idle_nothing_is_tried_twice_and_a_broken_part_stops_no_other_run() -> None:
    async def breaks(call: Call, _: object) -> Verdict:
        raise ValueError("a mistake in a guard")

    @tool(effect="read")
    def look() -> str:
        """Look."""
        return "seen"

    store = MemoryStore()
    broken = answering(act("look"), say("yes"), tools=[look], guards=[breaks])
    sound = answering(prompt="Be short.")
    ids = [await submit(agent, "?", store=store) for agent in (broken, sound)]
    told = await serve_all(store, broken, sound)
    (failed,) = [news.text for news in told if news.what == "failed"]
    assert failed.endswith("failed: ValueError: a mistake in a guard; mend it and resume the run")
    assert [await standing(store, run_id) for run_id in ids] == ["waiting", "answered"]


class Damaged(MemoryStore):
    """The inbox of one run cannot be read."""

    bad = ""

    @override
    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        if run_id == self.bad:
            raise StoreError("the inbox is damaged: restore a copy")
        return await super().inbox(run_id)


async def test_an_inbox_that_is_damaged_stops_no_other_run() -> None:
    store, agent = Damaged(), answering()
    bad, good = [await submit(agent, "?", store=store) for _ in range(2)]
    await resume(agent, bad, store=store)
    await store.post(bad, b"nonsense")
    store.bad = bad
    assert {run.run_id for run in await store.due()} == {bad, good}
    told = await serve_all(store, agent)
    assert sorted({(news.what, news.run_id) for news in told if news.run_id}) == sorted([
        ("failed", bad), ("taken", good), ("ended", good),
    ])  # fmt: skip
    rows = {row.run_id: row.standing for row in await Monitor(store).rows()}
    assert rows == {bad: "unreadable", good: "answered"}


def test_pauses_grow_until_a_run_gets_on() -> None:
    pauses = Backoff()
    assert not pauses.rests("r", 0, 1)
    assert [pauses.failed("r", 0) for _ in range(3)] == [FIRST, 2 * FIRST, 4 * FIRST]
    assert pauses.rests("r", 3.9, 1)
    assert not pauses.rests("r", 4, 1)
    assert [pauses.failed("r", 0) for _ in range(20)][-1] == MAX_DELAY
    assert pauses.failed("r", 0, moved=True) == FIRST
    pauses.forget("r")
    assert not pauses.rests("r", 0, 1)


def test_a_run_that_another_carries_is_left_alone_while_it_gets_on() -> None:
    pauses = Backoff()
    pauses.fenced("r", 0, 5)
    assert pauses.rests("r", FIRST / 2, 5)
    assert pauses.rests("r", 2 * FIRST, 7)  # it got on: from here on it rests anew
    assert not pauses.rests("r", 3 * FIRST, 7)


# ------------------------------------------------------------- a worker and a person


async def test_a_person_does_not_take_a_run_from_a_worker_unless_on_purpose() -> None:
    store, gate = MemoryStore(), Gate()
    agent = answering(act("cross"), say("done"), tools=[gate.tool])
    run_id = await submit(agent, "Cross", store=store)
    async with serving(store, agent) as teller:
        await gate.begun.wait()
        with pytest.raises(ConfigError, match="is being worked on by another process"):
            await resume(agent, run_id, store=store)
        taken = await resume(agent, run_id, store=store, take_over=True)
        assert taken.answer == "done"  # told that the bridge may or may not have been crossed
        length = len(await read(run_id, store=store))
        gate.open.set()
        lost = await teller.hears("lost")
    assert "was taken up by another worker" in lost.text
    record = await read(run_id, store=store)
    assert len(record) == length
    (observation,) = [e.event for e in record.entries if isinstance(e.event, Observation)]
    assert observation.code == "unknown"
    assert await claim(store, run_id) is not None


async def test_a_worker_leaves_a_run_to_the_person_who_has_it() -> None:
    store, gate = MemoryStore(), Gate()
    agent = answering(act("cross"), say("done"), tools=[gate.tool])
    run_id = await submit(agent, "Cross", store=store)

    async with anyio.create_task_group() as group:
        group.start_soon(partial(resume, agent, run_id, store=store))
        await gate.begun.wait()
        assert [news.what for news in await serve_all(store, agent)] == ["serving"]
        gate.open.set()
    assert await standing(store, run_id) == "answered"


async def test_who_takes_a_run_over_keeps_it_when_the_frozen_worker_lets_go() -> None:
    store = MemoryStore()
    frozen = await claim(store, "run")
    over = await claim(store, "run", take_over=True)
    assert (frozen, over) == ("run", "over:run")
    assert await claim(store, "run", take_over=True) is None  # only one takes it over
    assert frozen is not None
    await store.release(frozen)
    assert await claim(store, "run") is None
    assert over is not None
    await store.release(over)
    assert await claim(store, "run") == "run"


class Away(MemoryStore):
    """A database that is away just when it is asked for the second lock of a run."""

    def __init__(self, *gone: str) -> None:
        super().__init__()
        self.gone = gone

    @override
    async def claim(self, name: str) -> bool:
        if "claim" in self.gone and name.startswith("over:"):
            raise StoreError("the database is away")
        return await super().claim(name)

    @override
    async def release(self, name: str) -> None:
        await super().release(name)
        if "release" in self.gone and name.startswith("over:"):
            raise StoreError("the database is away")


@pytest.mark.parametrize("gone", ["claim", "release"])
async def test_a_claim_that_was_taken_half_is_let_go(gone: str) -> None:
    """Else its store keeps it, in every new connection, and nobody ever works on the run."""
    store = Away(gone)
    with pytest.raises(StoreError, match="is away"):
        await claim(store, "run")
    store.gone = ()
    assert await claim(store, "run") == "run"


async def test_a_worker_takes_over_at_its_start_what_hangs_elsewhere() -> None:
    store, agent = MemoryStore(), answering()
    run_id = await submit(agent, "?", store=store)
    frozen = await take_up(agent, run_id, store)
    assert await claim(store, run_id)
    assert [news.what for news in await serve_all(store, agent)] == ["serving"]
    told = await serve_all(store, agent, take_over=True)
    assert [news.what for news in told] == ["serving", "taken", "ended"]
    with pytest.raises(Exception, match="was taken up by another worker"):
        await frozen.record(Note(text_parts("I was frozen")))


# ------------------------------------------------------------- watching


async def test_a_run_is_followed_to_its_end() -> None:
    store, gate = MemoryStore(), Gate()
    agent = answering(act("cross"), say("done"), tools=[gate.tool])
    run_id = await submit(agent, "Cross", store=store)
    seen: list[str] = []
    async with serving(store, agent):
        with anyio.fail_after(PATIENCE):
            async for entry in entries_of(run_id, store):
                seen.append(type(entry.event).__name__)
                if seen[-1] == "Attempt":
                    gate.open.set()
    assert seen == ["Started", "Thought", "Attempt", "Observation", "Thought", "Stop"]
    assert [type(entry.event).__name__ async for entry in entries_of(run_id, store)] == seen


async def test_a_run_that_was_ruled_on_is_followed_further() -> None:
    async def ask(call: Call, _: object) -> Verdict:
        return Verdict("hold", "a person decides")

    @tool(effect="unsafe")
    def pay() -> str:
        """Pay."""
        return "paid"

    store = MemoryStore()
    agent = answering(act("pay"), say("done"), tools=[pay], guards=[ask])
    run_id = await submit(agent, "Pay", store=store)
    await serve_all(store, agent)
    held = [entry.event async for entry in entries_of(run_id, store)]
    assert isinstance(held[-1], Stop)
    assert held[-1].status == "held"
    await rule(f"{run_id}:1.1", allow=True, store=store)
    async with serving(store, agent):
        with anyio.fail_after(PATIENCE):
            further = [entry.event async for entry in entries_of(run_id, store)]
    assert isinstance(further[-1], Stop)
    assert (further[: len(held)], further[-1].status) == (held, "answered")


class Telling(MemoryStore):
    """A store that tells at once what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[MemoryObjectSendStream[str]] = []

    @asynccontextmanager
    async def wakes(self) -> AsyncGenerator[AsyncIterator[str]]:
        send, receive = anyio.create_memory_object_stream[str](1_000)
        self.told.append(send)
        try:
            with send, receive:
                yield receive
        finally:
            self.told.remove(send)

    @override
    async def append(self, append: Append) -> bool:
        quiet = await super().append(append)
        for stream in self.told:
            stream.send_nowait("some other run")
            stream.send_nowait(append.run_id)
        return quiet


async def test_a_store_that_tells_what_was_written_is_listened_to() -> None:
    store, gate = Telling(), Gate()
    agent = answering(act("cross"), say("done"), tools=[gate.tool])
    seen: list[str] = []
    async with serving(store, agent) as teller:
        await teller.hears("serving")
        run_id = await submit(agent, "Cross", store=store)
        await gate.begun.wait()
        with anyio.fail_after(PATIENCE):
            async for entry in entries_of(run_id, store):
                seen.append(type(entry.event).__name__)
                if seen[-1] == "Attempt":
                    gate.open.set()
    assert seen[-1] == "Stop"
    assert store.told == []


async def test_what_was_written_before_the_store_began_to_tell_is_not_missed() -> None:
    class Late(Telling):
        @override
        @asynccontextmanager
        async def wakes(self) -> AsyncGenerator[AsyncIterator[str]]:
            journal = await take_up(agent, run_id, self)
            await journal.record(Stop("answered", "", "yes"))
            async with super().wakes() as woken:
                yield woken

    store, agent = Late(), answering()
    run_id = await submit(agent, "?", store=store)
    with anyio.fail_after(PATIENCE):
        entries = [each async for each in entries_of(run_id, store)]
    seen = [type(entry.event).__name__ for entry in entries]
    assert seen == ["Started", "Stop"]


def test_without_an_event_loop_too(tmp_path: Path) -> None:
    store, agent = SqliteStore(tmp_path / "runs"), answering()
    run_id = sync.submit(agent, "?", store=store)
    anyio.run(serve_all, store, agent)
    entries = [each for each in sync.follow(run_id, store=store) if isinstance(each, Entry)]
    assert [type(entry.event).__name__ for entry in entries] == ["Started", "Thought", "Stop"]
    anyio.run(store.close)


async def test_a_fork_stands_in_no_queue() -> None:
    store, agent = MemoryStore(), answering(act("look"), say("yes"), tools=[_looks()])
    run_id = await submit(agent, "?", store=store)
    await serve_all(store, agent)
    forked = await fork(agent, run_id, at=1, store=store)
    infos = {info.run_id: info for info in await store.runs()}
    assert queue_of(infos[run_id]) == "default"
    assert queue_of(infos[forked.run_id]) == queue_of(await read(forked.run_id, store=store)) == ""


def _looks() -> Tool:
    @tool(effect="read")
    def look() -> str:
        """Look."""
        return "seen"

    return look
