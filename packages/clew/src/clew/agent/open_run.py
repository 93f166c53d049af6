"""A run that is open for work: begun, taken up or forked, and closed with its context."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Generic

import anyio

from clew.agent.agent import A_co, Agent, D
from clew.agent.broken_runs import is_set_aside
from clew.agent.compare import as_begun
from clew.agent.labels import begins, load_of, refuse_anothers
from clew.agent.question import Question, message_parts
from clew.agent.read_result import complete_result
from clew.agent.request_words import check_same_words, turn_of, words_of
from clew.agent.result import Result
from clew.agent.runner import complete, drive, leave, start, start_fork, take_up
from clew.agent.streaming.stream import Stream
from clew.core.events import Cancel, Changed, Note
from clew.core.fork import find_fork_point
from clew.core.inbox import queued_in, words_in
from clew.core.journal import Journal, load
from clew.core.listeners import Listener
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.stores import Where, store_at
from clew.stores.locks import at_work
from clew.stores.user_store import location_of
from clew.support.arguments import check_argument
from clew.support.errors import StoreError
from clew.support.resources import resources
from clew.support.run_ids import new_run_id
from clew.support.settings import check_text

__all__ = ["OpenRun", "open_fork", "open_run"]


class OpenRun(Generic[A_co]):
    """A run that is open for work; it closes with the context of `open_run` or `open_fork`."""

    def __init__(self, agent: Agent[A_co], journal: Journal) -> None:
        self._agent = agent
        self._journal = journal
        self._working = anyio.Lock()
        self.went_on = False
        """Whether it was continued here; a run that was not is handed on without any cost."""

    @property
    def run_id(self) -> str:
        """Its id."""
        return self._journal.run_id

    @property
    def record(self) -> Trajectory:
        """Its record, which grows."""
        return self._journal.trajectory

    def follow(self) -> Stream[A_co]:
        """Its stream from here on, with its words and calls as they come; leave it in the end."""
        journal = self._journal
        key = location_of(journal.store), journal.run_id
        return Stream(journal.run_id, len(journal.trajectory), journal.store, key)

    @property
    def listener(self) -> Listener | None:
        """The listener for its entries and tokens."""
        return self._journal.listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        self._journal.listener = listener

    async def go_on(self, say: Question = "", *, request: str = "") -> Result[A_co]:
        """Continue until the run stops, and return the result.

        `say` adds a message, once for each `request` of a client: sent again, it is answered by
        what it came to. Without it, a stopped run returns its result again, unless a person
        interrupted it or it was set aside; then this continues it. Of two calls at once the second
        begins when the first has ended; and words that others queued are answered first. Raises
        `ConfigError` where the request said something else before.
        """
        words = () if say == "" else message_parts(self._agent, "say", say)
        async with self._working:
            if words:
                check_text("request", request)
                await self._answer_queued()
                if (known := words_of(self.record, request)) is None:
                    await self._journal.record(Note(words, request=request))
                else:
                    check_same_words(request, known, words)
                    if (turn := turn_of(self.record, request)) is not None and turn.stop:
                        return await complete_result(self._agent, turn, self._journal.store)
            elif (
                (stop := self.record.stop) is not None
                and (stop.status == "interrupted" or is_set_aside(stop))
                and not await self._has_words()
            ):
                await self._journal.record(Changed(self._agent.spec))
            self.went_on = True
            return await drive(self._agent, self._journal)

    async def until_stop(self) -> Result[A_co]:
        """As `go_on` without a message, for what may be a repetition: it takes back no end.

        A run that was cancelled stays so, and one that was set aside, unless a word waits for it.
        """
        async with self._working:
            if is_set_aside(self.record.stop) and await self._journal.store.inbox(self.run_id):
                await self._journal.record(Changed(self._agent.spec))
            self.went_on = True
            return await drive(self._agent, self._journal)

    async def hand_on(self) -> None:
        """Record that nothing was asked of the model here, so that nobody charges for it.

        A store that fails is no matter: the next worker charges what may have been lost.
        """
        with anyio.CancelScope(shield=True), suppress(StoreError):
            await leave(self._agent, self._journal)

    async def _has_words(self) -> bool:
        """Whether words wait for the run, or a wish to end it: they say how it goes on."""
        store, run_id = self._journal.store, self.run_id
        cancelled = any(isinstance(word, Cancel) for word in await words_in(store, run_id))
        return cancelled or bool(await queued_in(store, run_id))

    async def _answer_queued(self) -> None:
        """Take what was posted before, and answer the words that wait by now."""
        self.went_on = True
        await self._journal.receive()
        waiting = (await queued_in(self._journal.store, self.run_id)).keys()
        while waiting and waiting & (await queued_in(self._journal.store, self.run_id)).keys():
            await complete(self._agent, self._journal)


@asynccontextmanager
async def open_run(
    agent: Agent[A_co, D],
    goal: Question | None = None,
    *,
    run_id: str = "",
    store: Where = None,
    accept_change: bool = False,
    take_over: bool = False,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> AsyncGenerator[OpenRun[A_co]]:
    """Open a run to work on: a new one for a `goal`, or without it the run of this id.

    Until it is closed, other calls of this process that open it wait. Arguments and errors are
    those of `run` and `resume`; `origin` is an agent file's, recorded if run or agent is new.
    """
    check_argument("agent", agent, Agent, "an Agent")
    async with store_at(agent.store if store is None else store) as opened, resources(agent):
        if goal is None:
            await load_of(opened, run_id, owner)  # before anybody waits for it, or is fenced off
            turn: AbstractAsyncContextManager[None] = at_work(
                opened, run_id, "take over" if take_over else "wait"
            )
        else:
            run_id = run_id or new_run_id()
            turn = at_work(opened, run_id, "refuse")  # as `begins` has it, which is a call
            if owner is not None:
                await refuse_anothers(opened, run_id, owner)
                turn = begins(opened, run_id, owner, agent.parts.patience)
        async with turn:
            if goal is None:
                agent = agent if accept_change else as_begun(agent, await load(opened, run_id))
                journal = await take_up(
                    agent, run_id, opened,
                    accept_change=accept_change, listener=listener, origin=origin, deps=deps,
                )  # fmt: skip
            else:
                journal = await start(
                    agent, goal, opened, run_id=run_id, listener=listener, origin=origin,
                    labels=labels, owner=owner, deps=deps,
                )  # fmt: skip
            opened_run = OpenRun(agent, journal)
            try:
                yield opened_run
            finally:
                if not opened_run.went_on:
                    await opened_run.hand_on()


@asynccontextmanager
async def open_fork(
    agent: Agent[A_co, D],
    run_id: str,
    *,
    at: int,
    observations: Mapping[str, Any] | None = None,
    say: Question = "",
    store: Where = None,
    new_id: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> AsyncGenerator[OpenRun[A_co]]:
    """A new run with the first `at` steps of another, to work on; the arguments are `fork`'s."""
    check_argument("agent", agent, Agent, "an Agent")
    words = message_parts(agent, "say", say)
    async with store_at(agent.store if store is None else store) as opened, resources(agent):
        if owner is not None and new_id:
            await refuse_anothers(opened, new_id, owner)
        point = find_fork_point(await load_of(opened, run_id, owner), at, observations, words)
        new_id = new_id or new_run_id()
        async with begins(opened, new_id, owner, agent.parts.patience):
            journal = await start_fork(
                agent, point, opened, new_id, listener=listener, origin=origin, deps=deps
            )
            opened_run = OpenRun(agent, journal)
            try:
                yield opened_run
            finally:
                if not opened_run.went_on:
                    await opened_run.hand_on()
