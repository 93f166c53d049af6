"""The spec of an agent, read from a record."""

from copy import deepcopy
from typing import Final, cast

import msgspec

from clew.agent_files.spec import ORIGIN, Spec, put
from clew.core.errors import ConfigError
from clew.core.events import Changed, Forked, Json, Started
from clew.core.trajectory import Trajectory

MOVED: Final = {
    "format": ("codec",),
    "landing": ("limits", "landing"),
    "unknown": ("limits", "unknown"),
    "examples": ("prompt", "examples"),
    "thought": ("prompt", "thought"),
    "tell_left": ("prompt", "tell_left"),
}
"""Keys of earlier records, and where what they say stands now."""


def origin_of(record: Trajectory) -> dict[str, Json]:
    """The origin that says what a run's agent is made of: the last one; empty where none does."""
    events = (entry.event for entry in record.entries)
    said = (event.origin for event in events if isinstance(event, Started | Changed | Forked))
    found = [one for one in said if ORIGIN in one]
    return found[-1] if found else {}


def spec_of(record: Trajectory) -> Spec | None:
    """The spec with which a run began or was last changed; None if a program began it.

    Raises `ConfigError` if it is of another version of clew, or no spec at all.
    """
    if not (found := origin_of(record)):
        return None
    if not isinstance(said := found[ORIGIN], dict):
        raise ConfigError(f"run {record.run_id} has an origin that describes no agent")
    try:
        return msgspec.convert(_moved(cast("dict[str, Json]", said)), Spec)
    except msgspec.ValidationError as error:
        message = f"run {record.run_id} was begun with options this clew does not know: {error}"
        raise ConfigError(message) from error


def _moved(said: dict[str, Json]) -> dict[str, Json]:
    """What an earlier clew wrote, with each key where it stands now."""
    now = deepcopy(said)
    if isinstance(table := now.get("prompt"), dict):  # what was left out was none
        now["prompt"] = {"constraints": [], **table}
    if grounded := now.get("grounded"):  # it was a key beside the checks
        checks = msgspec.convert(now.get("checks", []), list[str])
        now["checks"] = list(dict.fromkeys(["grounded", *checks]))
    if isinstance(grounded, bool):
        del now["grounded"]
    for name, path in MOVED.items():
        if name in now:
            put(now, path, now.pop(name))
    return now
