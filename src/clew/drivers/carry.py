"""The body of every driver: take a run up, and advance it until it stops."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from clew.agent import Agent
from clew.begin import leave, take_up
from clew.journal import load
from clew.loop import turn
from clew.protocols import Listener, Store
from clew.trajectory import Trajectory

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
    listener: Listener | None = None,
    leaving: Callable[[], bool] = _staying,
) -> Trajectory:
    """Work on a run until it stops, or until its step ends after the worker was told to leave.

    Raises `ConfigError` where this worker does not have the run's agent, before anybody is fenced
    off; `FencedError` where another took the run up; `ModelError` and `StoreError`.
    """
    agent = await agents(await load(store, run_id))
    journal = await take_up(agent, run_id, store, listener=listener)
    await journal.receive()
    while (so_far := journal.trajectory).stop is None and (so_far.step.pending or not leaving()):
        await turn(agent, journal)
    await leave(agent, journal)
    return journal.trajectory
