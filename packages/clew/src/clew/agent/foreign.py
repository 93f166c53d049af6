"""Runs that came from outside, such as an archive: nobody here said or allowed what is in them.

Whose entries are whose is for the store to say (`clew.stores.Owns`). Before such a run goes on,
what it waits for is closed, not done, and all of it counts as untrusted from then on: unless it was
trusted before (`trust`), which makes its entries the user's own.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from clew.agent.agent import Agent
from clew.core.contents import Observation, text_parts
from clew.core.events import Changed, Note
from clew.core.journal import Journal, foreign_entries, load
from clew.core.observations import refusal
from clew.core.redaction import redact
from clew.core.stores import Line, Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.stores.interface import Owns
from clew.stores.listing import summary
from clew.support.errors import ConfigError, RunNotFoundError

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
    agent: Agent[Any],
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


async def family(store: Store, record: Trajectory) -> list[Trajectory]:
    """The run and the runs that serve it, of all that came from outside and are not trusted."""
    named = {call.child for call in record.calls}
    for info in await store.runs():
        listed = summary(info)
        if info.run_id.startswith(f"{record.run_id}-") and listed is not None:  # such as of a vote
            serves = listed.started.parent.rpartition(":")[0] == record.run_id
            named |= {info.run_id} if serves else set()
    runs = [record]
    for run_id in sorted(named - {""}):
        with suppress(RunNotFoundError):
            below = await load(store, run_id)
            runs += await family(store, below) if below.foreign else []
    return runs


async def trust(store: Store, *records: Trajectory) -> None:
    """Take runs, as they were read, for the user's own.

    Raises `StoreError` where one was changed meanwhile, `ConfigError` where the store knows no
    owners.
    """
    if not isinstance(store, Owns):
        raise ConfigError("this store does not know whose runs it has: use another one")
    for record in records:
        last = record.entries[-1]
        (line, *_) = await store.read(record.run_id, last.seq - 1)
        seen = Line(last.seq, last.at, last.epoch, line.body, last.hash)
        await store.adopt(record.run_id, seen)
