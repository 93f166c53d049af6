"""Who may work on a run: whoever has claimed it.

A claim is a lock in the store (`Locks`). Workers claim the runs of their queue, and `at_work` every
run that is worked on by a call of its own. Where its holder is frozen, a person may take the run
over on purpose: that is a second lock, which all look at before they take the first for granted.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Protocol

import anyio
import msgspec

from clew.core.stores import RunInfo, Store
from clew.core.trajectory import Trajectory
from clew.stores.interface import Locks
from clew.stores.refusals import being_worked_on
from clew.stores.turns import IfBusy, TurnTakenError, turn
from clew.stores.user_store import location_of
from clew.support.errors import ConfigError, RunBusyError, StoreError

LOG: Final = logging.getLogger("clew")

_LOOKS: Final = 3
_TRIES: Final = 20  # while others look whether there is a second lock, it is theirs for a moment


class SharedStore(Store, Locks, Protocol):
    """A store that workers share."""


class _BegunSpec(msgspec.Struct):
    fingerprint: str = ""


class _Begun(msgspec.Struct):
    """What of a run's first line says who works on it, and with which agent."""

    queue: str = ""
    spec: _BegunSpec = msgspec.field(default_factory=_BegunSpec)


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
        return _begun.decode(run.first.body).spec.fingerprint
    except (ValueError, RecursionError):  # of a newer clew, or damaged
        return ""


def shared(store: Store) -> SharedStore:
    """The store, if workers can share it. Raises `ConfigError`."""
    if not isinstance(store, Locks):
        message = (
            "workers cannot share this store: use SQLite or PostgreSQL, "
            "or give yours the methods of clew.stores.Locks"
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


async def is_free(store: Locks, run_id: str) -> bool:
    """Whether nobody has claimed a run. For that moment, it is claimed here."""
    lock = await claim(store, run_id)
    if lock is not None:
        await release_quietly(store, lock)
    return lock is not None


async def release_quietly(store: Locks, lock: str) -> None:
    """Release a claim; where that fails, the connection is gone and the claim with it."""
    with anyio.CancelScope(shield=True):
        try:
            await store.release(lock)
        except StoreError as error:
            LOG.info("the claim of %s went with its connection (%s)", lock, error)


@asynccontextmanager
async def at_work(store: Store, run_id: str, if_busy: IfBusy = "wait") -> AsyncGenerator[None]:
    """Be the one who works on a run inside, in this process and, by a claim, among all of them.

    Whoever works on it in this process is waited for; with "refuse" it is not, and with "take over"
    it is fenced off, as is another process. A killed process has no claim.

    Raises `RunBusyError` where another process has the run, `ConfigError` where the caller
    itself is at work on it, and `RunExistsError` where it is not waited for.
    """
    try:
        async with turn((location_of(store), run_id), if_busy):
            if not isinstance(store, Locks):
                yield
                return
            async with _claimed(store, run_id, take_over=if_busy == "take over"):
                yield
    except TurnTakenError as taken:
        if not taken.own:
            raise being_worked_on(run_id) from None
        message = f"run {run_id} waits for the call that asks for it: let that call end first"
        raise ConfigError(message) from None


@asynccontextmanager
async def _claimed(store: Locks, run_id: str, *, take_over: bool) -> AsyncGenerator[None]:
    """Keep other processes away from a run. Raises `ConfigError` where another has it."""
    lock = await claim(store, run_id, take_over=take_over)
    for _ in range(_LOOKS if lock is None else 0):  # somebody may only have looked (`is_free`)
        await anyio.sleep(0.01)
        if (lock := await claim(store, run_id, take_over=take_over)) is not None:
            break
    if lock is None:
        message = (
            f"run {run_id} is being worked on by another process: let it, or, where that "
            "one hangs, take the run over (clew resume --take-over, take_over=True)"
        )
        raise RunBusyError(message)
    try:
        yield
    finally:
        await release_quietly(store, lock)
