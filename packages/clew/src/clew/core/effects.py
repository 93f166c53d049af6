"""What runs did in the world, as it is told to other runs: these must not repeat it unasked.

One rule for forks, trials and all roles of strategies: a side effect counts at any depth. The run
that is told may ask a sub-agent in other words, or make the sub-agent's call itself.
"""

from collections.abc import Iterable

from clew.core.actions import Done
from clew.core.done import described_effect
from clew.core.journal import load
from clew.core.models import STRATEGY
from clew.core.stores import Store
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import RunNotFoundError


async def effects_of(store: Store, record: Trajectory, calls: Iterable[Call]) -> dict[str, Done]:
    """The side effects of some calls of a record, by their keys.

    A call that was made in a run of its own has those of that run, and is none itself.
    """
    effects: dict[str, Done] = {}
    for call in calls:
        if not call.changed:
            continue
        within = await _within(store, call)
        if within is None and not (call.child and call.observation is None):  # it was begun
            done = described_effect(record, call)
            within = {done.key: done}
        effects |= within or {}
    return effects


async def effects_after(store: Store, record: Trajectory, step: int) -> tuple[Done, ...]:
    """The side effects of the steps after a step, without those that the run is held to already."""
    calls = [call for later in record.steps[step:] for call in later.all_calls]
    known = {done.key for done in record.done_elsewhere}
    effects = await effects_of(store, record, calls)
    return tuple(done for key, done in effects.items() if key not in known)


async def with_those_within(store: Store, listed: Iterable[Done]) -> dict[str, Done]:
    """Listed side effects, and those within them as far as their runs are in this store.

    Of a run of a role of a strategy only those within it count: the strategy asks for such runs
    again with the same words.
    """
    effects: dict[str, Done] = {}
    records: dict[str, Trajectory | None] = {}
    for done in listed:
        run_id, _, key = done.key.rpartition(":")
        if run_id not in records:
            records[run_id] = await _load(store, run_id)
        record = records[run_id]
        calls = [] if record is None else [call for call in record.calls if call.key == key]
        within = await _within(store, calls[0]) if calls else None
        if record is None or within is None or not is_strategy(record):
            effects[done.key] = done
        effects |= within or {}
    return effects


async def _within(store: Store, call: Call) -> dict[str, Done] | None:
    """The side effects of a call's own run; None if it has none that was begun in this store."""
    record = await _load(store, call.child) if call.child else None
    return None if record is None else await effects_of(store, record, record.calls)


async def _load(store: Store, run_id: str) -> Trajectory | None:
    try:
        return await load(store, run_id)
    except RunNotFoundError:
        return None


def is_strategy(record: Trajectory) -> bool:
    """Whether the record is that of a strategy: its calls are runs of the roles."""
    spec = record.spec
    return spec is not None and spec.model.partition(":")[0] == STRATEGY
