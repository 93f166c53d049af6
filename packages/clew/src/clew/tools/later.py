"""A wake time: when a held call, and its run, go on by themselves."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from clew.core.verdicts import Verdict
from clew.support.errors import ConfigError

__all__ = ["later"]

_FURTHEST: Final = 253_402_300_799_000  # the end of the year 9999, in Unix milliseconds


def later(when: datetime | timedelta | float, why: str = "") -> Verdict:
    """The verdict of a guard, or what a tool returns, that lets the call wait until a time.

    `when` is a time with its zone, a span, or seconds from now. The run is held until then, or
    until a person rules on the call; workers and `resume` take it up once the time has come. The
    call is then judged and made anew. Raises `ConfigError` for a time that is none.
    """
    until = _until(when)
    if not 0 < until <= _FURTHEST:
        raise ConfigError(f"later({when!r}): no clock shows that time")
    at = datetime.fromtimestamp(until / 1000, UTC).isoformat(timespec="seconds")
    return Verdict("hold", why or f"it waits until {at}", until=until)


def _until(when: object) -> int:
    """The time in Unix milliseconds."""
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ConfigError(f"later({when!r}): say in which zone, as datetime.now(UTC) does")
        return int(when.timestamp() * 1000)
    if isinstance(when, timedelta):
        when = when.total_seconds()
    if isinstance(when, bool) or not isinstance(when, int | float) or not abs(when) < _FURTHEST:
        raise ConfigError(f"later({when!r}): give a datetime, a timedelta, or seconds from now")
    return time.time_ns() // 1_000_000 + int(when * 1000)
