"""What was said of calls of unknown outcome and stands in no record yet: it counts at once.

A run takes such a word up when it goes on. A run that is over, or one below another, may never go
on: whoever reads its result must know it all the same.
"""

from collections import defaultdict

from clew.core.events import Settled
from clew.core.inbox import words_in
from clew.core.journal import load
from clew.core.settling import objection, unknown_calls
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.support.errors import RunNotFoundError


async def with_unread_words(store: Store, record: Trajectory) -> Trajectory:
    """The record as it will be once its run, and those below it, have taken such words up.

    It is the record itself where there is none.
    """
    asked = defaultdict[str, set[str]](set)
    for each in unknown_calls(record):
        asked[each.id.rpartition(":")[0]].add(each.id)
    if not asked:
        return record
    own = [word for word in await _words(store, record) if not objection(record, word)]
    below = set[str]()
    for run_id in asked.keys() - {record.run_id}:
        below |= asked[run_id] & await _settled_in(store, run_id)
    return _with(record, own, below) if own or below else record


async def _words(store: Store, record: Trajectory) -> list[Settled]:
    return [it for it in await words_in(store, record.run_id) if isinstance(it, Settled)]


async def _settled_in(store: Store, run_id: str) -> set[str]:
    """The ids of the calls of a run of which somebody said what came of them."""
    try:
        record = await load(store, run_id)
    except RunNotFoundError:  # it was forgotten, and what is known of it with it
        return set()
    keys = {call.key for call in record.calls if call.settled is not None}
    for word in await _words(store, record):
        if not word.below and not objection(record, word):
            keys.add(word.call)
    return {f"{run_id}:{key}" for key in keys}


def _with(record: Trajectory, own: list[Settled], below: set[str]) -> Trajectory:
    """A copy of the record, in whose calls the words are."""
    trajectory = Trajectory(record.run_id, record.entries)
    trajectory.foreign = record.foreign
    for word in own:
        call = trajectory.call(word.call)
        if word.below:
            below = below | {word.below}
        elif call.settled is None:
            call.settle(word)
    for call in trajectory.calls:
        call.settled_below |= below
    return trajectory
