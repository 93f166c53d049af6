"""Which queued run comes first: that which waited longest, and a priority is waiting time.

It lies in a label, so that listings find and show it. Since nobody's place depends on who comes
later, nothing starves: a run of priority 60 passes what came in the hour before it, and no more.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from clew.core.stores import RunInfo
from clew.support.errors import ConfigError

PRIORITY: Final = "priority"
"""The label that has it."""

MAX_PRIORITY: Final = 10_000
"""Minutes: about a week."""

_MINUTE: Final = 60_000


class _Begun(msgspec.Struct):
    labels: dict[str, str] = msgspec.field(default_factory=dict[str, str])


_begun: Final = msgspec.json.Decoder(_Begun)


def with_priority(labels: Mapping[str, str] | None, priority: int) -> Mapping[str, str] | None:
    """The labels of a new run with its priority. Raises `ConfigError` for one that cannot be."""
    if type(priority) is not int or abs(priority) > MAX_PRIORITY:
        message = (
            f"priority is {priority!r}: give the minutes by which the run comes sooner (or, below "
            f"0, later), up to {MAX_PRIORITY}"
        )
        raise ConfigError(message, field="priority")
    return {**(labels or {}), PRIORITY: str(priority)} if priority else labels


def priority_of(run: RunInfo) -> int:
    """The priority of a run; 0 where its label says none."""
    if b'"priority"' not in run.first.body:
        return 0
    try:
        priority = int(_begun.decode(run.first.body).labels.get(PRIORITY, "0"))
    except (ValueError, RecursionError):  # a label of somebody's own, a newer clew, or damage
        return 0
    return max(-MAX_PRIORITY, min(priority, MAX_PRIORITY))


def waiting_since(run: RunInfo, priority: int) -> int:
    """Since when a run counts as waiting, in Unix milliseconds: the least is first."""
    return run.last.at - priority * _MINUTE
