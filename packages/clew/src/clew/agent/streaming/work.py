"""Runs at work in this process, and how those who follow one are shown what it does.

Whoever drives a run puts a `Work` into `AT_WORK` and into `LIVE` meanwhile. Where nobody follows,
that is all. A run below another one shows what it does to those who follow that one too.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import msgspec

from clew.agent.streaming.followers import FOLLOWERS, Follower, Key, add
from clew.agent.streaming.items import Calling, CallProgress, LiveItem, Retrying
from clew.agent.streaming.replies import ReplyReader
from clew.core.entries import Entry
from clew.core.events import Charged, Stop, Thought
from clew.core.journal import Journal
from clew.core.listeners import Listener, Progress
from clew.core.values import Json
from clew.deps.run_context import RUNNING, Running
from clew.stores.user_store import location_of
from clew.support.live import LIVE, Live
from clew.support.surrogates import mended


class Work(msgspec.Struct, eq=False):
    """A run at work, opened with `journal`; `outer` is whatever was at work where it began."""

    agent: Any
    journal: Journal
    outer: Live | None = None
    followed: bool = False
    reply: ReplyReader | None = None
    """The reply under way."""
    hear: Callable[[str], bool] | None = None
    """What lets pass of its text what can be shown."""
    hear_again: Callable[[str], bool] | None = None
    """The same of an attempt whose text only those who follow are told."""
    ended: ReplyReader | None = None
    """The reply before it, whose answer may be refused yet."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.journal.run_id

    @property
    def began(self) -> int:
        """When its record began, in Unix milliseconds."""
        return self.journal.trajectory.entries[0].at

    @property
    def key(self) -> Key:
        """What its followers know it by."""
        return location_of(self.journal.store), self.journal.run_id

    @property
    def above(self) -> "Work | None":
        """The run that it serves, if that is at work here."""
        outer, served = self.outer, self.journal.trajectory.parent_call
        if not isinstance(outer, Work) or served.rpartition(":")[0] != outer.journal.run_id:
            return None
        return outer if outer.key[0] == self.key[0] else None

    def chain(self) -> "Iterator[tuple[Work, tuple[str, ...]]]":
        """Itself and the runs above it, each with the path from there down to it."""
        work: Work | None = self
        path: tuple[str, ...] = ()
        while work is not None:
            yield work, path
            path = (work.journal.run_id, *path)
            work = work.above

    def look(self) -> None:
        """Show what it does from now on, if anybody follows it or a run above it."""
        if not self.followed and any(work.key in FOLLOWERS for work, _ in self.chain()):
            self.followed = True
            self.journal.listener = _Showing(self, self.journal.listener)

    def end(self) -> None:
        """It is at work no longer."""
        self._end_reply(None)
        showing = self.journal.listener
        if isinstance(showing, _Showing):
            self.journal.listener = showing.beside
        for work, _ in self.chain():
            for follower in FOLLOWERS.get(work.key, ()):
                follower.news.set()

    def show(self, item: Entry | LiveItem) -> None:
        """Show an item to all who follow."""
        self._show(item, len(self.journal.trajectory))

    def token(self, text: str) -> None:
        """Show a piece of a reply, as the codec lets it pass."""
        if self.reply is not None:  # else somebody came in the middle of it: it is told as read
            self.reply.show_raw(text)

    def entry(self, entry: Entry) -> None:
        """Show an entry; before it how the values in a reply ended, and which words are none."""
        event = entry.event
        if isinstance(event, Thought):
            self.reply = self.reply or self._reader(entry.seq - 1)
            self._end_reply(event)
        elif isinstance(event, Charged):
            self._end_reply(None)  # it did not come in time
        elif isinstance(event, Stop):
            self._withdraw(unless=event.answer)
        self._show(entry, entry.seq)

    def _end_reply(self, thought: Thought | None) -> None:
        reply, self.reply = self.reply, None
        if reply is not None:
            reply.end(thought)
            self.ended = reply

    def _withdraw(self, unless: Json = None) -> None:
        """Withdraw the words of an answer that was not taken; `unless` is the one that was."""
        reply, self.ended = self.ended, None
        if reply is not None and (unless is None or reply.offered != unless):
            reply.words.withdraw()

    def tell(self, key: Key, follower: Follower) -> None:
        """Tell who follows a run from now on the words that stand, in it or in one below."""
        if (reply := self.reply or self.ended) is None:
            return
        seq = len(self.journal.trajectory)
        for work, path in self.chain():
            if work.key == key:
                reply.so_far.tell(partial(follower.put, path, seq))

    def _show(self, item: Entry | LiveItem, seq: int) -> None:
        for work, path in self.chain():
            for follower in FOLLOWERS.get(work.key, ()):
                follower.put(path, seq, item)

    def calling(self, call: str, tool: str, attempt: int) -> None:
        """An attempt of a call begins."""
        self.show(Calling(call, tool, attempt))

    def retrying(self, attempt: int, of: int, why: str, wait: float, call: str = "") -> None:
        """Another attempt follows; what came of a reply before it is withdrawn."""
        if not call and (self.reply is None or self.reply.began):
            self._end_reply(None)
            self.reply = self._reader(len(self.journal.trajectory))
            self.hear_again = self.agent.engine.codec.stream_filter(self.token)
        self.show(Retrying(attempt, of, why, wait, call))

    def text_again(self, piece: str) -> None:
        """A piece of the text of another attempt at the reply under way."""
        if self.reply is not None and self.hear_again is not None:
            self.reply.take(mended(piece), self.hear_again)

    def arguments(self, index: int, name: str, piece: str) -> None:
        """A piece of the arguments of a call in the reply under way."""
        if self.reply is not None:
            self.reply.arguments(index, name, mended(piece))

    def _reader(self, before: int) -> ReplyReader:
        """A reader of a reply that comes behind so many entries."""
        return ReplyReader(self.agent, lambda item: self._show(item, before))

    def hearing(self, hear: Callable[[str], bool]) -> Callable[[str], bool]:
        """What takes the pieces of a reply."""
        self._end_reply(None)
        self._withdraw()
        self.reply = self._reader(len(self.journal.trajectory))
        self.hear = hear

        def take(piece: str) -> bool:
            piece = mended(piece)
            if self.reply is None or hear is not self.hear:
                return hear(piece)
            return self.reply.take(piece, hear)

        return take


class _Showing:
    """A listener that shows everything to those who follow, and to the one `beside` it."""

    def __init__(self, work: Work, beside: Listener | None) -> None:
        self.work = work
        self.beside = beside

    def token(self, text: str) -> None:
        self.work.token(text)
        if self.beside is not None:
            self.beside.token(text)

    def entry(self, entry: Entry) -> None:
        self.work.entry(entry)
        if self.beside is not None:
            self.beside.entry(entry)

    def progress(self, call: str, text: str) -> None:
        self.work.show(CallProgress(call, mended(text)))
        if isinstance(self.beside, Progress):
            self.beside.progress(call, text)


AT_WORK: Final = set[Work]()
"""The runs at work in this process."""


def follow_work(key: Key, follower: Follower) -> None:
    """Let somebody follow a run: what it does now, and first what it told of a reply under way."""
    add(key, follower)
    for work in list(AT_WORK):
        work.look()
    for work in list(AT_WORK):
        work.tell(key, follower)


def work_on(key: Key, known: Work | None) -> Work | None:
    """The run of this key, if it is at work in this process; `known` is what it was."""
    if known in AT_WORK:
        return known
    same = (work for work in list(AT_WORK) if work.journal.run_id == key[1])
    return next((work for work in same if work.key == key), None)


@contextmanager
def working(agent: Any, journal: Journal) -> Generator[None]:
    """Show what is done inside to whoever follows the run."""
    work = Work(agent, journal, LIVE.get())
    AT_WORK.add(work)
    before = LIVE.set(work)
    outer = RUNNING.set(Running(journal.deps, agent.parts.left, agent.deps))
    try:
        if FOLLOWERS:
            work.look()
        yield
    finally:
        LIVE.reset(before)
        RUNNING.reset(outer)
        AT_WORK.discard(work)
        if work.followed:
            work.end()
