"""Who follows runs of this process, and what waits to be taken: never more than so much.

A follower holds up nobody. What it does not take in time is merged, or dropped with a mark; entries
are dropped too, since they can be read from the store.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, NamedTuple, TypeAlias

from clew.agent.streaming.items import (
    CallProgress,
    Dropped,
    LiveItem,
    Partial,
    PartialCall,
    Token,
    Withdrawn,
)
from clew.agent.streaming.signal import Signal
from clew.core.entries import Entry
from clew.core.listeners import Listener, Progress

LOG: Final = logging.getLogger("clew")

MAX_ITEMS: Final = 1_000
"""So many items wait for a follower at most."""

MERGED: Final = 256
"""From so many on, tokens that follow each other become one."""

LONG: Final = 2_000
"""A token of so many characters takes no more."""

MAX_CHARS: Final = 200_000
"""So many characters of tokens wait at most."""

Key: TypeAlias = tuple[Hashable, str]
"""Where a store keeps its runs, and the run's id."""


class Waiting(NamedTuple):
    """An item that waits: of the run at the end of `path`, which had `seq` entries."""

    path: tuple[str, ...]
    seq: int
    item: Entry | LiveItem


class Follower:
    """What one stream has yet to take of the runs that work in this process."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.news = Signal()
        self._waiting = deque[Waiting]()
        self._chars = 0
        self._lock = threading.Lock()

    def put(self, path: tuple[str, ...], seq: int, item: Entry | LiveItem) -> None:
        """Add an item, from any thread."""
        with self._lock:
            self._add(Waiting(path, seq, item))
        if not self.news.is_set:
            self.news.set()

    @property
    def first(self) -> Waiting | None:
        """The item that has waited longest; None where none waits, until there is news."""
        with self._lock:
            if self._waiting:
                return self._waiting[0]
            self.news.clear()
            return None

    def drop(self, item: Waiting) -> None:
        """Take the first item away, unless it is gone."""
        with self._lock:
            if self._waiting and self._waiting[0] is item:
                self._waiting.popleft()
                self._chars -= len(item.item.text) if isinstance(item.item, Token) else 0

    def _add(self, new: Waiting) -> None:
        waiting = self._waiting
        self._chars += len(new.item.text) if isinstance(new.item, Token) else 0
        last = waiting[-1] if waiting else None
        if last is not None and last[:2] == new[:2]:
            newer, older = new.item, last.item
            if _replaces(older, newer):
                waiting[-1] = new
                return
            if len(waiting) >= MERGED and (both := _merged(older, newer)) is not None:
                waiting[-1] = new._replace(item=both)
                return
        if len(waiting) >= MAX_ITEMS or self._chars > MAX_CHARS:
            withdrawn = {each.path: each for each in waiting if isinstance(each.item, Withdrawn)}
            waiting.clear()
            self._chars = 0
            waiting.append(Waiting((), 0, Dropped()))
            waiting.extend(withdrawn.values())  # or words stand that were none
        waiting.append(new)


def _replaces(first: object, second: object) -> bool:
    """Whether a partial value says all that the one before it says."""
    if isinstance(first, PartialCall) and isinstance(second, PartialCall):
        same = (first.tool, first.index) == (second.tool, second.index)
    elif isinstance(first, Partial) and isinstance(second, Partial):
        same = first.index == second.index
    else:
        return False
    return same and first.state == "open"


def _merged(first: object, second: object) -> Token | None:
    """Two tokens as one; None where they are none, of two fields, or long enough already."""
    if not (isinstance(first, Token) and isinstance(second, Token)):
        return None
    if first.field != second.field or len(first.text) > LONG:
        return None
    return Token(first.text + second.text, first.field)


class Hearing(Follower):
    """A listener of a run that somebody else started."""

    def __init__(self, run_id: str, listener: Listener) -> None:
        super().__init__(run_id)
        self._listener = listener

    def put(self, path: tuple[str, ...], seq: int, item: Entry | LiveItem) -> None:
        """Tell it an item of the run itself. It only observes: its errors are logged."""
        del seq
        try:
            if not path:
                self._tell(item)
        except Exception:
            LOG.exception("run %s: a listener failed; the run goes on", self.run_id)

    def _tell(self, item: Entry | LiveItem) -> None:
        match item:
            case Entry():
                self._listener.entry(item)
            case Token(text):
                self._listener.token(text)
            case CallProgress(key, text) if isinstance(self._listener, Progress):
                self._listener.progress(key, text)
            case _:
                pass


FOLLOWERS: Final[dict[Key, tuple[Follower, ...]]] = {}
"""Who follows which run; empty where nobody follows any."""

_LOCK: Final = threading.RLock()
"""Where memory is allocated garbage may be collected, and with it a stream that removes itself: so
a thread may come back while it has the lock.
"""


def add(key: Key, follower: Follower) -> None:
    """Let it follow the run."""
    _change(key, lambda followers: (*followers, follower))


def remove(key: Key, follower: Follower) -> None:
    """Let it follow the run no longer."""
    _change(key, lambda followers: tuple(each for each in followers if each is not follower))


def _change(key: Key, changed: Callable[[tuple[Follower, ...]], tuple[Follower, ...]]) -> None:
    with _LOCK:
        before = FOLLOWERS.get(key, ())
        after = changed(before)
        while before is not (now := FOLLOWERS.get(key, ())):  # this thread came back meanwhile
            before, after = now, changed(now)
        if after:
            FOLLOWERS[key] = after
        else:
            FOLLOWERS.pop(key, None)
