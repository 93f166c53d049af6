"""The appends that will share a commit, and whether one has anybody to share with."""

import threading

import anyio

from clew.core.errors import StoreError
from clew.core.interfaces import Append


class Waiting:
    """An append on its way into a commit, and what became of it."""

    __slots__ = ("append", "done", "error", "quiet")

    def __init__(self, append: Append) -> None:
        self.append = append
        self.done: anyio.Event | None = None
        self.error: Exception | None = StoreError("this was not committed")
        self.quiet = False


class Group(threading.local):
    """The appends of one thread's event loop that will share the next commit."""

    def __init__(self) -> None:
        self.gathering = False
        self.waiting: list[Waiting] = []
        self.run_id = ""
        self.others = False

    def watch(self, run_id: str) -> None:
        """Look out, from now on, for appends of other runs than this."""
        self.run_id, self.others = run_id, False

    def alone(self, append: Append) -> bool:
        """Whether no other append is to be expected: none of its run, and of others none came
        since this one was begun or taken up, or since its last barrier.
        """
        self.others |= append.run_id != self.run_id
        alone = append.alone and not self.others
        if append.barrier:
            self.watch(append.run_id)
        return alone
