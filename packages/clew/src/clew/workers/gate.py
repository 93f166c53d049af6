"""Runs that may break their worker are carried alone, so that they take no other run with them."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio


class RunGate:
    """Lets many runs into a worker at once, or one that is to be alone; that one comes first."""

    def __init__(self) -> None:
        self._inside = 0
        self._alone = False
        self._waiting = 0
        self._changed = anyio.Event()

    @asynccontextmanager
    async def slot(self, *, alone: bool) -> AsyncGenerator["RunSlot"]:
        """A place for a run, as soon as there is one."""
        slot = RunSlot(self, alone=alone)
        await slot.enter()
        try:
            yield slot
        finally:
            slot.leave()

    @property
    def someone_waits(self) -> bool:
        """Whether a run waits that is to be alone."""
        return self._waiting > 0

    async def enter(self, *, alone: bool) -> None:
        """Wait until there is room, and take it."""
        if not alone:
            await self._wait_until(lambda: not self._alone and not self._waiting)
            self._inside += 1
            return
        self._waiting += 1
        try:
            await self._wait_until(lambda: not self._alone and not self._inside)
            self._alone = True
        finally:
            self._waiting -= 1
            self._notify()

    def leave(self, *, alone: bool) -> None:
        """Make room."""
        if alone:
            self._alone = False
        else:
            self._inside -= 1
        self._notify()

    async def _wait_until(self, free: Callable[[], bool]) -> None:
        while not free():
            await self._changed.wait()

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class RunSlot:
    """The place of one run: between two of its steps others are let in."""

    def __init__(self, gate: RunGate, *, alone: bool) -> None:
        self._gate = gate
        self._alone = alone
        self._taken = False

    async def enter(self) -> None:
        """Wait until there is room, and take it."""
        await self._gate.enter(alone=self._alone)
        self._taken = True

    def leave(self) -> None:
        """Make room; where none is taken, since the wait was broken off, nothing."""
        if self._taken:
            self._taken = False
            self._gate.leave(alone=self._alone)

    async def between_steps(self, *, got_on: bool) -> None:
        """Let those in that are to be alone; who was, and has got on, is one of many from now."""
        if got_on and (self._alone or self._gate.someone_waits):
            self.leave()
            self._alone = False
            await self.enter()
