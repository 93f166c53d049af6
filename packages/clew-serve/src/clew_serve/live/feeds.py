"""The feeds of a server: one for each run and form that somebody watches, as long as they do."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio
import anyio.abc

from clew.interfaces import Store
from clew_serve.live.feed import Feed
from clew_serve.live.forms import Form


class Feeds:
    """What is followed here, by runs and forms."""

    def __init__(self, store: Store, group: anyio.abc.TaskGroup) -> None:
        self._store, self._group = store, group
        self._feeds: dict[tuple[str, str], Feed] = {}

    def feed(self, run_id: str, form: Form, mark: str, *, begin: bool) -> Feed | None:
        """The feed of a run; with `begin` one is begun from a mark on, where there is none."""
        feed = self._feeds.get((run_id, form.name))
        if (feed is None or feed.ended) and begin:
            feed = Feed(self._store, run_id, form, mark)
            self._feeds[run_id, form.name] = feed
            self._group.start_soon(feed.run)
        return None if feed is None or feed.ended else feed

    @contextmanager
    def watched(self, feed: Feed) -> Generator[None]:
        """Be a viewer of a feed; the last one who leaves ends it."""
        feed.viewers += 1
        try:
            yield
        finally:
            feed.viewers -= 1
            if not feed.viewers:
                feed.scope.cancel()
                if self._feeds.get((feed.run_id, feed.form.name)) is feed:
                    del self._feeds[feed.run_id, feed.form.name]


@asynccontextmanager
async def feeding(store: Store) -> AsyncGenerator[Feeds]:
    """Let runs of a store be followed in the context."""
    async with anyio.create_task_group() as group:
        try:
            yield Feeds(store, group)
        finally:
            group.cancel_scope.cancel()
