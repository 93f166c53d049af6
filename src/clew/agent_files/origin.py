"""What a record says of where its agent came from, so that it can be made again."""

import os
from typing import Final

import msgspec

from clew.agent_files.spec import Spec
from clew.errors import ConfigError
from clew.events import Changed, Forked, Json
from clew.models.resolve import default
from clew.trajectory import Trajectory

ORIGIN: Final = "cli"
"""Key of the spec in `Started.origin`."""


def origin(spec: Spec) -> dict[str, Json]:
    """The spec as it stands in the record."""
    return {ORIGIN: msgspec.to_builtins(spec)}


def spec_of(record: Trajectory) -> Spec | None:
    """The spec a run was begun, or last changed, with; None where a program began it.

    Raises `ConfigError` where it is of another clew.
    """
    events = [entry.event for entry in record.entries]
    changed = [event.origin for event in events if isinstance(event, Changed | Forked)]
    origins = [o[ORIGIN] for o in (record.started.origin, *changed) if ORIGIN in o]
    if not origins:
        return None
    try:
        return msgspec.convert(origins[-1], Spec)
    except msgspec.ValidationError as error:
        message = f"run {record.run_id} was begun with options this clew does not know: {error}"
        raise ConfigError(message) from error


async def with_model(wanted: Spec) -> tuple[Spec, str]:
    """The spec with a model, and why that one; the reason is empty where it was given."""
    if wanted.model:
        return wanted, ""
    model, why = await default(os.environ)
    return msgspec.structs.replace(wanted, model=model), why
