"""The stream of a run: its entries from one on, and what is shown between them, until it stops."""

import itertools
import weakref
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, Generic, Literal, Self, cast

import anyio
import anyio.lowlevel

from clew.agent.agent import A_co, Agent
from clew.agent.labels import load_of
from clew.agent.read_result import complete_result
from clew.agent.result import Result
from clew.agent.streaming import followers
from clew.agent.streaming.branches import Branch, position_of
from clew.agent.streaming.browser_events import BrowserEvent, BrowserEvents
from clew.agent.streaming.followers import Follower, Key, Waiting
from clew.agent.streaming.idle import idle
from clew.agent.streaming.items import (
    Dropped,
    Nested,
    Partial,
    PartialCall,
    StreamItem,
    Token,
    Withdrawn,
)
from clew.agent.streaming.tasks import RunTask, task_of
from clew.agent.streaming.work import Work, follow_work, work_on
from clew.core.entries import Entry
from clew.core.journal import load
from clew.core.stores import Store
from clew.core.values import encode
from clew.stores import Where, store_at
from clew.stores.interface import Notifies
from clew.stores.pages import read_some
from clew.stores.user_store import location_of
from clew.support.arguments import check_argument
from clew.support.error_text import message_of
from clew.support.errors import ClewError, ConfigError

_LOOK: Final = 0.1  # seconds between two looks at a store that does not tell what was written
_WAIT: Final = 1.0  # the same where it does, and that may get lost
_TURN: Final = 16
"""After so many items other tasks have their turn, however many more are ready."""
_TAKEN: Final = itertools.count(1)
"""Numbers the items that are taken, of all streams: of one that is left soon, few are."""

_FORGET: Final = f"event: Withdrawn\ndata: {encode(Withdrawn().to_json()).decode()}\n\n"
"""What comes first to whoever comes back: words that were told before may not stand."""


class Stream(Generic[A_co]):
    """The stream of a run. Leaving it, at any item and in any way, changes nothing of the run.

    Entries come once and in their order, whichever process writes them. What is shown between them
    (`Token` and the like) is told only in the process that works on the run. `position` says after
    each item where to go on from: `follow(run_id, after=position)`. `result` is set at the end,
    but for `follow`, which knows no agent: `result_of` has it.
    """

    def __init__(
        self,
        run_id: str,
        after: int | str = 0,
        store: Where = None,
        key: Key | None = None,
        owner: str | None = None,
    ) -> None:
        check_argument("run_id", run_id, str, "the id of a run")
        self.run_id = run_id
        self.position, self._after = position_of(after)
        self.result: Result[A_co] | None = None
        self._store, self._owner = store, owner
        self._agent: Agent[A_co] | None = None
        self._task: RunTask[A_co] | None = None
        self._key: Key | None = None
        self._begun = False
        self._root = Branch(run_id)
        self._work: Work | None = None
        self._follower = Follower(run_id)
        self._ready = deque[tuple[Any, str]]()
        self._over = False
        self._told = False
        self._unread = False
        """Whether a page was read, and the next was not."""
        self._idle_at = ""
        """Where it last told that nobody works on the run."""
        if key is not None:
            self._listen(key)

    def of(self, agent: Agent[A_co]) -> Self:
        """End with the result that this agent reads in the record, whoever worked on the run."""
        self._agent = agent
        return self

    def take_from(self, task: "RunTask[A_co]") -> Self:
        """End with this work on the run."""
        self._task = task
        return self

    async def wait(self) -> Result[A_co]:
        """Wait until the run stops, and return its result; what ended the work is raised.

        Raises `ConfigError` for a stream of `follow`.
        """
        if self._task is not None:
            return await self._task.wait()
        if self._agent is None:
            message = f"run {self.run_id} was not started here: use follow and result_of"
            raise ConfigError(message)
        rest = Stream[A_co](self.run_id, self.position, self._store, owner=self._owner)
        async for _ in rest.of(self._agent):
            pass
        return cast("Result[A_co]", rest.result)  # its stream ends only with that

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamItem[A_co]:
        """The next item; what ended the work on the run in this process is raised, once."""
        if next(_TAKEN) % _TURN == 0:
            await anyio.lowlevel.checkpoint()
        if not self._ready and not self._over:
            async with AsyncExitStack() as stack:
                opened: Store | None = None
                while not self._ready and not self._over:
                    if self._begun:
                        self._take()
                    if not self._ready:
                        if opened is None:
                            opened = await stack.enter_async_context(store_at(self._store))
                        await self._look(opened)
        if not self._ready:
            raise StopAsyncIteration
        item: StreamItem[A_co]
        item, self.position = self._ready.popleft()
        return item

    def sse(self, show: Literal["answer", "result", "all"] = "answer") -> AsyncGenerator[str]:
        """Server-sent events: a place as the id, for `after`, the kind, and its JSON.

        For browsers there are pieces of the `answer` and `Withdrawn`, the names and states of
        calls, retries, `Idle`, and at each stop a `Result`: its `to_json` with the answer as it may
        be shown, and without what is not for everybody (`raw_answer`, `evidence`, arguments of
        calls). To show the `result` leaves the pieces out, which no check has seen, and which in
        the native format may be words beside a call. To show `all` gives every item as it is, with
        prompts, thoughts, arguments and results. What ended the work on the run comes last, as the
        event `Error` without an id.
        """
        if show not in {"answer", "result", "all"}:
            message = f'show={show!r}: give "answer" or "result", for browsers, or "all"'
            raise ConfigError(message)
        words = show == "answer"
        browser = BrowserEvents(self.run_id, self._store, words=words) if show != "all" else None
        return self._sse(browser)

    async def _sse(self, browser: BrowserEvents | None) -> AsyncGenerator[str]:
        returns = browser is not None and browser.words and self._after[0] > 0
        async with self:
            try:
                async for item in self:
                    if browser is None:
                        event: BrowserEvent | None = (type(item).__name__, item.to_json())
                    else:
                        event = await browser.event_of(item)
                    if event is not None:
                        data = encode(event[1]).decode()
                        told = f"id: {self.position}\nevent: {event[0]}\ndata: {data}\n\n"
                        yield _FORGET + told if returns and event[0] != "Result" else told
                        returns = False
            except ClewError as error:
                data = encode({"error": message_of(error)}).decode()
                yield f"event: Error\ndata: {data}\n\n"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Follow the run no longer."""
        self._ready.clear()
        self._leave()

    def _leave(self) -> None:
        self._over = True
        if self._key is not None:
            followers.remove(self._key, self._follower)

    def _take(self) -> None:
        """Take what waits, as far as it follows what was seen."""
        while not self._ready and (new := self._follower.first) is not None:
            branch = self._root.at(new.path)
            if isinstance(new.item, Entry):
                if branch is None or new.item.seq > branch.seq + 1:
                    return
                if new.item.seq > branch.seq:
                    if branch.comes_after_runs(new.item):
                        return
                    self._add(branch.advance(new.item))
            elif isinstance(new.item, Dropped):
                self._add(new.item)
            elif branch is None or new.seq > branch.seq:
                return
            elif new.seq == branch.seq or not isinstance(new.item, Token | Partial | PartialCall):
                self._add(Nested(new.path, new.item) if new.path else new.item)
            self._follower.drop(new)

    def _add(self, item: Any) -> None:
        self._ready.append((item, self._root.position))

    async def _look(self, opened: Store) -> None:
        """Read on in the store, or wait until there is more to take or to read."""
        key = self._key or self._listen((location_of(opened), self.run_id))
        if not self._begun:
            if self._owner is not None:
                await load_of(opened, self.run_id, self._owner)
            number, below = self._after
            await self._root.skip(opened, number, below, len(self.run_id) + 1)
            self._begun = True
        self._task = self._task or task_of(key)
        task, work, stuck = self._task, work_on(key, self._work), self._follower.first
        ended = task is not None and task.over  # asked before the store is read
        if ended or self._unread or stuck is not None or work is None or work is not self._work:
            self._work = work
            if await self._read(opened, stuck):
                return
        if stuck is not None:
            self._take()
            if not self._ready:  # it is of a run that is over
                self._follower.drop(stuck)
        elif task is not None and ended:
            self._end(task)
        elif task is None and self._root.stopped and not await opened.inbox(self.run_id):
            self._leave()
            if self._agent is not None:
                record = await load(opened, self.run_id)
                self.result = await complete_result(self._agent, record, opened)
        elif task is not None or work is not None:
            await self._follower.news.wait(_WAIT)
        elif not await self._tell_idle(opened):
            await self._written(opened)

    def _listen(self, key: Key) -> Key:
        """Be told of what happens from now on."""
        self._key = key
        weakref.finalize(self, followers.remove, key, self._follower).atexit = False
        follow_work(key, self._follower)
        return key

    async def _read(self, opened: Store, stuck: Waiting | None) -> bool:
        """Read what was not seen, up to what waits; whether that is anything."""
        if stuck is None:
            self._unread = await self._root.next_page(opened, self._add)
        else:
            await self._root.up_to(opened, self._add, stuck.path, stuck.seq)
        return bool(self._ready)

    async def _tell_idle(self, opened: Store) -> bool:
        """Tell where nobody works on the run, once for each time that it is left."""
        if self._idle_at == self._root.position or (new := await idle(opened, self.run_id)) is None:
            return False
        if not await self._read(opened, None):  # it was left only now, and what it wrote was read
            self._idle_at = self._root.position
            self._add(new)
        return True

    def raise_error(self) -> None:
        """Raise what ended the work, unless that was raised before."""
        task = self._task
        if task is not None and task.over and task.error is not None and not self._told:
            self._told = True
            raise task.error

    def _end(self, task: "RunTask[A_co]") -> None:
        """The work has ended. Raises what ended it."""
        self._leave()
        self.result = task.result
        self.raise_error()

    async def _written(self, opened: Store) -> None:
        """Wait until there may be more in the store, or the run is at work here."""
        if not isinstance(opened, Notifies):
            await self._follower.news.wait(_LOOK)
            return
        with anyio.move_on_after(_WAIT):
            async with opened.wakes() as woken:
                if await read_some(opened, self.run_id, self._root.seq, 1):  # before it told
                    return
                async for one in woken:  # pragma: no branch - it tells for ever
                    if any(one == branch.run_id for branch in self._root.branches()):
                        return


def follow(
    run_id: str, *, after: int | str = 0, store: Where = None, owner: str | None = None
) -> Stream[Any]:
    """The stream of a run from entry number `after` on, until it stops, whichever process works.

    It only reads. A held run has stopped too, unless the ruling is in its inbox. Where the run is
    worked on in this process, words and calls come as they happen, and what ends the work is
    raised. Raises `StoreError` if the run is unknown, or is not the `owner`'s, and `ConfigError` if
    it has no such entry.
    """
    return Stream(run_id, after, store, owner=owner)
