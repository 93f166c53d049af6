"""A signal that tasks of several event loops wait for."""

import math

from clew.concurrency.tasks import TaskEnd, task_end


class Signal:
    """Set from any thread; whoever waits is woken in the loop it waits in."""

    def __init__(self) -> None:
        self.is_set = False
        self._waiting = set[TaskEnd]()

    def set(self) -> None:
        """Wake all who wait."""
        self.is_set = True
        for end in list(self._waiting):
            end.wake_from_thread()

    def clear(self) -> None:
        """Let the next wait be one."""
        self.is_set = False

    async def wait(self, seconds: float = math.inf) -> bool:
        """Wait until it is set, at most so long; whether it is."""
        end = task_end()
        self._waiting.add(end)
        try:
            if not self.is_set:  # looked at only now: it may be set meanwhile
                await end.wait(seconds)
        finally:
            self._waiting.discard(end)
        return self.is_set
