"""A run as it happens: its entries, and the words of a reply as they arrive."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias

import anyio

from clew.agent.agent import A_co, Agent
from clew.agent.api import run
from clew.agent.question import Question
from clew.agent.result import Result
from clew.concurrency.tasks import OwnTask
from clew.core.events import Entry
from clew.core.interfaces import Listener
from clew.stores import Where


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a reply as it arrives; never recorded."""

    text: str


StreamItem: TypeAlias = Entry | Token


class Stream(Generic[A_co]):
    """The events of a run as they happen; `result` is set when the iteration ends."""

    def __init__(self, items: AsyncIterator[StreamItem]) -> None:
        self._items = items
        self.result: Result[A_co] | None = None

    def __aiter__(self) -> AsyncIterator[StreamItem]:
        return self._items


class _RunWork(Generic[A_co]):
    """A run at work in a task that is nobody's child, and what it shows.

    So the context of its stream may be left in another task than it was entered in, as servers do
    with the generators of clients that went away.
    """

    def __init__(self, work: Callable[[Listener], Coroutine[Any, Any, Result[A_co]]]) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[StreamItem](float("inf"))
        self._work = work
        self._told = False
        self.events: Stream[A_co] = Stream(self)
        self.task = OwnTask(self._until_stop())
        self.task.start(copy_context())

    async def _until_stop(self) -> None:
        with self._send:
            self.events.result = await self._work(_Forward(self._send.send_nowait))

    def __aiter__(self) -> "_RunWork[A_co]":
        return self

    async def __anext__(self) -> StreamItem:
        """What is shown next; what ended the run is raised."""
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            await self.task.stop()  # it is about to end
            self.raise_error()
            raise StopAsyncIteration from None

    async def stop(self) -> None:
        """Stop working on the run, once no effect of it is under way."""
        await self.task.stop()
        self._receive.close()

    def raise_error(self) -> None:
        """Raise what ended the run, once."""
        if self.task.error is not None and not self._told:
            self._told = True
            raise self.task.error


class _Forward:
    """A listener that passes everything on."""

    def __init__(self, show: Callable[[StreamItem], None]) -> None:
        self._show = show

    def token(self, text: str) -> None:
        self._show(Token(text))

    def entry(self, entry: Entry) -> None:
        self._show(entry)


@asynccontextmanager
async def stream(
    agent: Agent[A_co],
    goal: Question,
    *,
    store: Where = None,
    run_id: str = "",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> AsyncGenerator[Stream[A_co]]:
    """Answer a goal and yield every entry and token: `async with … as events`, `async for`.

    Leaving early stops the work, not the run: its record stays open and can be resumed. A call with
    an effect that is under way is seen to its end and recorded first, within the tool's timeout;
    whatever else is under way is cut.
    """

    def work(listener: Listener) -> Coroutine[Any, Any, Result[A_co]]:
        return run(
            agent, goal, store=store, run_id=run_id, listener=listener, labels=labels, owner=owner
        )

    working = _RunWork(work)
    try:
        yield working.events
    finally:
        await working.stop()
    working.raise_error()
