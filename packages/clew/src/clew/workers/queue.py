"""Leaving a run to workers, and watching it: `submit` and `follow`, with their sync twins.

Workers are whatever serves the queue of the run, in this process or another (`clew.workers`).
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import anyio

from clew.agent.agent import Agent
from clew.agent.labels import load_of
from clew.agent.question import Question
from clew.agent.runner import start
from clew.core.events import Entry, Json, Trust
from clew.core.interfaces import Store
from clew.core.journal import catch_up
from clew.core.trajectory import Trajectory
from clew.stores import Where, store_at
from clew.stores.interface import Notifies
from clew.stores.locks import shared
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError
from clew.support.settings import check_text
from clew.workers.config import QUEUE

_LOOK: Final = 0.1  # seconds between two looks at a store that does not tell what was written
_WAIT: Final = 1.0  # the same where it does, and that may get lost


async def submit(
    agent: Agent[Any],
    goal: Question,
    *,
    store: Where = None,
    queue: str = QUEUE,
    run_id: str = "",
    origin: dict[str, Json] | None = None,
    trust: Trust = "trusted",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> str:
    """Create a run in the queue and return its id; a worker executes it.

    The worker needs the agent: from Python you pass it to the worker; for the command line and
    agent files it builds it from the `origin`. `trust` is that of the goal: untrusted if no person
    wrote it; `labels` and `owner` are as in `clew.run`. Raises `ConfigError` if workers cannot
    share the store.
    """
    check_argument("agent", agent, Agent, "an Agent")
    check_text("queue", queue)
    if not queue:
        message = "the queue has no name: leave it out for the usual one"
        raise ConfigError(message)
    async with store_at(store) as opened:
        shared(opened)
        journal = await start(
            agent, goal, opened, run_id=run_id, origin=origin, queue=queue, trust=trust,
            labels=labels, owner=owner,
        )  # fmt: skip
        return journal.run_id


async def follow(
    run_id: str, *, store: Where = None, owner: str | None = None
) -> AsyncGenerator[Entry]:
    """Yield the entries of a run, past and future, until it stops.

    It only reads, whichever process writes. A held run has stopped too, unless the ruling is in its
    inbox. Raises `StoreError` if the run is unknown, or is not the `owner`'s.
    """
    async with store_at(store) as opened:
        if owner is not None:
            await load_of(opened, run_id, owner)
        trajectory = Trajectory(run_id)
        while True:
            seen = len(trajectory)
            await catch_up(trajectory, opened)
            for entry in trajectory.entries[seen:]:
                yield entry
            if trajectory.stop is not None and not await opened.inbox(run_id):
                return
            if len(trajectory) == seen:
                await _written(opened, run_id, seen)


async def _written(opened: Store, run_id: str, seen: int) -> None:
    """Wait until there may be more than `seen` entries."""
    if not isinstance(opened, Notifies):
        await anyio.sleep(_LOOK)
        return
    with anyio.move_on_after(_WAIT):
        async with opened.wakes() as woken:
            if await opened.read(run_id, seen):  # written before it began to tell
                return
            async for one in woken:  # pragma: no branch - it tells for ever
                if one == run_id:
                    return
