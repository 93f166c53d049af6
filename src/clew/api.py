"""What a user calls: run, resume, replay, stream and batch, and the sync twins of all.

The store may be a `Store`, a place (path) or None for the default place; a store opened here is
closed here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias

import anyio

from clew.codecs.interface import Codec, Shape
from clew.concurrency.portal import portal, twin, wait_for
from clew.context.rendered_prompt import RenderedPrompt, render_prompt
from clew.core.agent import A_co, Agent
from clew.core.approvals import cancel, cancel_sync, rule, rule_sync
from clew.core.errors import ConfigError, ModelError, one_error
from clew.core.events import Changed, Entry, Json, Note
from clew.core.interfaces import Listener, Store
from clew.core.journal import load
from clew.core.replay import Replayed
from clew.core.replay import replay as replay_record
from clew.core.runner import Where, drive, secrets, start, store_at, take_up
from clew.core.trajectory import Trajectory
from clew.result import Result
from clew.stores import MemoryStore
from clew.workers.broken_runs import is_set_aside
from clew.workers.locks import claimed

__all__ = [
    "Shown",
    "Stream",
    "StreamSync",
    "Token",
    "Where",
    "batch",
    "batch_sync",
    "cancel",
    "cancel_sync",
    "prompt_of",
    "prompt_of_sync",
    "read",
    "read_sync",
    "replay",
    "replay_sync",
    "resume",
    "resume_sync",
    "rule",
    "rule_sync",
    "run",
    "run_sync",
    "secrets",
    "start",
    "store_at",
    "stream",
    "stream_sync",
    "take_up",
    "twin",
]  # fmt: skip


async def run(
    agent: Agent[A_co],
    goal: str,
    *,
    store: Where = None,
    run_id: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
) -> Result[A_co]:
    """Answer a goal. Raises `ModelError` or `StoreError`; the record stays and can be resumed."""
    async with store_at(store) as place:
        journal = await start(agent, goal, place, run_id=run_id, listener=listener, origin=origin)
        return await drive(agent, journal)


async def resume(
    agent: Agent[A_co],
    run_id: str,
    *,
    say: str = "",
    store: Where = None,
    accept_change: bool = False,
    take_over: bool = False,
    listener: Listener | None = None,
) -> Result[A_co]:
    """Go on with a run: after a crash, a ruling, a raised limit, or with a further word (`say`).

    A run that has stopped and is given nothing new gives its result again, unless a person had
    interrupted it. Raises `ConfigError` where the agent differs from the record's and
    `accept_change` is not given, and where the run stands in a queue and a worker has it: unless
    `take_over` is given, which fences that worker off.
    """
    async with store_at(store) as place:
        record = await load(place, run_id)
        async with claimed(place, record, take_over=take_over):
            journal = await take_up(
                agent, run_id, place, accept_change=accept_change, listener=listener
            )
            if say.strip():
                await journal.receive()  # what was posted before these words comes before them
                await journal.record(Note(say))
            elif (stop := journal.trajectory.stop) is not None and (
                stop.status == "interrupted" or is_set_aside(stop)
            ):
                await journal.record(Changed(agent.setting))  # who resumes it wants it to go on
            return await drive(agent, journal)


async def replay(agent: Agent, run_id: str, *, store: Where = None) -> Replayed:
    """Run the record again without a single call. Raises `ReplayError` at the first divergence."""
    async with store_at(store) as place:
        record = await load(place, run_id)
    return await replay_record(agent, record, MemoryStore())


async def read(run_id: str, *, store: Where = None) -> Trajectory:
    """A run as recorded, without opening it."""
    async with store_at(store) as place:
        return await load(place, run_id)


async def prompt_of(
    run_id: str,
    step: int | None = None,
    *,
    store: Where = None,
    codec: Codec | None = None,
    shape: Shape | None = None,
) -> RenderedPrompt:
    """The prompt that thought number `step` (the last one by default) answered, from the record.

    `codec` and `shape` are those of the agent, where they do not ship with clew. Raises
    `ConfigError` where there is no such thought or the record does not say how it was rendered.
    """
    async with store_at(store) as place:
        return await render_prompt(await load(place, run_id), place, step, codec=codec, shape=shape)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a reply on its way; shown, never recorded."""

    text: str


Shown: TypeAlias = Entry | Token


class Stream(Generic[A_co]):
    """What happens in a run, as it happens; `result` is there when the iteration has ended."""

    def __init__(self, shown: AsyncIterator[Shown]) -> None:
        self._shown = shown
        self.result: Result[A_co] | None = None

    def __aiter__(self) -> AsyncIterator[Shown]:
        return self._shown


class _Forward:
    """A listener that passes everything on."""

    def __init__(self, show: Callable[[Shown], None]) -> None:
        self._show = show

    def token(self, text: str) -> None:
        self._show(Token(text))

    def entry(self, entry: Entry) -> None:
        self._show(entry)


@asynccontextmanager
async def stream(
    agent: Agent[A_co], goal: str, *, store: Where = None, run_id: str = ""
) -> AsyncGenerator[Stream[A_co]]:
    """Answer a goal while showing every entry and token: `async with … as events`, `async for`.

    Leaving early cancels the run; its record stays open.
    """
    send, receive = anyio.create_memory_object_stream[Shown](float("inf"))
    events: Stream[A_co] = Stream(receive)

    async def work() -> None:
        with send:
            listener = _Forward(send.send_nowait)
            events.result = await run(agent, goal, store=store, run_id=run_id, listener=listener)

    with receive, one_error():
        async with anyio.create_task_group() as group:
            group.start_soon(work)
            yield events
            group.cancel_scope.cancel()


@dataclass
class _Batch:
    done: int = 0
    results: dict[int, Result] = field(default_factory=dict[int, Result])


async def batch(
    agent: Agent[A_co],
    goals: Sequence[str],
    *,
    at_once: int = 8,
    store: Where = None,
    on_done: Callable[[int, int, Result[A_co]], None] | None = None,
) -> list[Result[A_co]]:
    """Answer many goals, `at_once` at a time; results in the order of the goals.

    `on_done(done, total, result)` is called as each ends. A run whose model failed has the status
    "failed" here, its reason is the error, and its record stays open.
    """
    if at_once < 1:
        message = f"at_once is {at_once}: give 1 or more"
        raise ConfigError(message)
    state = _Batch()
    limiter = anyio.Semaphore(at_once)

    async def one(place: Store, index: int, goal: str) -> None:
        async with limiter:
            journal = await start(agent, goal, place)
            try:
                found = await drive(agent, journal)
            except ModelError as error:
                so_far = journal.trajectory
                reason, steps = str(error), len(so_far.steps)
                failed: Result[Any] = Result(
                    so_far.run_id, "failed", reason, None, so_far.usage, steps
                )
                found = failed
        state.results[index] = found
        state.done += 1
        if on_done is not None:
            on_done(state.done, len(goals), found)

    async with store_at(store) as place:
        with one_error():
            async with anyio.create_task_group() as group:
                for index, goal in enumerate(goals):
                    group.start_soon(one, place, index, goal)
    return [state.results[index] for index in range(len(goals))]


run_sync = twin(run)
resume_sync = twin(resume)
replay_sync = twin(replay)
read_sync = twin(read)
prompt_of_sync = twin(prompt_of)
batch_sync = twin(batch)


class StreamSync(Generic[A_co]):
    """A `Stream` to iterate without an event loop."""

    def __init__(self, events: Stream[A_co]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[Shown]:
        shown = aiter(self._events)
        while True:
            try:
                yield wait_for(anext, shown)
            except StopAsyncIteration:
                return

    @property
    def result(self) -> Result[A_co] | None:
        """The result, once the iteration has ended."""
        return self._events.result


@contextmanager
def stream_sync(
    agent: Agent[A_co], goal: str, *, store: Where = None, run_id: str = ""
) -> Generator[StreamSync[A_co]]:
    """`stream` for callers without an event loop."""
    streaming = stream(agent, goal, store=store, run_id=run_id)
    with portal().wrap_async_context_manager(streaming) as events:
        yield StreamSync(events)
