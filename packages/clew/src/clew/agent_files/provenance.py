"""The spec of an agent, read from a record."""

import msgspec

from clew.agent_files.spec import ORIGIN, Spec
from clew.core.events import Changed, Forked, Started
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.support.errors import ConfigError


def origin_of(record: Trajectory) -> dict[str, Json]:
    """The origin that says what a run's agent is made of: the last one; empty where none does."""
    return _last_origin(record)[1]


def is_foreign(record: Trajectory) -> bool:
    """Whether somebody else, whom the user does not trust, says what the run's agent is made of."""
    return 0 < _last_origin(record)[0] <= record.foreign


def _last_origin(record: Trajectory) -> tuple[int, dict[str, Json]]:
    """The number of the entry with the last origin, and that."""
    for entry in reversed(record.entries):
        event = entry.event
        if isinstance(event, Started | Changed | Forked) and ORIGIN in event.origin:
            return entry.seq, event.origin
    return 0, {}


def spec_of(record: Trajectory) -> Spec | None:
    """The spec with which a run began or was last changed; None if a program began it.

    Raises `ConfigError` if it is of another version of clew, or no spec at all.
    """
    if not (recorded := origin_of(record)):
        return None
    if not isinstance(document := recorded[ORIGIN], dict):
        raise ConfigError(f"run {record.run_id} has an origin that describes no agent")
    try:
        return msgspec.convert(document, Spec)
    except msgspec.ValidationError as error:
        message = f"run {record.run_id} was begun with options this clew does not know: {error}"
        raise ConfigError(message) from error
