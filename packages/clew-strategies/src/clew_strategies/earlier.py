"""What earlier runs of a strategy did in the world: the next run is told, and does not repeat it.

One rule for all roles of all strategies: a run that is begun learns of every side effect so far in
the strategy's record, at any depth, and of those that the strategy itself must not repeat. A
repetition is held for a person (`AlreadyDone`), as in a fork.
"""

from clew.core.actions import Done
from clew.core.effects import effects_of, with_those_within
from clew.core.journal import load
from clew.interfaces import SubRun


async def done_before(sub: SubRun) -> tuple[Done, ...]:
    """The side effects of other runs that a run of a role must not repeat unasked."""
    root, _, key = sub.parent.rpartition(":")
    record = await load(sub.store, root)
    others = [call for call in record.calls if call.key != key]
    done = await with_those_within(sub.store, sub.done)
    return tuple((done | await effects_of(sub.store, record, others)).values())
