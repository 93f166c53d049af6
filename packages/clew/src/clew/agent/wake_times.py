"""Held runs whose time has come: who works on the runs of a store looks for them now and then."""

from typing import Final

import anyio

from clew.core.entries import decode
from clew.core.events import Stop
from clew.core.journal import wall_clock
from clew.core.stores import Line, RunInfo, Store

_LOOK: Final = 1.0  # seconds from one look to the next
_SHARE: Final = 20.0  # times what such a look took: that is the least too


def is_woken(last: Line) -> bool:
    """Whether a run stopped until a time that has come."""
    if b'"wake":' not in last.body:
        return False
    stop = decode(last.body)
    return isinstance(stop, Stop) and 0 < stop.wake <= wall_clock()


class WakeTimes:
    """Looks for the runs of a store that wait until a time, so seldom that looking stays cheap."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next = float("-inf")

    async def wait(self) -> None:
        """Wait until it is time to look again."""
        await anyio.sleep(max(0.0, self._next - anyio.current_time()))

    async def woken(self) -> list[RunInfo]:
        """The held runs whose time has come; none before it is time to look again."""
        now = anyio.current_time()
        if now < self._next:
            return []
        self._next = now + _LOOK
        held = await self._store.runs(status="held")
        took = anyio.current_time() - now
        self._next = now + max(_LOOK, _SHARE * took)
        return [run for run in held if is_woken(run.last)]
