"""Turns: one at a time works on what a key names, in this process, whatever its loop or thread.

No lock of the system is needed for that: the table is the process's own. Whoever has to wait is
woken in the loop it waits in. A turn that somebody left with their event loop, without ending it,
is free.
"""

import math
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final, Literal, TypeAlias

from clew.concurrency.tasks import TaskEnd, task_end

IfBusy: TypeAlias = Literal["wait", "refuse", "take over"]
"""What to do where another has the turn. One that is taken over knows nothing of it: what it
writes must be refused by other means."""


class TurnTakenError(Exception):
    """Another has the turn; `own` says that it is the caller itself, which would wait for ever."""

    def __init__(self, *, own: bool) -> None:
        super().__init__("the turn is taken")
        self.own = own


class _Turn:
    """A turn that somebody has, or waits for."""

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.has = False
        self.end: TaskEnd = task_end()


_TURNS: Final[dict[Hashable, deque[_Turn]]] = {}
"""Who has the turn at each key, and who waits for it, in this order."""

_LOCK: Final = threading.Lock()

_MINE: Final[ContextVar[tuple[_Turn, ...]]] = ContextVar("clew.turns", default=())
"""The turns of this task and of those that called it."""


@asynccontextmanager
async def turn(key: Hashable, if_busy: IfBusy = "wait") -> AsyncGenerator[None]:
    """Have the turn at `key` inside.

    Raises `TurnTakenError` where another has it and is not to be waited for, and where the caller
    has it: to wait for oneself would never end.
    """
    if if_busy != "take over" and _MINE.get() and is_mine(key):
        raise TurnTakenError(own=True)
    mine = _Turn(key)
    with _LOCK:
        line = _TURNS.setdefault(key, deque())
        while line and not line[0].end.alive:
            line.popleft()
        if line and if_busy == "refuse":
            raise TurnTakenError(own=False)
        if if_busy == "take over":
            if line:
                line.popleft().has = False
            line.appendleft(mine)
        else:
            line.append(mine)
        line[0].has = True
    try:
        if not mine.has:
            await mine.end.wait(math.inf)
        before = _MINE.get()
        _MINE.set((*(one for one in before if one.has), mine))
        yield
    finally:
        with _LOCK:
            _leave(mine)


def is_taken(key: Hashable) -> bool:
    """Whether somebody has the turn at `key`."""
    with _LOCK:
        return any(one.has and one.end.alive for one in _TURNS.get(key, ()))


def is_mine(key: Hashable) -> bool:
    """Whether the caller has the turn at `key`: it would wait for itself."""
    for one in _MINE.get():  # noqa: SIM110 - a generator would be a call more in every run
        if one.has and one.key == key:
            return True
    return False


def without_turns() -> None:
    """What is done from here on is not done by whoever has turns here."""
    _MINE.set(())


def _leave(mine: _Turn) -> None:
    """End a turn, or give up waiting for it; the next who is still there has it."""
    mine.has = False
    line = _TURNS.get(mine.key)
    if line is None or mine not in line:  # taken over, or forgotten by a forked child
        return
    line.remove(mine)
    while line and not line[0].has:
        if line[0].end.alive:
            line[0].has = True
            line[0].end.wake_from_thread()
        else:
            line.popleft()
    if not line:
        del _TURNS[mine.key]


if sys.platform != "win32":  # pragma: no branch - Windows does not fork
    os.register_at_fork(after_in_child=_TURNS.clear)
