"""Who may work on a run that stands in a queue: whoever has claimed it.

A claim is a lock in the store (`Locks`). Where its holder is frozen, a person may take the run
over on purpose: that is a second lock, which all look at before they take the first for granted.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Protocol

import anyio
import msgspec

from clew.core.errors import ConfigError, StoreError
from clew.core.interfaces import RunInfo, Store
from clew.core.trajectory import Trajectory
from clew.stores.interface import Locks

LOG: Final = logging.getLogger("clew")

_TRIES: Final = 20  # while others look whether there is a second lock, it is theirs for a moment


class Shared(Store, Locks, Protocol):
    """A store that workers share."""


class _Setting(msgspec.Struct):
    fingerprint: str = ""


class _Begun(msgspec.Struct):
    """What of a run's first line says who works on it, and with which agent."""

    queue: str = ""
    setting: _Setting = msgspec.field(default_factory=_Setting)


_begun: Final = msgspec.json.Decoder(_Begun)


def queue_of(run: RunInfo | Trajectory) -> str:
    """The queue of a run, "" for none.

    A fork is in no queue, whatever the queue of its parent: its author continues it.
    """
    if isinstance(run, Trajectory):
        return "" if run.forks else run.started.queue
    if run.base is not None:
        return ""
    try:
        return _begun.decode(run.first.body).queue
    except (ValueError, RecursionError):  # of a newer clew, or damaged
        return ""


def fingerprint_of(run: RunInfo) -> str:
    """The fingerprint of the agent that a run was begun with; "" where it cannot be read."""
    try:
        return _begun.decode(run.first.body).setting.fingerprint
    except (ValueError, RecursionError):  # of a newer clew, or damaged
        return ""


def shared(store: Store) -> Shared:
    """The store, if workers can share it. Raises `ConfigError`."""
    if not isinstance(store, Locks):
        message = (
            "workers cannot share this store: use SQLite or PostgreSQL, "
            "or give yours the methods of clew.core.interfaces.Claims"
        )
        raise ConfigError(message)
    return store


async def claim(store: Locks, run_id: str, *, take_over: bool = False) -> str | None:
    """Claim a run: the name of the lock to release in the end, or None where another has it.

    With `take_over` a run is had that another has claimed: that one is fenced off as soon as the
    run is opened. Only one at a time can have taken a run over.
    """
    over = f"over:{run_id}"
    if await store.claim(run_id):
        mine = False
        try:
            if await store.claim(over):
                await store.release(over)
                mine = True
                return run_id
        finally:
            if not mine:  # also where the store failed: else nobody would ever let go of it
                with anyio.CancelScope(shield=True):
                    await store.release(run_id)
    if take_over:
        for _ in range(_TRIES):
            if await store.claim(over):
                return over
            await anyio.sleep(0.01)
    return None


async def release_quietly(store: Locks, lock: str) -> None:
    """Release a claim; where that fails, the connection is gone and the claim with it."""
    with anyio.CancelScope(shield=True):
        try:
            await store.release(lock)
        except StoreError as error:
            LOG.info("the claim of %s went with its connection (%s)", lock, error)


@asynccontextmanager
async def claimed(
    store: Store, record: Trajectory, *, take_over: bool = False
) -> AsyncGenerator[None]:
    """Keep workers away from a run that stands in a queue while it is worked on here.

    Raises `ConfigError` where another has it.
    """
    if not queue_of(record) or not isinstance(store, Locks):
        yield
        return
    lock = await claim(store, record.run_id, take_over=take_over)
    if lock is None:
        message = (
            f"run {record.run_id} is being worked on by another process: let it, or, where that "
            "one hangs, take the run over (--take-over, take_over=True)"
        )
        raise ConfigError(message)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await store.release(lock)
