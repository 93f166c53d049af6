"""The threads that plain functions are called in: they wait for the next call when one is done.

A call never queues: where no thread is idle, one is started. Nobody can stop a thread. One whose
call nobody waits for any longer works on, and the end of the program waits for it.
"""

import atexit
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Final

IDLE: Final = 10.0
"""Seconds that a thread may be idle: the next call that another one makes ends it."""

Tell = Callable[[], None]
Work = Callable[[], Tell]
"""Done in a thread; what it returns says there that it is done, and must raise nothing either."""


class Threads:
    """Threads for work that begins at once, however much of it there is."""

    def __init__(self, idle: float = IDLE) -> None:
        self._patience = idle
        self._changed = threading.Condition()
        self._idle = deque[_Thread]()  # the one that was at work last is the last
        self._at_work = set[_Thread]()

    def start(self, work: Work) -> None:
        """Do this in a thread, now."""
        with self._changed:
            thread = self._idle.pop() if self._idle else _Thread(self._rest)
            self._at_work.add(thread)
            since = time.monotonic() - self._patience
            while self._idle and self._idle[0].since <= since:
                self._idle.popleft().go(None)
        thread.go(work)

    def _rest(self, thread: "_Thread") -> None:
        with self._changed:
            self._at_work.discard(thread)
            self._idle.append(thread)
            self._changed.notify_all()

    @property
    def at_work(self) -> bool:
        """Whether any work is going on."""
        return bool(self._at_work)

    def wait(self) -> None:
        """Wait for all work that is going on; what is idle ends with the program."""
        with self._changed:
            self._changed.wait_for(lambda: not self._at_work)

    def forget(self) -> None:
        """Begin anew, in a forked process: there is no thread in it but the one that forked."""
        self.__init__(self._patience)  # type: ignore[misc] # it is of no other class


class _Thread:
    """A thread, and what it is to do next. `since` says when it last was at work."""

    def __init__(self, rest: Callable[["_Thread"], None]) -> None:
        self.since = 0.0
        self._rest = rest
        self._work: Work | None = None
        self._go = threading.Lock()
        self._go.acquire()
        thread = threading.Thread(target=self._run, name="clew tool", daemon=True)
        Context().run(thread.start)  # some Pythons keep the context that a thread is started in

    def go(self, work: Work | None) -> None:
        """Do this, or end. It must be idle, or about to be."""
        self._work = work
        self._go.release()

    def _run(self) -> None:
        while True:
            self._go.acquire()
            work, self._work = self._work, None
            if work is None:
                return
            tell = work()
            self.since = time.monotonic()
            self._rest(self)  # first, so that whoever is told can have this thread again
            tell()
            del work, tell  # idle, it keeps nothing alive


THREADS: Final = Threads()
"""Those of this process."""


def threads_at_work() -> bool:
    """Whether a plain function still runs in a thread, such as a tool past its deadline.

    A program waits for it before it ends, unless it leaves by `os._exit`.
    """
    return THREADS.at_work


atexit.register(THREADS.wait)
if sys.platform != "win32":  # pragma: no branch - Windows does not fork
    os.register_at_fork(after_in_child=THREADS.forget)
