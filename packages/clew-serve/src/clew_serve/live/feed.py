"""A run in one form, followed and encoded once for all who watch it.

The last events are kept. Nobody waits for a viewer: whoever is slower than they come finds them
gone, and reads on in the store.
"""

import logging
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final, NamedTuple

import anyio

from clew import ClewError, Entry, follow
from clew.interfaces import Store
from clew_serve.live.forms import Form

LOG: Final = logging.getLogger("clew")

MAX_FRAMES: Final = 512
"""So many events are kept for viewers at most."""

MAX_BYTES: Final = 4_000_000
"""So many bytes of them, beyond the last one."""


class Frame(NamedTuple):
    """An encoded event; `mark` is the place behind it, "" where it is none."""

    data: bytes
    mark: str


class Feed:
    """The last events of a run in a form, from `mark` on.

    `seq` is the number of the run's last entry among them, and `next` that of the next event, as
    they are counted here.
    """

    def __init__(self, store: Store, run_id: str, form: Form, mark: str) -> None:
        self.form, self.run_id = form, run_id
        self.seq, self.next = form.seq(mark), 0
        self.viewers = 0
        self.ended = False
        self.failure = ""
        self.scope = anyio.CancelScope()
        self._store, self._begin = store, mark
        self._frames = deque[Frame]()
        self._bytes = 0
        self._marks = {mark: 0}
        self._news = anyio.Event()

    @property
    def first(self) -> int:
        """The number of the first event that is kept."""
        return self.next - len(self._frames)

    async def run(self) -> None:
        """Follow the run until it stops. What ends the work on it is the `failure`."""
        try:
            with self.scope:
                await self._follow()
        except ClewError as error:
            self.failure = str(error)
        except Exception:
            LOG.exception("run %s: its viewers read it by themselves", self.run_id)
            self.scope.cancel()  # as if it had been left: nothing is told as its end
        finally:
            self.ended = True
            self._wake()

    @property
    def is_over(self) -> bool:
        """Whether it has told all, up to the run's end."""
        return self.ended and not self.scope.cancel_called

    def number_of(self, mark: str) -> int | None:
        """The number of the event behind a place; None where it is not kept."""
        number = self._marks.get(mark)
        return number if number is not None and number >= self.first else None

    def has_words(self, number: int) -> bool:
        """Whether something that is not recorded comes next."""
        return number < self.next and not self._frames[number - self.first].mark

    async def reaches(self, seq: int) -> None:
        """Wait until it is at an entry, or has ended."""
        while self.seq < seq and not self.ended:
            await self._news.wait()

    async def frames(self, number: int) -> AsyncGenerator[Frame]:
        """The events from a number on, until it ends, or the next one is no longer kept."""
        while self.first <= number:
            if number < self.next:
                yield self._frames[number - self.first]
                number += 1
            elif self.ended:
                return
            else:
                await self._news.wait()

    async def _follow(self) -> None:
        encode = await self.form.shared(self._store, self.run_id, self.seq)
        async with follow(self.run_id, after=self._begin, store=self._store) as stream:
            async for item in stream:
                if isinstance(item, Entry):
                    self.seq = item.seq
                mark = self.form.mark(item, stream.position)
                if data := encode(item, stream.position):
                    self._add(Frame(data, mark))
                elif mark:
                    self._marks[mark] = self.next
                self._wake()

    def _add(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._bytes += len(frame.data)
        self.next += 1
        if frame.mark:
            self._marks[frame.mark] = self.next
        while len(self._frames) > MAX_FRAMES or (self._bytes > MAX_BYTES and len(self._frames) > 1):
            self._bytes -= len(self._frames.popleft().data)
        while self._marks and next(iter(self._marks.values())) < self.first:
            del self._marks[next(iter(self._marks))]

    def _wake(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()
