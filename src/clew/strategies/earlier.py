"""What earlier runs of a strategy did in the world: the next run is told, and does not repeat it.

One rule for all roles of all strategies: a run that is begun learns of every side effect so far in
the strategy's record, at any depth, and of those that the strategy itself must not repeat. A
repetition is held for a person (`AlreadyDone`), as in a fork.
"""

from clew.core.errors import RunNotFoundError
from clew.core.events import Done
from clew.core.fork import described_effect
from clew.core.interfaces import Store, SubRun
from clew.core.journal import load
from clew.core.trajectory import Call, Trajectory

PROVIDER = "strategy"
"""What the models of strategies are called, before the name of the strategy."""


async def done_before(sub: SubRun) -> tuple[Done, ...]:
    """The side effects of other runs that a run of a role must not repeat unasked."""
    root, _, key = sub.parent.rpartition(":")
    found = {done.key: done for done in sub.done}
    for done in sub.done:
        found |= await _below(sub.store, done)
    record = await load(sub.store, root)
    for call in record.calls:
        if call.key != key:
            found |= await _effects(sub.store, record, call)
    return tuple(found.values())


async def effects_of(store: Store, run_id: str) -> dict[str, Done]:
    """The side effects of a run and of its sub-runs, by their keys."""
    found: dict[str, Done] = {}
    record = await load(store, run_id)
    for call in record.calls:
        found |= await _effects(store, record, call)
    return found


async def _effects(store: Store, record: Trajectory, call: Call) -> dict[str, Done]:
    """The side effects of a call. A run of a role has none but those within it."""
    if not call.changed:
        return {}
    done = described_effect(record, call)
    within = await _within(store, call) if call.child else None
    if call.child and within is None and call.observation is None:
        return {}  # it was not begun yet
    if within is not None and _is_strategy(record):
        return within
    return {done.key: done} | (within or {})


async def _below(store: Store, done: Done) -> dict[str, Done]:
    """The side effects within an effect that was a run."""
    run_id, _, key = done.key.rpartition(":")
    try:
        record = await load(store, run_id)
    except RunNotFoundError:
        return {}
    found = next((call for call in record.calls if call.key == key), None)
    within = await _within(store, found) if found is not None and found.child else None
    return within or {}


async def _within(store: Store, call: Call) -> dict[str, Done] | None:
    """The side effects of a sub-run; None if it is not in this store, or was never begun."""
    try:
        return await effects_of(store, call.child)
    except RunNotFoundError:
        return None


def _is_strategy(record: Trajectory) -> bool:
    setting = record.setting
    return setting is not None and setting.model.partition(":")[0] == PROVIDER
