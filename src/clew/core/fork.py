"""Fork: a new run that begins with another's, as it stood when a step was complete."""

from collections.abc import Mapping
from typing import Any

from clew.api import Where, secrets, store_at, twin
from clew.core.agent import Agent, changes
from clew.core.events import AnyEvent, Forked, Json, Note
from clew.core.fork_point import find_fork_point
from clew.core.interfaces import Listener, Store
from clew.core.journal import Journal, load, new_run_id
from clew.core.result import Result
from clew.core.runner import drive, redact
from clew.core.seal import sealed
from clew.core.trajectory import Trajectory


async def fork(
    agent: Agent,
    run_id: str,
    *,
    at: int,
    observations: Mapping[str, Any] | None = None,
    say: str = "",
    store: Where = None,
    new_id: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
) -> Result:
    """Begin a new run with the first `at` steps of another, and go on with it.

    The agent may be any: what differs is recorded. `observations` take the place of what calls of
    step `at` observed ({"2.1": "nothing found"}); `say` is a further word. No call of the shared
    steps is made again. Raises `ConfigError` where the run cannot be forked there.
    """
    async with store_at(store) as place:
        journal = await start_fork(
            agent, run_id, place,
            at=at, observations=observations, say=say, new_id=new_id, listener=listener,
            origin=origin,
        )  # fmt: skip
        return await drive(agent, journal)


async def start_fork(
    agent: Agent,
    run_id: str,
    store: Store,
    *,
    at: int,
    observations: Mapping[str, Any] | None = None,
    say: str = "",
    new_id: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
) -> Journal:
    """Make the fork's record without thinking yet."""
    place = find_fork_point(await load(store, run_id), at, observations, spoken=bool(say.strip()))
    again: list[AnyEvent] = [*place.again, *([Note(say)] if say.strip() else [])]
    so_far = Trajectory(run_id, place.shared)
    what = (
        *changes(so_far.setting or so_far.started.setting, agent.setting),
        *(f"observation {key}" for key in observations or {}),
    )
    new_id = new_id or new_run_id()
    made_of = sealed(new_id, redact(origin)) if origin else {}
    first = Forked(place.parent, at, agent.setting, what, place.done, len(again), made_of)
    return await Journal.fork(
        store, place.base, place.shared, (first, *again), new_id,
        secrets=secrets(), listener=listener,
    )  # fmt: skip


fork_sync = twin(fork)
