"""When a worker tries a run again that it could not carry to its end: in memory, each waits longer.

Nothing of this is recorded: another worker, or this one started again, tries at once.
"""

from dataclasses import dataclass
from typing import Final

FIRST: Final = 1.0
MAX_DELAY: Final = 300.0
"""Seconds before the second and before the hundredth try."""


@dataclass(slots=True)
class _Pause:
    until: float
    seconds: float
    entries: int | None = None


class Backoff:
    """By run: until when it is left alone. Times are those of one clock, in seconds."""

    def __init__(self) -> None:
        self._pauses: dict[str, _Pause] = {}

    def failed(
        self, run_id: str, now: float, *, moved: bool = False, max_delay: float = MAX_DELAY
    ) -> float:
        """It failed: say for how long it pauses, twice as long as before unless it had got on."""
        before = self._pauses.get(run_id)
        seconds = FIRST if before is None or moved else min(2 * before.seconds, max_delay)
        self._pauses[run_id] = _Pause(now + seconds, seconds)
        return seconds

    def fenced(self, run_id: str, now: float, entries: int) -> None:
        """Another has taken it up: leave it alone until its record moves no more."""
        self.failed(run_id, now)
        self._pauses[run_id].entries = entries

    def rests(self, run_id: str, now: float, entries: int) -> bool:
        """Whether it is to be left alone."""
        pause = self._pauses.get(run_id)
        if pause is None:
            return False
        if pause.entries is not None and pause.entries != entries:
            pause.until, pause.entries = now + pause.seconds, entries
        return now < pause.until

    def forget(self, run_id: str) -> None:
        """It came to its end."""
        self._pauses.pop(run_id, None)
