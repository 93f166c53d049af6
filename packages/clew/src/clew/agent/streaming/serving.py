"""The scope of an application: it takes up what was left open, and lets nothing end halfway.

Work that `start` began would else end with the event loop, which cancels the tools of a run along
with it: an effect that is cut so has an unknown outcome.
"""

import logging
from collections.abc import AsyncGenerator, Hashable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final

import anyio

from clew.agent.agent import Agent
from clew.agent.agent_of_run import agent_of_run, check_told_apart
from clew.agent.streaming.start import start
from clew.agent.streaming.tasks import RunTask, task_of, tasks_here
from clew.agent.wake_times import WakeTimes
from clew.concurrency.tasks import OwnTask
from clew.core.journal import load
from clew.core.stores import RunInfo, Store
from clew.stores import Where, store_at
from clew.stores.interface import Locks
from clew.stores.listing import stops
from clew.stores.locks import queue_of
from clew.stores.user_store import location_of
from clew.support.arguments import check_argument
from clew.support.errors import ClewError, ConfigError

LOG: Final = logging.getLogger("clew")


class Serving:
    """The work on the runs of a store that was begun in this event loop."""

    def __init__(self, location: Hashable) -> None:
        self._location = location

    def _tasks(self) -> list[RunTask[Any]]:
        return [task for task in tasks_here() if task.key[0] == self._location]

    async def wait(self) -> None:
        """Wait until nothing is under way. What ended a run is told by its stream."""
        while tasks := self._tasks():
            await tasks[0].ended.wait()

    async def stop(self) -> None:
        """Stop all work, once no effect is under way: the runs stay open."""
        with anyio.CancelScope(shield=True):
            while tasks := self._tasks():
                for task in tasks:
                    task.cancel()
                for task in tasks:
                    await task.ended.wait()


class Application(AbstractAsyncContextManager[Serving]):
    """The scope of an application, once; called with an application, it is the lifespan of that."""

    def __init__(self, agents: Sequence[Agent[Any]], store: Where, *, accept_change: bool) -> None:
        self._agents = agents
        self._store = store
        self._accept_change = accept_change
        self._scope: AbstractAsyncContextManager[Serving] | None = None

    async def __aenter__(self) -> Serving:
        """Take up what was left open."""
        self._scope = _serving(self._agents, self._store, accept_change=self._accept_change)
        return await self._scope.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all work that was begun inside."""
        if (scope := self._scope) is not None:
            self._scope = None
            await scope.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def __call__(self, _: object) -> AsyncGenerator[None]:
        """The lifespan of an ASGI application: `FastAPI(lifespan=serving(agent))`."""
        async with self:
            yield


def serving(*agents: Agent[Any], store: Where = None, accept_change: bool = False) -> Application:
    """Work on the runs of a store as long as an application lives: `async with`, or its lifespan.

    At the beginning, runs of these agents that were left open, or have got a ruling, are taken up,
    with `accept_change` also those that an earlier form of one began (it had one of the same tools,
    or, without any, the prompt), which is recorded (`Changed`); not those of a queue, which are for
    workers, and those that another process has. So are, as long as it lives, those that get a
    ruling, a result or a message from elsewhere (in a store that workers can share), and those
    whose time has come: a call that `later` put off, or that nobody gave a result in time. At the
    end all work that was begun inside is stopped: an effect that has begun is seen to its end and
    recorded, and the runs stay open.
    `wait` of what it gives waits for all of it instead. Meanwhile each agent is open (`async with
    agent`): its runs share the connections of its tools. Without a `store` it is that of the
    agents, which must be one.
    """
    for agent in agents:
        check_argument("agent", agent, Agent, "an Agent")
    check_told_apart(agents)
    if store is None:
        stores = [agent.store for agent in agents if agent.store is not None]
        if any(each != stores[0] for each in stores):
            raise ConfigError("the agents have different stores: serve each, or give store=")
        store = stores[0] if stores else None
    return Application(agents, store, accept_change=accept_change)


@asynccontextmanager
async def _serving(
    agents: Sequence[Agent[Any]], store: Where, *, accept_change: bool
) -> AsyncGenerator[Serving]:
    async with store_at(store) as opened, AsyncExitStack() as open_agents:
        for agent in agents:
            await open_agents.enter_async_context(agent)
        here = Serving(location_of(opened))
        work = _LeftRuns(opened, store, agents, accept_change)
        waking = OwnTask(work.wake())
        try:
            if agents:
                await work.take_up(
                    await (
                        opened.due() if isinstance(opened, Locks) else opened.runs(status="open")
                    )
                )
            waking.start(copy_context())
            yield here
        finally:
            await waking.stop()
            await here.stop()


@dataclass(frozen=True)
class _LeftRuns:
    """The runs of a store that nobody works on, and the agents that go on with them.

    `store` is what `where` names.
    """

    store: Store
    where: Where
    agents: Sequence[Agent[Any]]
    accept_change: bool
    tried: dict[str, int] = field(default_factory=dict[str, int])
    """How many entries a run had when it was last taken up, since it may stay as it is."""

    async def wake(self) -> None:
        """Take up the runs whose time has come, or that got a word, while the application lives."""
        times, failed = WakeTimes(self.store), False
        while self.agents:
            try:
                await self.take_up([*await times.woken(), *await self._told()])
                failed = False
            except Exception:
                if not failed:  # a store may be away for long
                    LOG.exception("runs whose time has come are looked for again")
                failed = True
            await times.wait()

    async def _told(self) -> list[RunInfo]:
        """Stopped runs that got a word meanwhile, such as a ruling, and on which nobody works here.

        None in a store that workers cannot share, which does not say it.
        """
        if not isinstance(self.store, Locks):
            return []
        here = location_of(self.store)
        return [
            info
            for info in await self.store.due()
            if stops(info.last.body) and task_of((here, info.run_id)) is None
        ]

    async def take_up(self, infos: Sequence[RunInfo]) -> None:
        """Go on with those of these runs for which there is an agent, and with none in vain."""
        for info in infos:
            if queue_of(info) or self.tried.get(info.run_id) == info.entries:
                continue
            self.tried[info.run_id] = info.entries
            agent = await self._agent_of(info.run_id)
            if agent is not None:
                await self._go_on(agent, info.run_id)

    async def _agent_of(self, run_id: str) -> Agent[Any] | None:
        """The agent that goes on with a run."""
        try:
            record = await load(self.store, run_id)
        except ClewError as error:
            LOG.warning("run %s is not taken up: %s", run_id, error)
            return None
        if record.parent_call or record.is_foreign:
            return None
        return agent_of_run(record, self.agents, accept_change=self.accept_change)

    async def _go_on(self, agent: Agent[Any], run_id: str) -> None:
        try:
            events = await start(
                agent, run_id=run_id, store=self.where, accept_change=self.accept_change
            )
            await events.aclose()
            events.raise_error()
        except ClewError as error:
            LOG.error("run %s stays open: resume it: %s", run_id, error)  # noqa: TRY400 - its message says what to do
        if (task := task_of((location_of(self.store), run_id))) is not None:
            task.leave_alone()
