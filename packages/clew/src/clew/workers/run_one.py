"""What every driver does with one run: take it up, and advance it until it stops."""

import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

import anyio

from clew.agent.agent import Agent
from clew.agent.broken_runs import idle_openings, too_often
from clew.agent.runner import leave, record_failure, take_up
from clew.agent.streaming.work import working
from clew.core.entries import Entry
from clew.core.events import Stop, Thought
from clew.core.journal import Journal, load, wall_clock
from clew.core.listeners import Listener
from clew.core.loop import advance
from clew.core.settling import due
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.stores.locks import SharedStore, release_quietly
from clew.support.error_text import described, message_of
from clew.support.errors import ClewError, ConfigError, FencedError, ModelError, StoreError
from clew.support.resources import resources
from clew.support.structural import Structural
from clew.workers.gate import RunGate, RunSlot

LOG: Final = logging.getLogger("clew")

Agents: TypeAlias = Callable[[Trajectory], Awaitable[Agent[Any]]]
"""Finds the agent with which a run began. Raises `ConfigError` if this worker has none."""

Leaving: TypeAlias = Callable[[], bool]
"""Whether the worker was told to leave."""


MayStep: TypeAlias = Callable[[], Awaitable[bool]]
"""Whether another step may begin now: asked before each."""


def _never_leave() -> bool:
    """Nobody wants the worker to leave."""
    return False


async def _always() -> bool:
    """Nothing bounds what the worker does."""
    return True


async def carry(
    agents: Agents,
    store: Store,
    run_id: str,
    *,
    gate: RunGate | None = None,
    listener: Listener | None = None,
    leaving: Leaving = _never_leave,
    accept_change: bool = False,
) -> Trajectory:
    """Execute a run until it stops, or until its step ends after the worker was told to stop.

    `gate` is that of the worker: a run whose last attempt made no progress is executed alone until
    it does, and one that broke its workers too often is stopped. Raises `ConfigError` if this
    worker lacks the run's agent, or that differs from the record's without `accept_change`, before
    anybody is fenced off; `FencedError` if another worker
    opened the run; `ModelError` and `StoreError`. Anything else that an agent's part raises is
    raised as an `Exception`, even what would end the process.
    """
    with _exceptions_only():
        trajectory = await load(store, run_id)
        agent = await agents(trajectory)
        origin = _origin_of(agents, agent)
        task = _Task(agent, trajectory, store, origin, accept_change=accept_change)
        return await _carry(task, gate or RunGate(), listener, _Bounds(leaving, _always))


@runtime_checkable
class KnowsOrigins(Protocol, metaclass=Structural):
    """What finds agents, and knows which of them an agent file describes."""

    def origin_of(self, agent: Agent[Any]) -> dict[str, Json] | None:
        """What a record that goes on with the agent says of it."""
        ...


def _origin_of(agents: object, agent: Agent[Any]) -> dict[str, Json] | None:
    return agents.origin_of(agent) if isinstance(agents, KnowsOrigins) else None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of a run that a worker claimed, which `text` says in words.

    It "ended", with `text` the status of its stop, or "" where there was nothing to do; it was
    "left"; another worker has it ("lost"), its agent is not here ("refused"), or its model, its
    store or a part of its agent "failed". The first two have its `record`, of so many `entries`.
    `moved` says whether it got on before it failed.
    """

    what: Literal["ended", "left", "lost", "refused", "failed"]
    text: str = ""
    entries: int = 0
    moved: bool = False
    record: Trajectory | None = None


async def carry_claimed(
    agents: Agents,
    store: SharedStore,
    run_id: str,
    lock: str,
    *,
    gate: RunGate,
    leaving: Leaving,
    taken: Callable[[Trajectory], None],
    accept_change: bool = False,
    listen: Callable[[Trajectory], Listener] | None = None,
    may_step: MayStep = _always,
) -> RunOutcome:
    """Carry a run of which this worker holds the `lock`, and release that; errors are outcomes.

    `taken` is called when the run's agent was found, and `listen` for one more listener.
    """
    progress = _RunProgress()
    bounds = _Bounds(leaving, may_step)
    try:
        with _exceptions_only():
            record = await load(store, run_id)
            waits = record.stop is not None and not due(record, wall_clock())
            if waits and not await store.inbox(run_id):
                return RunOutcome("ended", "", len(record), record=record)
            agent = await agents(record)
            taken(record)
            progress.further = listen(record) if listen is not None else None
            origin = _origin_of(agents, agent)
            task = _Task(agent, record, store, origin, accept_change=accept_change)
            done = await _carry(task, gate, progress, bounds)
    except FencedError as error:
        return RunOutcome("lost", describe(error))
    except ConfigError as error:
        return RunOutcome("refused", describe(error))
    except Exception as error:
        if not isinstance(error, ModelError | StoreError):
            LOG.exception("run %s: a part of its agent failed", run_id)
        return RunOutcome("failed", describe(error), moved=progress.moved)
    finally:
        await release_quietly(store, lock)
    if done.stop is None:
        return RunOutcome("left", "for other workers", len(done), record=done)
    return RunOutcome("ended", done.stop.status, len(done), record=done)


def describe(error: Exception) -> str:
    """What an error says, in a line: clew's own say what to do, of others the class is named."""
    return message_of(error) if isinstance(error, ClewError) else described(error)


class _RunProgress:
    """A listener that knows whether a run got on, before a `further` one."""

    def __init__(self) -> None:
        self.moved = False
        self.further: Listener | None = None

    def token(self, text: str) -> None:
        """A piece of a reply is not yet a thought."""
        if self.further is not None:
            self.further.token(text)

    def entry(self, entry: Entry) -> None:
        """A thought was recorded: the model answers."""
        self.moved = self.moved or isinstance(entry.event, Thought)
        if self.further is not None:
            self.further.entry(entry)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What ends the work on a run before the run ends."""

    leaving: Leaving
    may_step: MayStep

    async def let(self) -> bool:
        """Whether the next step may begin."""
        return not self.leaving() and await self.may_step()


@contextmanager
def _exceptions_only() -> Generator[None]:
    """Let no part of an agent end the worker."""
    try:
        yield
    except (Exception, anyio.get_cancelled_exc_class()):
        raise
    except BaseException as error:
        message = f"a part of the agent raised {type(error).__name__}, which would end the worker"
        raise ClewError(message) from error


@dataclass(frozen=True, slots=True)
class _Task:
    """A run with the agent that goes on with it, and the `origin` to record of a changed one."""

    agent: Agent[Any]
    trajectory: Trajectory
    store: Store
    origin: dict[str, Json] | None
    accept_change: bool


async def _carry(
    task: _Task, gate: RunGate, listener: Listener | None, bounds: _Bounds
) -> Trajectory:
    agent, trajectory, store = task.agent, task.trajectory, task.store
    run_id = trajectory.run_id
    epoch = await store.epoch(run_id)
    if (stop := too_often(trajectory, epoch)) is not None and not await store.inbox(run_id):
        return await _set_aside(store, trajectory, stop, listener)
    async with gate.slot(alone=idle_openings(trajectory, epoch) > 0) as slot:
        if not await bounds.let():
            return trajectory
        journal = await take_up(
            agent, run_id, store,
            accept_change=task.accept_change, listener=listener, origin=task.origin,
        )  # fmt: skip
        try:
            await journal.receive(next_word=True)
            async with resources():
                with working(agent, journal):
                    await _advanced(agent, journal, slot, bounds)
            await leave(agent, journal)
        except FencedError:
            raise
        except (ModelError, StoreError):  # which is not for this run to answer for
            with suppress(StoreError):
                await record_failure(agent, journal)
            raise
        return journal.trajectory


async def _advanced(agent: Agent[Any], journal: Journal, slot: RunSlot, bounds: _Bounds) -> None:
    while (trajectory := journal.trajectory).stop is None and (
        trajectory.step.pending or await bounds.let()
    ):
        await advance(agent.engine, journal)
        if not trajectory.step.pending:
            await slot.between_steps(got_on=idle_openings(trajectory, journal.epoch) == 0)


async def _set_aside(
    store: Store, trajectory: Trajectory, stop: Stop, listener: Listener | None
) -> Trajectory:
    """Stop a run without a look at its agent, any part of which may be what breaks."""
    journal = await Journal.open(store, trajectory.run_id, trajectory, listener=listener)
    LOG.warning("run %s is %s", trajectory.run_id, stop.reason)
    await journal.record(stop)
    return journal.trajectory
