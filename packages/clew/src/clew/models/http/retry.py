"""Trying a model again: how often, how long to wait, and when to give up."""

import email.utils
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias, TypeVar

from clew.core.tools import Retry
from clew.support.errors import ModelError
from clew.support.live import LIVE
from clew.support.short_text import counted

T = TypeVar("T")
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

LOG: Final = logging.getLogger("clew.models")

JITTER: Final = 0.25
"""The part of a computed wait that chance may take off, so that clients do not return together."""


class TryAgain(Exception):  # noqa: N818 - it says what to do, and never leaves this package
    """An attempt failed in a way that may pass; `after` is the wait the server asked for (s)."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class Busy(TryAgain):
    """The provider is asked too much, by all runs together: nobody asks again before `after`."""


async def persist(
    attempt: Callable[[], Awaitable[T]], retry: Retry, patience: float, sleep: Sleep
) -> T:
    """Make attempts until one does not raise `TryAgain`.

    The waits double from `retry.delay` to `retry.most` seconds, unless the server names one; all
    of them together stay within `patience` seconds. Raises `ModelError` with the last reason after
    `retry.times` further attempts, or where the next wait would be too long.
    """
    waited, number = 0.0, 0
    while True:
        try:
            return await attempt()
        except TryAgain as failure:
            wait = backoff(retry, number) if failure.after is None else failure.after
            number += 1
            if number > retry.times:
                raise ModelError(
                    f"{failure}; gave up after {counted(number, 'try', 'tries')}"
                ) from failure
            if waited + wait > patience:
                raise ModelError(
                    f"{failure}; the next try is due in {wait:.0f} s, which is beyond the patience "
                    f"of {patience:.0f} s"
                ) from failure
            tries = f"try {number + 1} of {retry.times + 1}"
            live = LIVE.get()
            run = "" if live is None else f"run {live.run_id}: "
            LOG.warning("%s%s; %s in %.1f s", run, failure, tries, wait)
            if live is not None and live.followed:
                live.retrying(number + 1, retry.times + 1, str(failure), wait)
        waited += wait
        await sleep(wait)


def backoff(retry: Retry, number: int) -> float:
    """The wait before further attempt `number` (from 0), shorter by some chance."""
    longest = min(retry.max_delay, retry.delay * 2.0 ** min(number, 60))
    return longest * (1 - JITTER * random.random())  # noqa: S311 - spreads load, hides nothing


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that a reply's headers ask for, or None.

    Read are `retry-after-ms`, then `Retry-After` as seconds or as an HTTP date (RFC 9110, 10.2.3);
    `now` is Unix time in seconds.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, date.timestamp() - now)
