"""Work on a run in a task that is nobody's child: it goes on whoever leaves.

It belongs to the event loop in which it was started. An application says with `serving` when it is
to end: an effect that has begun is seen to its end and recorded, and the run stays open. A loop
that just ends cancels all of its tasks, those of tools too: then such an effect is in doubt.
"""

import logging
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, Final, Generic, TypeAlias

import anyio

from clew.agent.agent import A_co, Agent
from clew.agent.agent_of_run import differs
from clew.agent.labels import load_of
from clew.agent.result import Result
from clew.agent.streaming.followers import FOLLOWERS, Hearing, Key, remove
from clew.agent.streaming.signal import Signal
from clew.agent.streaming.work import follow_work
from clew.concurrency.tasks import OwnTask
from clew.core.listeners import Listener
from clew.core.redaction import redact
from clew.core.spec_changes import changes_to_accept
from clew.stores import Where, store_at
from clew.stores.turns import is_mine, without_turns
from clew.stores.user_store import location_of
from clew.support.errors import ClewError
from clew.support.live import LIVE
from clew.support.resources import without_resources

LOG: Final = logging.getLogger("clew")

Begun: TypeAlias = Callable[[], None]
"""Says that the run is open for work, or waits for whoever has it."""


class RunTask(Generic[A_co]):
    """The work on a run: `begun`, and then `ended` with a `result` or an `error`, or with neither.

    With neither it was stopped, and the run stays open.
    """

    def __init__(
        self,
        key: Key,
        agent: Agent[A_co],
        work: Callable[[Begun], Coroutine[Any, Any, Result[A_co]]],
    ) -> None:
        self.key = key
        self.agent = agent
        self.opened = False
        self.begun = Signal()
        self.ended = Signal()
        self.result: Result[A_co] | None = None
        self.error: Exception | None = None
        self.loop = anyio.lowlevel.current_token()
        self._alone = False
        self._work = work
        self._own = OwnTask(self._until_end())
        with _LOCK:
            _TASKS[key] = (*_TASKS.get(key, ()), self)
        context = copy_context()
        context.run(LIVE.set, None)
        context.run(without_resources)
        context.run(without_turns)
        self._own.start(context)

    async def _until_end(self) -> None:
        try:
            self.result = await self._work(self._begin)
        except Exception as error:
            self.error = error
            if not FOLLOWERS.get(self.key) and self.opened:
                LOG.exception("run %s stays open: resume it", self.key[1])
        finally:
            self._end()

    def _begin(self) -> None:
        self.opened = True
        self.begun.set()

    def _end(self) -> None:
        with _LOCK:
            left = tuple(each for each in _TASKS.get(self.key, ()) if each is not self)
            if left:
                _TASKS[self.key] = left
            else:
                _TASKS.pop(self.key, None)
        self.ended.set()
        self.begun.set()
        for follower in FOLLOWERS.get(self.key, ()):
            follower.news.set()

    async def opened_or_raise(self) -> None:
        """Wait until it has begun. Raises what kept the run from being opened."""
        await self.begun.wait()
        if self.error is not None and not self.opened:
            raise self.error

    def is_by(self, agent: Agent[Any]) -> bool:
        """Whether this agent is the one at work: results of another may be of another type."""
        mine, other = redact(self.agent.spec), redact(agent.spec)
        return agent is self.agent or not changes_to_accept(mine, other)

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it; its event loop may be gone."""
        return self.ended.is_set or not self._own.end.alive

    def leave_alone(self) -> None:
        """Nobody waits for it: what ends the work is logged, too."""
        self._alone = True

    def cancel(self) -> None:
        """Tell it to stop, in its own event loop."""
        self._own.scope.cancel()

    async def stop(self) -> None:
        """Stop it and wait until it has ended, whoever cancels us meanwhile."""
        await self._own.stop()

    async def wait(self) -> Result[A_co]:
        """What the run comes to. Raises what ended the work."""
        await self.ended.wait()
        if self.error is not None:
            raise self.error
        if self.result is None:
            message = f"run {self.key[1]} was left open when its application ended: resume it"
            raise ClewError(message)
        return self.result


_TASKS: Final[dict[Key, tuple[RunTask[Any], ...]]] = {}
"""The work under way in this process, by run; of one run, the first works and the others wait."""

_LOCK: Final = threading.Lock()


def task_of(key: Key) -> RunTask[Any] | None:
    """The work on a run that is under way in this process, the first of it."""
    return next((task for task in _TASKS.get(key, ()) if not task.over), None)


def tasks_here() -> list[RunTask[Any]]:
    """All work under way in this event loop."""
    here = anyio.lowlevel.current_token()
    with _LOCK:
        tasks = [task for each in _TASKS.values() for task in each]
    return [task for task in tasks if not task.over and task.loop == here]


async def join(
    agent: Agent[A_co],
    run_id: str,
    store: Where,
    listener: Listener | None,
    owner: str | None,
    *,
    accept_change: bool,
) -> RunTask[A_co] | None:
    """The work of this agent on a run that is under way here, heard by the listener till it ends.

    None where there is none, for a call of that run itself, which would wait for ever, and for an
    agent that takes over from the one at work: that waits for its turn. Raises `ConfigError` for
    one that differs from the record's.
    """
    if not _TASKS:
        return None
    async with store_at(store) as opened:
        key = location_of(opened), run_id
        task = None if is_mine(key) else task_of(key)
        if task is None:
            return None
        await task.begun.wait()  # the record may not be there before
        record = await load_of(opened, run_id, owner)
    if differs(agent, record, accept_change=accept_change) or not task.is_by(agent):
        return None
    hearing = None if listener is None else Hearing(run_id, listener)
    if hearing is not None:
        follow_work(key, hearing)
    try:
        await task.ended.wait()
    finally:
        if hearing is not None:
            remove(key, hearing)
    return task
