"""Runs that came from outside, such as an archive: nobody here said or allowed what is in them.

Whose entries are whose is for the store to say (`clew.stores.Owns`). Before such a run goes on,
what it waits for is closed, not done, and all of it counts as untrusted from then on: unless it was
trusted before (`trust`), which makes its entries the user's own.
"""

from collections.abc import Iterator

from clew.agent.agent import Agent
from clew.core.events import Changed, Json, Note, Observation, text_parts
from clew.core.interfaces import Line, Store
from clew.core.journal import Journal, foreign_entries, load
from clew.core.observations import refusal
from clew.core.redaction import redact
from clew.core.trajectory import Trajectory
from clew.stores.interface import Owns
from clew.stores.listing import summary
from clew.support.errors import ConfigError

OUTSIDE = "begun elsewhere"
"""What has changed in a run that goes on here."""

_BEGUN = (
    "this run came from elsewhere, where the call was begun: it may or may not have happened "
    "there, and nothing was done here"
)
_NEW = (
    "this run came from elsewhere, and nothing that it was about to do is done here: if it is "
    "still wanted, call again"
)
_PUT_OFF = "this run came from elsewhere, and what it had put off is not done here"


class ForeignRunError(ConfigError):
    """The run came from outside and nobody trusts it."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id} was not begun by you on this machine: look at it (clew show {run_id}), "
            f"then trust it (clew resume {run_id} --trust-origin), or keep it in another store"
        )


async def close_off(
    agent: Agent,
    journal: Journal,
    different: tuple[str, ...] = (),
    origin: dict[str, Json] | None = None,
) -> bool:
    """Close what came from outside before the run goes on with this agent; False: nothing did."""
    trajectory = journal.trajectory
    trajectory.foreign = await foreign_entries(journal.store, journal.run_id)
    if not trajectory.is_foreign:
        return False
    made_of = redact(origin) if origin else {}
    changed = Changed(agent.spec, (*different, OUTSIDE), made_of, outside=True)
    await journal.record(*_closed(trajectory), changed)
    return True


def _closed(trajectory: Trajectory) -> Iterator[Observation | Note]:
    if trajectory.put_off:
        yield Note(text_parts(_PUT_OFF), source="late", trust="untrusted")
    for call in trajectory.step.all_calls:
        if call.observation is None and (call.begun or call.child):
            yield refusal(call, "unknown", _BEGUN)
        elif call.observation is None:
            yield refusal(call, "interrupted", _NEW)


async def trust(store: Store, record: Trajectory) -> Trajectory:
    """Take a run as it was read, and its sub-runs, for the user's own; returns it as it is then.

    Raises `StoreError` where it was changed meanwhile, `ConfigError` where its store knows no
    owners.
    """
    if not isinstance(store, Owns):
        raise ConfigError("this store does not know whose runs it has: use another one")
    last = record.entries[-1]
    (line, *_) = await store.read(record.run_id, last.seq - 1)
    seen = Line(last.seq, last.at, last.epoch, line.body, last.hash)
    for run_id in await _sub_runs(store, record):
        below = await load(store, run_id)
        if below.foreign and below.run_id != record.run_id:
            await trust(store, below)
    await store.adopt(record.run_id, seen)
    return await load(store, record.run_id)


async def _sub_runs(store: Store, record: Trajectory) -> list[str]:
    """The runs that serve this one, as far as they are there."""
    named = {call.child for call in record.calls}
    runs = {info.run_id: summary(info) for info in await store.runs()}
    parents = {
        run_id: run.started.parent.rpartition(":")[0]
        for run_id, run in runs.items() if run is not None
    }  # fmt: skip
    return [run_id for run_id in runs if run_id in named or parents.get(run_id) == record.run_id]
