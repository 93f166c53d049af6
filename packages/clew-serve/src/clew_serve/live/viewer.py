"""One who watches a run: reads in the store what was written before, then takes what all take."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio.lowlevel

from clew import ClewError, Entry, follow
from clew.interfaces import Store
from clew_serve.live.feed import Feed
from clew_serve.live.feeds import Feeds
from clew_serve.live.forms import Encode, Form, is_recorded


class Viewer:
    """A way through a run, from behind the place `after` to its end, for who may see it.

    `entries` is how many it had: once those were seen, what follows is taken from the run's feed.
    `seq` is the last one that was seen.
    """

    def __init__(
        self, feeds: Feeds, store: Store, run_id: str, form: Form, after: int | str, entries: int,
        encode: Encode | None = None,
    ) -> None:  # fmt: skip
        self._feeds, self._store, self._run_id, self._form = feeds, store, run_id, form
        self._after: int | str = after
        self._mark = after if isinstance(after, str) else ""
        self._entries = entries
        self._encode = encode or form.own()
        self._returns = after not in {0, "0"}
        """Whether it comes back, and may have seen words, and nothing was sent to it yet."""
        self._skips_words = False
        """Whether words are left out, up to the next entry."""
        self._over = False
        self.failed = False
        self.seq = form.seq(after) if isinstance(after, str) else after

    async def events(self) -> AsyncGenerator[bytes]:
        """The run's events; what ends the work on it is the last one."""
        try:
            while not self._over:
                async with aclosing(self._shared()) as shared:
                    async for data in shared:
                        yield data
                if not self._over:
                    async with aclosing(self._alone()) as alone:
                        async for data in alone:
                            yield data
        except ClewError as error:
            self.failed = True
            yield self._form.failure(str(error))

    async def _shared(self) -> AsyncGenerator[bytes]:
        """What all get, as long as this viewer takes it in time; nothing where it is elsewhere."""
        if not self._mark or self._skips_words or self.seq > self._entries:
            return
        begin = self.seq == self._entries
        feed = self._feeds.feed(self._run_id, self._form, self._mark, begin=begin)
        if feed is None:
            return
        with self._feeds.watched(feed):
            if feed.number_of(self._mark) is None:
                await feed.reaches(self.seq)
            if (number := feed.number_of(self._mark)) is None:
                self._entries = max(self._entries, feed.seq)  # it is tried again from there on
                return
            async for data in self._frames(feed, number):
                yield data
        if self._over and feed.failure:
            self.failed = True
            yield self._form.failure(feed.failure)

    async def _frames(self, feed: Feed, number: int) -> AsyncGenerator[bytes]:
        if self._returns and feed.has_words(number) and (forget := self._form.forget(self._mark)):
            yield forget
        self._returns = False
        async for data, mark in feed.frames(number):
            if mark:
                self._mark, self.seq = mark, self._form.seq(mark)
            yield data
            await anyio.lowlevel.checkpoint()  # others have their turn, and who has left is noticed
            number += 1
        self._over = feed.is_over and number == feed.next
        self._entries = max(self.seq, feed.seq)
        if not self._over:
            self._skips_words = True
            yield self._form.dropped(self._mark)

    async def _alone(self) -> AsyncGenerator[bytes]:
        """What the store has, up to an entry where the feed may be joined; else to the end."""
        self._returns = False
        async with follow(self._run_id, after=self._mark or self._after, store=self._store) as rest:
            async for item in rest:
                if self._skips_words and not is_recorded(item):
                    continue
                self._skips_words = False
                if isinstance(item, Entry):
                    self.seq = item.seq
                mark = self._form.mark(item, rest.position)
                self._mark = mark or self._mark
                if data := self._encode(item, rest.position):
                    yield data
                    await anyio.lowlevel.checkpoint()
                if mark and isinstance(item, Entry) and item.seq >= self._entries:
                    self._entries = item.seq
                    return
        self._over = True
