"""Beginning work on a run that goes on whoever leaves: `start`, and `stream` with it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

import anyio

from clew.agent.agent import Agent, D
from clew.agent.agent_of_run import differs
from clew.agent.labels import check_same_run
from clew.agent.open_run import open_run
from clew.agent.question import Question
from clew.agent.result import Result
from clew.agent.runner import load_if_begun
from clew.agent.sessions import check_session, converse
from clew.agent.streaming.followers import Key
from clew.agent.streaming.items import StreamItem
from clew.agent.streaming.stream import Stream
from clew.agent.streaming.tasks import Begun, RunTask, task_of
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.stores import Where, store_at
from clew.stores.refusals import unknown_run
from clew.stores.turns import is_taken
from clew.stores.user_store import location_of
from clew.support.arguments import check_argument
from clew.support.errors import ClewError, RunBusyError, RunExistsError, RunNotFoundError
from clew.support.resources import resources
from clew.support.run_ids import check_run_id, new_run_id

T = TypeVar("T")

_AGAIN: Final = 0.05
"""Seconds between two looks at whether a run that somebody else begins is there."""


async def start(
    agent: Agent[T, D],
    goal: Question | None = None,
    *,
    run_id: str = "",
    say: Question = "",
    after: int | str | None = None,
    store: Where = None,
    accept_change: bool = False,
    take_over: bool = False,
    origin: dict[str, Json] | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
    session: str | None = None,
    request: str = "",
) -> Stream[T]:
    """Begin to work on a run, and return its stream: whoever leaves that, the work goes on.

    It is a new run for a `goal`, or else the run of this id, as `resume` continues it. Work on the
    same run under way in this process is joined, with the deps that it has, in another followed. A
    `goal` with the id of a run that answers it continues that, unless other labels are given; words
    to `say`, or one in a `session`, wait for their turn, as in `run`. The stream begins `after` an
    entry, else with a new run, or behind what is there. The work goes on until the run stops,
    somebody cancels it (`cancel`), or its event loop or `serving` ends: then it stays open. Raises
    what keeps it from being opened. `deps` as in `run`.
    """
    check_argument("agent", agent, Agent, "an Agent")
    run_id = check_session(session, run_id, owner)
    if session is not None:
        say, goal = goal or say, None
    store = agent.store if store is None else store
    talks = session is not None or (say != "" and not take_over)
    more = dict[str, Any](origin=origin, owner=owner, labels=labels, deps=deps)
    more["accept_change"] = accept_change
    if not talks:
        more["take_over"] = take_over
    until = anyio.current_time() + agent.parts.patience.seconds  # for deps are made first
    begin = partial(_begin, agent, goal, run_id, (say, request), after, store, more)
    while True:
        events = await begin(talks=talks, new=session is not None, until=until)
        if events is not None:
            return events
        await anyio.sleep(_AGAIN)


async def _begin(
    agent: Agent[T],
    goal: Question | None,
    run_id: str,
    words: tuple[Question, str],
    after: int | str | None,
    store: Where,
    options: dict[str, Any],
    *,
    talks: bool,
    new: bool,
    until: float,
) -> Stream[T] | None:
    """Begin, join or follow the work on a run.

    None where somebody else is about to begin it, whose record will be there; after `until` that
    is raised.
    """
    async with store_at(store) as opened:
        record = await _record(opened, goal, run_id, options, new=new)
        key = location_of(opened), run_id or new_run_id()
    changed = record is not None and differs(agent, record, accept_change=options["accept_change"])
    if after is None:
        after = 0 if goal is not None or record is None else len(record)
    events: Stream[T] = Stream(key[1], after, store, key)
    alone = talks or changed or options["take_over"]
    joined = None if alone else _task_by(agent, key)
    if (task := joined) is None:
        work = partial(_talk, agent, key, store, words, options)
        if not talks:
            work = partial(_work, agent, key, store, words, options, goal, record is None)
        task = RunTask(key, agent, work)
    try:
        await task.opened_or_raise()
        if joined is not None and record is None:  # somebody else began it meanwhile: whose is it?
            async with store_at(store) as opened:
                await _record(opened, goal, run_id, options, new=new)
    except (RunBusyError, RunExistsError):
        await events.aclose()
        if alone or (record is None and anyio.current_time() > until):
            raise
        if record is None:
            return None
        return Stream[T](key[1], after, store, owner=options["owner"]).of(agent)
    except ClewError as error:
        await events.aclose()
        if joined is not None and isinstance(error, RunNotFoundError):
            return None  # that was for whoever began the work: whose the run is, its record says
        raise
    return events.take_from(task)


def _task_by(agent: Agent[T], key: Key) -> RunTask[T] | None:
    """The work of this agent on a run; another may answer in another type."""
    task = task_of(key)
    return task if task is not None and task.is_by(agent) else None


async def _work(
    agent: Agent[T],
    key: Key,
    store: Where,
    words: tuple[Question, str],
    options: dict[str, Any],
    goal: Question | None,
    new: bool,  # noqa: FBT001 - `begun` follows, which RunTask gives by its position
    begun: Begun,
) -> Result[T]:
    """Begin a new run for a goal, or go on with one, once it is our turn."""
    goes_on = goal is None or not new
    if goes_on and is_taken(key):
        begun()
    asked = None if goes_on else goal
    async with open_run(agent, asked, run_id=key[1], store=store, **options) as run:
        begun()
        if goal is not None and goes_on:  # the goal comes again
            return await run.until_stop()
        return await run.go_on(words[0], request=words[1])


async def _talk(
    agent: Agent[T],
    key: Key,
    store: Where,
    words: tuple[Question, str],
    options: dict[str, Any],
    begun: Begun,
) -> Result[T]:
    """Say something in a conversation, once for its request."""
    text, request = words
    async with store_at(store) as opened, resources(agent):
        return await converse(agent, text, key[1], opened, request=request, taken=begun, **options)


async def _record(
    store: Store, goal: Question | None, run_id: str, options: dict[str, Any], *, new: bool
) -> Trajectory | None:
    """The record of a run that is there. Raises where it is missing, or is not the one meant."""
    if goal is not None and run_id:
        check_run_id(run_id)
    record = await load_if_begun(store, run_id) if run_id else None
    if record is None:
        if goal is None and not new:
            raise unknown_run(run_id)
        return None
    labels = None if goal is None else options["labels"]
    check_same_run(record, goal, labels, options["owner"])
    return record


class Opening(Generic[T]):
    """A run that begins where its stream is entered, or iterated, and that is left at the end."""

    def __init__(self, begin: Callable[[], Awaitable[Stream[T]]]) -> None:
        self._begin = begin
        self._events: Stream[T] | None = None

    async def __aenter__(self) -> Stream[T]:
        self._events = await self._begin()
        return self._events

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._events is not None:
            await self._events.aclose()
            if error is None:
                self._events.raise_error()

    async def __aiter__(self) -> AsyncGenerator[StreamItem[T]]:
        async with self as events:
            async for item in events:
                yield item


def stream(
    agent: Agent[T, D],
    goal: Question,
    *,
    store: Where = None,
    run_id: str = "",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
    session: str | None = None,
    request: str = "",
) -> Opening[T]:
    """Answer a goal and yield what happens: `async with … as events`, or `async for` at once.

    It is `start` and the stream of that: whoever leaves early, the work goes on. What ended the
    work by then is raised.
    """
    return Opening(
        partial(
            start, agent, goal, run_id=run_id, store=store, labels=labels, owner=owner, deps=deps,
            session=session, request=request,
        )
    )  # fmt: skip
