"""How a record is begun and taken up again: where it lies, whose agent it is, what it must hide."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from clew.agent import Agent, changes
from clew.errors import ConfigError
from clew.events import SCHEMA, Changed, Grant, Json, Started
from clew.journal import Journal, load
from clew.protocols import Listener, Store
from clew.stores import open_store
from clew.trajectory import Trajectory

Where: TypeAlias = Store | str | Path | None

SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def secrets() -> tuple[str, ...]:
    """Values of the environment that must not get into a record: keys, tokens, passwords."""
    values = [os.environ[name] for name in os.environ if name.endswith(SECRET_NAMES)]
    return tuple(value for value in values if len(value) > 7)


@asynccontextmanager
async def opened(where: Where) -> AsyncGenerator[Store]:
    """The store at a place, closed in the end if it was opened here."""
    if where is None or isinstance(where, str | Path):
        store = open_store(where)
        try:
            yield store
        finally:
            await store.close()
    else:
        yield where


async def start(
    agent: Agent,
    goal: str,
    store: Store,
    *,
    run_id: str = "",
    parent: str = "",
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
    queue: str = "",
    grant: Grant | None = None,
) -> Journal:
    """Begin a run's record without thinking yet.

    `parent` is the call that a sub-run serves, and `grant` what it may take; a run with a `queue`
    is left to whoever serves that.
    """
    if not goal.strip():
        message = "the question is empty: say what you want to know"
        raise ConfigError(message)
    started = Started(
        goal, agent.setting, SCHEMA, agent.seed, parent, origin or {}, queue=queue, grant=grant
    )
    return await Journal.create(store, started, run_id, secrets=secrets(), listener=listener)


async def take_up(
    agent: Agent,
    run_id: str,
    store: Store,
    *,
    accept_change: bool = False,
    listener: Listener | None = None,
    origin: dict[str, Json] | None = None,
) -> Journal:
    """Open a run for work, having made sure that the agent is the record's or may differ.

    `origin` is recorded with a change, as `start` does it at the beginning.
    """
    so_far = await load(store, run_id)
    _changes(agent, so_far, accepted=accept_change)  # before anybody is fenced off
    journal = await Journal.open(store, run_id, so_far, secrets=secrets(), listener=listener)
    if different := _changes(agent, so_far, accepted=accept_change):
        await journal.record(Changed(agent.setting, different, origin or {}))
    return journal


def _changes(agent: Agent, so_far: Trajectory, *, accepted: bool) -> tuple[str, ...]:
    """In what the agent differs from the record's. Raises `ConfigError` where it may not."""
    different = changes(so_far.setting or so_far.started.setting, agent.setting)
    if different and not accepted:
        message = (
            f"the agent differs from the record's in {', '.join(different)}: accept the change"
        )
        raise ConfigError(message)
    return different
