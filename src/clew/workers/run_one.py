"""The body of every driver: take a run up, and advance it until it stops."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import anyio

from clew.core.agent import Agent
from clew.core.errors import ClewError, FencedError, ModelError, StoreError
from clew.core.events import Stop
from clew.core.interfaces import Listener, Store
from clew.core.journal import Journal, load
from clew.core.loop import advance
from clew.core.runner import broke_off, leave, take_up
from clew.core.trajectory import Trajectory
from clew.workers.broken_runs import idle_openings, too_often
from clew.workers.gate import Gate, Place

LOG: Final = logging.getLogger("clew")

Agents: TypeAlias = Callable[[Trajectory], Awaitable[Agent]]
"""Finds the agent that a run was begun with. Raises `ConfigError` where this worker has none."""


def _staying() -> bool:
    """Nobody wants the worker to leave."""
    return False


async def carry(
    agents: Agents,
    store: Store,
    run_id: str,
    *,
    gate: Gate | None = None,
    listener: Listener | None = None,
    leaving: Callable[[], bool] = _staying,
) -> Trajectory:
    """Work on a run until it stops, or until its step ends after the worker was told to leave.

    `gate` is that of the worker: a run whose last opening came to nothing is alone until it gets
    on, and one that broke its workers too often is stopped. Raises `ConfigError` where this worker
    does not have the run's agent, before anybody is fenced off; `FencedError` where another took
    the run up; `ModelError` and `StoreError`. Whatever else an agent's part raises comes out as an
    `Exception`, also what would end the process.
    """
    try:
        return await _carried(agents, store, run_id, gate or Gate(), listener, leaving)
    except (Exception, anyio.get_cancelled_exc_class()):
        raise
    except BaseException as error:
        message = f"a part of the agent raised {type(error).__name__}, which would end the worker"
        raise ClewError(message) from error


async def _carried(
    agents: Agents,
    store: Store,
    run_id: str,
    gate: Gate,
    listener: Listener | None,
    leaving: Callable[[], bool],
) -> Trajectory:
    so_far = await load(store, run_id)
    agent = await agents(so_far)
    epoch = await store.epoch(run_id)
    if (stop := too_often(so_far, epoch)) is not None and not await store.inbox(run_id):
        return await _set_aside(store, so_far, stop, listener)
    async with gate.place(alone=idle_openings(so_far, epoch) > 0) as place:
        if leaving():
            return so_far
        journal = await take_up(agent, run_id, store, listener=listener)
        try:
            await journal.receive()
            await _advanced(agent, journal, place, leaving)
            await leave(agent, journal)
        except FencedError:
            raise
        except (ModelError, StoreError):  # which is not for this run to answer for
            with suppress(StoreError):
                await broke_off(agent, journal)
            raise
        return journal.trajectory


async def _advanced(
    agent: Agent, journal: Journal, place: Place, leaving: Callable[[], bool]
) -> None:
    while (so_far := journal.trajectory).stop is None and (so_far.step.pending or not leaving()):
        await advance(agent, journal)
        if not so_far.step.pending:
            await place.between_steps(got_on=idle_openings(so_far, journal.epoch) == 0)


async def _set_aside(
    store: Store, so_far: Trajectory, stop: Stop, listener: Listener | None
) -> Trajectory:
    """Stop a run without a look at its agent, any part of which may be what breaks."""
    journal = await Journal.open(store, so_far.run_id, so_far, listener=listener)
    LOG.warning("run %s is %s", so_far.run_id, stop.reason)
    await journal.record(stop)
    return journal.trajectory
