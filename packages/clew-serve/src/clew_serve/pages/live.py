"""A run as it happens, for its page: pieces of HTML in server-sent events."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio

from clew import ClewError, Entry, Token, Withdrawn
from clew.interfaces import RunInfo, Store
from clew.stores.listing import entries_after, runs_with, status_of, summary
from clew.stores.refusals import unknown_run
from clew_serve.api.access_to_runs import info_of
from clew_serve.api.events import OPEN
from clew_serve.endpoints import Inquiry
from clew_serve.live.forms import Encode
from clew_serve.live.viewer import Viewer
from clew_serve.pages.rendering import fragment
from clew_serve.pages.thread import Thread, effects_of, status_in

SCREEN: Final = 60
"""So many entries are on a page; the others come by the next ones."""

LOOK: Final = 1.0
"""Seconds between two looks at a run that waits for a person."""

HELD: Final = "held"


def thread_of(info: RunInfo, after: int, step: int | None) -> Thread:
    """A run as a thread that begins behind number `after`; `step` is the one there, if known."""
    run = summary(info)
    effects = {} if run is None else effects_of(run.started)
    return Thread(info.run_id, effects, step if after else 0)


@dataclass
class Pieces:
    """Encodes items, one after the other. What follows on the stop of a run that had `stopped` says
    that it is open again.
    """

    thread: Thread
    stopped: bool

    def __call__(self, item: Any, position: str) -> bytes:
        """The piece of an item; its id is the number of an entry and its step."""
        del position
        if isinstance(item, Entry):
            status = status_in(item.event) or (OPEN if self.stopped else "")
            self.stopped = status_in(item.event) != ""
            text = fragment("live.html", drawn=self.thread.drawn([item]), status=status)
            step = "" if self.thread.step is None else self.thread.step
            return _event(text, f"{item.seq}-{step}")
        if isinstance(item, Token):
            return _event(fragment("words.html", text=item.text, clear=False))
        return _CLEAR if isinstance(item, Withdrawn) else b""


@dataclass(frozen=True)
class PageEvents:
    """The form of pages, with links to fork for those who may make them."""

    forks: bool

    @property
    def name(self) -> str:
        """Pages with and without forms are two."""
        return "page with forks" if self.forks else "page"

    def mark(self, item: Any, position: str) -> str:
        """The number of an entry: runs below are not on the page."""
        del position
        return str(item.seq) if isinstance(item, Entry) else ""

    def seq(self, mark: str) -> int:
        """The number."""
        return int(mark)

    def own(self) -> Encode:
        """Each viewer has a thread, which knows how it is called and what it can do."""
        raise NotImplementedError

    async def shared(self, store: Store, run_id: str, seq: int) -> Encode:
        """Pieces of a thread that has seen a screen of entries before."""
        infos = await runs_with(store, 1, run_id=run_id)
        if not infos:
            raise unknown_run(run_id)
        begin = max(0, seq - SCREEN)
        thread = replace(thread_of(infos[0], begin, None), forks=self.forks)
        before = await entries_after(store, run_id, begin, seq - begin)
        for _ in thread.items(before):
            pass  # it takes in what they say
        return Pieces(thread, bool(before) and status_in(before[-1].event) != "")

    def forget(self, mark: str) -> bytes:
        """The words of the reply are cleared."""
        del mark
        return _CLEAR

    def dropped(self, mark: str) -> bytes:
        """The same: they come again with their entry."""
        del mark
        return _CLEAR

    def failure(self, text: str) -> bytes:
        """A piece that says so."""
        return _event(fragment("failure.html", text=text))


async def live_pieces(
    inquiry: Inquiry, info: RunInfo, after: int, thread: Thread, *, wait: bool
) -> AsyncGenerator[bytes]:
    """The pieces from an entry on; with `wait` also those after each time that the run is held.

    The last one is the event `end`.
    """
    yield b": it goes on\n\n"
    service, form = inquiry.service, PageEvents(thread.forks)
    pieces = Pieces(thread, status_of(info.last.body) != OPEN and after == info.entries)
    try:
        while True:
            viewer = Viewer(
                service.feeds, service.store, info.run_id, form, str(after), info.entries, pieces
            )
            async for data in viewer.events():
                yield data
            if viewer.failed or not wait:
                break
            after, info = viewer.seq, await info_of(inquiry)
            while status_of(info.last.body) == HELD and info.entries <= after:
                await anyio.sleep(LOOK)
                info = await info_of(inquiry)
            if info.entries <= after:
                break
    except ClewError as error:
        yield form.failure(str(error))
    yield b"event: end\ndata: end\n\n"


def _event(text: str, number: str = "") -> bytes:
    """A server-sent event; its data are the lines of a text."""
    head = f"id: {number}\n" if number else ""
    lines = "".join(f"data: {line}\n" for line in text.replace("\r", "").split("\n"))
    return f"{head}{lines}\n".encode()


_CLEAR: Final = _event(fragment("words.html", text="", clear=True))
